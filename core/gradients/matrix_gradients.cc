// Gradients of MatMul and of the reductions.
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

}  // namespace

void RegisterMatrixGradients(GradientRegistry& registry) {
  registry.Register("MatMul", MatMulGradient);
  registry.Register("Sum", SumGradient);
  registry.Register("Mean", MeanGradient);
  registry.Register("Max", ExtremeGradient);
  registry.Register("Min", ExtremeGradient);
  registry.Register("L2Loss", [](GradientCall& g) { return Dense({g.Op("Mul", {g.in(), g.grad()})}); });
}

}  // namespace vigil
