// Gradients of MatMul, of the reductions and of running sums and products.
#include "vigil/core/gradients/families.h"

namespace vigil {
namespace {

Output Multiplied(GradientCall& g, Output a, bool transpose_a, Output b, bool transpose_b) {
  return g.Op("MatMul", {a, b}, {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}

std::vector<Gradient> MatMulGradient(GradientCall& g) {
  const bool ta = g.attr_or<bool>("transpose_a", false);
  const bool tb = g.attr_or<bool>("transpose_b", false);
  const Output grad = g.grad();
  const Output a = ta ? Multiplied(g, g.in(1), tb, grad, true) : Multiplied(g, grad, false, g.in(1), !tb);
  const Output b = tb ? Multiplied(g, grad, true, g.in(0), ta) : Multiplied(g, g.in(0), !ta, grad, false);
  return Dense({a, b});
}

// What is not reduced has the gradient of its sum.
Output SpreadOut(GradientCall& g, Output shape) {
  return g.Op("BroadcastTo", {g.Op("Reshape", {g.grad(), g.ReducedShape(shape, g.in(1))}), shape});
}

std::vector<Gradient> SumGradient(GradientCall& g) { return Dense({SpreadOut(g, g.ShapeOf(g.in())), {}}); }

std::vector<Gradient> MeanGradient(GradientCall& g) {
  const Output shape = g.ShapeOf(g.in());
  const Output sum = SpreadOut(g, shape);
  const auto product = [&g](Output of) { return g.Op("Prod", {of, g.Ints({0})}); };
  const Output taken = product(shape);
  const Output left = g.Op("Maximum", {product(g.ShapeOf(g.out())), g.Int(1)});
  const Output count = g.Cast(g.Op("FloorDiv", {taken, left}), g.type_of(g.in()));
  return Dense({g.Op("RealDiv", {sum, count}), {}});
}

// Elements that are equally large share the gradient.
std::vector<Gradient> ExtremeGradient(GradientCall& g) {
  const Output kept = g.ReducedShape(g.ShapeOf(g.in()), g.in(1));
  const Output y = g.Op("Reshape", {g.out(), kept});
  const Output grad = g.Op("Reshape", {g.grad(), kept});
  const Output chosen = g.Cast(g.Op("Equal", {y, g.in()}), g.type_of(g.in()));
  const Output count = g.Op("Reshape", {g.Sum(chosen, g.in(1)), kept});
  return Dense({g.Op("Mul", {g.Op("RealDiv", {chosen, count}), grad}), {}});
}

// Of each element: the product of all others. They are brought into the rows of a matrix, where what is before and what
// is after an element is a running product; then a zero among them does no harm.
std::vector<Gradient> ProdGradient(GradientCall& g) {
  const Output shape = g.ShapeOf(g.in());
  const Output rank = g.Op("Rank", {g.in()});
  const Output given = g.Cast(g.Op("Reshape", {g.in(1), g.Ints({-1})}), DType::kInt32);
  const Output reduced = g.Op("FloorMod", {g.Op("AddV2", {given, rank}), rank});
  const Output all = g.Op("Range", {g.Int(0), rank, g.Int(1)});
  const Output others = g.Op("ListDiff", {all, reduced}, {{"out_idx", DType::kInt32}});
  const Output order = g.Op("ConcatV2", {reduced, others, g.Int(0)});
  const auto count = [&](Output axes) {
    return g.Op("Prod", {g.Op("GatherV2", {shape, axes, g.Int(0)}), g.Ints({0})}, {{"keep_dims", true}});
  };
  const Output ordered = g.Op("Transpose", {g.in(), order});
  const Output matrix = g.Op("Reshape", {ordered, g.Op("ConcatV2", {count(reduced), count(others), g.Int(0)})});
  const auto products = [&](bool reverse) {
    return g.Op("Cumprod", {matrix, g.Int(0)}, {{"exclusive", true}, {"reverse", reverse}});
  };
  const Output of_others = g.Op("Reshape", {g.Op("Mul", {products(false), products(true)}), g.ShapeOf(ordered)});
  const Output in_place = g.Op("Transpose", {of_others, g.Op("InvertPermutation", {order})});
  return Dense({g.Op("Mul", {SpreadOut(g, shape), in_place}), {}});
}

Output Scanned(GradientCall& g, const char* op, Output value, bool reverse) {
  return g.Op(op, {value, g.in(1)}, {{"exclusive", g.attr_or<bool>("exclusive", false)}, {"reverse", reverse}});
}

std::vector<Gradient> CumsumGradient(GradientCall& g) {
  return Dense({Scanned(g, "Cumsum", g.grad(), !g.attr_or<bool>("reverse", false)), {}});
}

// As TensorFlow's: nothing where an element is zero.
std::vector<Gradient> CumprodGradient(GradientCall& g) {
  const Output weighted = g.Op("Mul", {g.out(), g.grad()});
  const Output sums = Scanned(g, "Cumsum", weighted, !g.attr_or<bool>("reverse", false));
  return Dense({g.Op("DivNoNan", {sums, g.in()}), {}});
}

}  // namespace

void RegisterMatrixGradients(GradientRegistry& registry) {
  registry.Register("MatMul", MatMulGradient);
  registry.Register("Sum", SumGradient);
  registry.Register("Mean", MeanGradient);
  registry.Register("Prod", ProdGradient);
  registry.Register("Cumsum", CumsumGradient);
  registry.Register("Cumprod", CumprodGradient);
  registry.Register("Max", ExtremeGradient);
  registry.Register("Min", ExtremeGradient);
  registry.Register("L2Loss", [](GradientCall& g) { return Dense({g.Op("Mul", {g.in(), g.grad()})}); });
}

}  // namespace vigil
