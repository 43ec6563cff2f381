// Gradients of functions of one number, as math_grad.py and nn_grad.py have them.
#include "vigil/core/gradients/families.h"

namespace vigil {
namespace {

using Call = GradientCall;
using Result = std::vector<Gradient>;

Output Times(Call& g, Output a, Output b) { return g.Op("Mul", {a, b}); }
Output Scaled(Call& g, double factor, Output a) { return Times(g, g.Number(g.type_of(a), factor), a); }

// y = f(x), dx = "FGrad"(y, dy).
GradientFn ByOutput(std::string op) {
  return [op](Call& g) { return Dense({g.Op(op, {g.out(), g.grad()})}); };
}
// dx = "FGrad"(dy, y).
GradientFn ByGradAndOutput(std::string op) {
  return [op](Call& g) { return Dense({g.Op(op, {g.grad(), g.out()})}); };
}

// Of y = sqrt(x): dx = dy / (2 y), and so on for the gradients' own gradients.
Result SqrtGradGradient(Call& g) {
  const Output ga = g.Op("RealDiv", {g.grad(), g.in(0)});
  return Dense({g.Op("Neg", {Times(g, ga, g.out())}), Scaled(g, 0.5, ga)});
}
Result RsqrtGradGradient(Call& g) {
  const Output grad = g.grad();
  const Output factor = Times(g, Scaled(g, -1.5, grad), g.in(1));
  return Dense({Times(g, factor, g.Op("Square", {g.in(0)})), g.Op("RsqrtGrad", {g.in(0), grad})});
}
GradientFn InverseGradGradient(std::string op) {
  return [op](Call& g) {
    const Output grad = g.grad();
    return Dense({Times(g, Times(g, Scaled(g, -2.0, grad), g.in(1)), g.in(0)), g.Op(op, {g.in(0), grad})});
  };
}
Result SigmoidGradGradient(Call& g) {
  const Output gb = Times(g, g.grad(), g.in(1));
  const Output twice = Times(g, Scaled(g, 2.0, gb), g.in(0));
  return Dense({g.Op("Sub", {gb, twice}), g.Op("SigmoidGrad", {g.in(0), g.grad()})});
}
Result TanhGradGradient(Call& g) {
  const Output first = Times(g, Times(g, Scaled(g, -2.0, g.grad()), g.in(1)), g.in(0));
  return Dense({first, g.Op("TanhGrad", {g.in(0), g.grad()})});
}
GradientFn ReluGradGradient(std::string op) {
  return [op](Call& g) { return Dense({g.Op(op, {g.grad(), g.in(1)}), g.Op("ZerosLike", {g.in(1)})}); };
}
Result EluGradGradient(Call& g) {
  const Output zeros = g.Op("ZerosLike", {g.in(1)});
  const Output below = g.Op("Less", {g.in(1), zeros});
  return Dense({g.Op("EluGrad", {g.grad(), g.in(1)}), g.Op("Select", {below, Times(g, g.grad(), g.in(0)), zeros})});
}
Result SoftplusGradGradient(Call& g) {
  const Output x = g.in(1);
  const Output both = g.Op("AddV2", {g.Op("Exp", {g.Op("Neg", {x})}), g.Op("Exp", {x})});
  const Output below = g.Op("AddV2", {both, g.Number(g.type_of(x), 2.0)});
  const Output second = g.Op("RealDiv", {Times(g, g.grad(), g.in(0)), below});
  return Dense({g.Op("SoftplusGrad", {g.grad(), x}), second});
}

Result CastGradient(Call& g) {
  const DType from = g.type_of(g.in());
  const DType to = g.type_of(g.out());
  const auto floating = [](DType type) { return type == DType::kFloat || type == DType::kDouble; };
  if (!floating(from) || !floating(to)) return {Gradient()};
  return Dense({g.Cast(g.grad(), from)});
}

void RegisterGradientsOfGradients(GradientRegistry& registry) {
  registry.Register("SqrtGrad", SqrtGradGradient);
  registry.Register("RsqrtGrad", RsqrtGradGradient);
  registry.Register("ReciprocalGrad", InverseGradGradient("ReciprocalGrad"));
  registry.Register("InvGrad", InverseGradGradient("InvGrad"));
  registry.Register("SigmoidGrad", SigmoidGradGradient);
  registry.Register("TanhGrad", TanhGradGradient);
  registry.Register("ReluGrad", ReluGradGradient("ReluGrad"));
  registry.Register("Relu6Grad", ReluGradGradient("Relu6Grad"));
  registry.Register("EluGrad", EluGradGradient);
  registry.Register("SoftplusGrad", SoftplusGradGradient);
}

}  // namespace

void RegisterUnaryGradients(GradientRegistry& registry) {
  const auto pass = [](Call& g) { return Result{g.raw_grad()}; };  // IndexedSlices stay what they are
  registry.Register("Identity", pass);
  registry.Register("ReadVariableOp", pass);  // the handle's is the variable's
  registry.Register("PlaceholderWithDefault", pass);
  registry.Register("Cast", CastGradient);
  registry.Register("Neg", [](Call& g) { return Dense({g.Op("Neg", {g.grad()})}); });
  registry.Register("Abs", [](Call& g) { return Dense({Times(g, g.grad(), g.Op("Sign", {g.in()}))}); });
  registry.Register("Sign", [](Call& g) { return Dense({g.Op("ZerosLike", {g.in()})}); });
  registry.Register("Square", [](Call& g) { return Dense({Times(g, g.grad(), Scaled(g, 2.0, g.in()))}); });
  registry.Register("Exp", [](Call& g) { return Dense({Times(g, g.grad(), g.out())}); });
  registry.Register("Expm1", [](Call& g) { return Dense({Times(g, g.grad(), g.Op("Exp", {g.in()}))}); });
  registry.Register("Log", [](Call& g) { return Dense({Times(g, g.grad(), g.Op("Reciprocal", {g.in()}))}); });
  registry.Register("Log1p", [](Call& g) {
    const Output more = g.Op("AddV2", {g.in(), g.Number(g.type_of(g.in()), 1.0)});
    return Dense({Times(g, g.grad(), g.Op("Reciprocal", {more}))});
  });
  registry.Register("Sin", [](Call& g) { return Dense({Times(g, g.grad(), g.Op("Cos", {g.in()}))}); });
  registry.Register("Cos", [](Call& g) { return Dense({g.Op("Neg", {Times(g, g.grad(), g.Op("Sin", {g.in()}))})}); });
  registry.Register("Sqrt", ByOutput("SqrtGrad"));
  registry.Register("Rsqrt", ByOutput("RsqrtGrad"));
  registry.Register("Reciprocal", ByOutput("ReciprocalGrad"));
  registry.Register("Inv", ByOutput("InvGrad"));
  registry.Register("Sigmoid", ByOutput("SigmoidGrad"));
  registry.Register("Tanh", ByOutput("TanhGrad"));
  registry.Register("Relu", ByGradAndOutput("ReluGrad"));
  registry.Register("Relu6", ByGradAndOutput("Relu6Grad"));
  registry.Register("Elu", ByGradAndOutput("EluGrad"));
  registry.Register("Softplus", [](Call& g) { return Dense({g.Op("SoftplusGrad", {g.grad(), g.in()})}); });
  RegisterGradientsOfGradients(registry);
}

}  // namespace vigil
