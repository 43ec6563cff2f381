// Gradients of what combines tensors element by element: with broadcasting, each is summed to its input's shape.
#include "vigil/core/gradients/families.h"

namespace vigil {
namespace {

Output Product(GradientCall& g, Output a, Output b) { return g.Op("Mul", {a, b}); }
Output Quotient(GradientCall& g, Output a, Output b) { return g.Op("RealDiv", {a, b}); }
Output Negative(GradientCall& g, Output a) { return g.Op("Neg", {a}); }

std::vector<Gradient> Both(GradientCall& g, Output for_x, Output for_y) {
  const auto [x, y] = g.SumToBoth(g.in(0), g.in(1), for_x, for_y);
  return Dense({x, y});
}

std::vector<Gradient> SumGradientOf(GradientCall& g) { return Both(g, g.grad(), g.grad()); }
std::vector<Gradient> SubGradient(GradientCall& g) { return Both(g, g.grad(), Negative(g, g.grad())); }
std::vector<Gradient> MulGradient(GradientCall& g) {
  const Output for_x = Product(g, g.grad(), g.in(1));
  return Both(g, for_x, Product(g, g.in(0), g.grad()));
}
std::vector<Gradient> RealDivGradient(GradientCall& g) {
  const Output x = g.in(0);
  const Output y = g.in(1);
  const Output for_x = Quotient(g, g.grad(), y);
  return Both(g, for_x, Product(g, g.grad(), Quotient(g, Quotient(g, Negative(g, x), y), y)));
}
std::vector<Gradient> DivNoNanGradient(GradientCall& g) {
  const Output x = g.in(0);
  const Output y = g.in(1);
  const auto divided = [&g](Output a, Output b) { return g.Op("DivNoNan", {a, b}); };
  const Output for_x = divided(g.grad(), y);
  return Both(g, for_x, Product(g, g.grad(), divided(divided(Negative(g, x), y), y)));
}
std::vector<Gradient> FloorModGradient(GradientCall& g) {
  const Output times = Negative(g, g.Op("FloorDiv", {g.in(0), g.in(1)}));
  return Both(g, g.grad(), Product(g, g.grad(), times));
}
std::vector<Gradient> SquaredDifferenceGradient(GradientCall& g) {
  const Output twice = Product(g, g.Number(g.type_of(g.in()), 2.0), g.grad());
  const Output for_x = Product(g, twice, g.Op("Sub", {g.in(0), g.in(1)}));
  return Both(g, for_x, Negative(g, for_x));
}

// Where x is not above zero its logarithm counts as zero.
std::vector<Gradient> PowGradient(GradientCall& g) {
  const Output x = g.in(0);
  const Output y = g.in(1);
  const Output less = g.Op("Pow", {x, g.Op("Sub", {y, g.Number(g.type_of(y), 1.0)})});
  const Output for_x = Product(g, Product(g, g.grad(), y), less);
  const Output zeros = g.Op("ZerosLike", {x});
  const Output above = g.Op("Greater", {x, zeros});
  const Output safe = g.Op("Select", {above, x, g.Op("OnesLike", {x})});
  const Output log = g.Op("Select", {above, g.Op("Log", {safe}), zeros});
  return Both(g, for_x, Product(g, Product(g, g.grad(), g.out()), log));
}

// The larger (smaller) one gets it all.
GradientFn ChosenGradient(std::string chooses_x) {
  return [chooses_x](GradientCall& g) {
    const Output zeros = g.Op("ZerosLike", {g.grad()});
    const Output mask = g.Op(chooses_x, {g.in(0), g.in(1)});
    const Output for_x = g.Op("Select", {mask, g.grad(), zeros});
    return Both(g, for_x, g.Op("Select", {mask, zeros, g.grad()}));
  };
}

std::vector<Gradient> SelectGradient(GradientCall& g) {
  const Output zeros = g.Op("ZerosLike", {g.in(1)});
  const Output yes = g.Op("Select", {g.in(0), g.grad(), zeros});
  return Dense({{}, yes, g.Op("Select", {g.in(0), zeros, g.grad()})});
}

// With broadcasting.
std::vector<Gradient> SelectV2Gradient(GradientCall& g) {
  const Output zeros = g.Op("ZerosLike", {g.grad()});
  const Output yes = g.Op("SelectV2", {g.in(0), g.grad(), zeros});
  const Output no = g.Op("SelectV2", {g.in(0), zeros, g.grad()});
  // Each against the whole: what is broadcast only by the condition counts, too.
  return Dense({{}, g.SumToBoth(g.in(1), g.out(), yes, {}).first, g.SumToBoth(g.in(2), g.out(), no, {}).first});
}

std::vector<Gradient> ClipByValueGradient(GradientCall& g) {
  const Output x = g.in(0);
  const Output low = g.in(1);
  const Output high = g.in(2);
  const Output zeros = g.Op("ZerosLike", {g.grad()});
  const Output below = g.Op("Less", {x, low});
  const Output above = g.Op("Greater", {x, high});
  const Output for_x = g.Op("Select", {g.Op("LogicalOr", {below, above}), zeros, g.grad()});
  const Output for_low = g.Op("Select", {below, g.grad(), zeros});
  const Output for_high = g.Op("Select", {above, g.grad(), zeros});
  return Dense({for_x, g.SumToBoth(x, low, {}, for_low).second, g.SumToBoth(x, high, {}, for_high).second});
}

std::vector<Gradient> AddNGradient(GradientCall& g) {
  return Dense(std::vector<Output>(static_cast<std::size_t>(g.num_inputs()), g.grad()));
}

}  // namespace

void RegisterBinaryGradients(GradientRegistry& registry) {
  registry.Register("AddV2", SumGradientOf);
  registry.Register("AddN", AddNGradient);
  registry.Register("Sub", SubGradient);
  registry.Register("Mul", MulGradient);
  registry.Register("RealDiv", RealDivGradient);
  registry.Register("DivNoNan", DivNoNanGradient);
  registry.Register("FloorDiv", [](GradientCall&) { return std::vector<Gradient>(2); });
  registry.Register("FloorMod", FloorModGradient);
  registry.Register("SquaredDifference", SquaredDifferenceGradient);
  registry.Register("Pow", PowGradient);
  registry.Register("Maximum", ChosenGradient("GreaterEqual"));
  registry.Register("Minimum", ChosenGradient("LessEqual"));
  registry.Register("Select", SelectGradient);
  registry.Register("SelectV2", SelectV2Gradient);
  registry.Register("ClipByValue", ClipByValueGradient);
}

}  // namespace vigil
