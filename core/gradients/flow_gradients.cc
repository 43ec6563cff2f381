// Gradients through branches (tf.cond). Nothing is looked for in the graph: a Merge says itself which of its inputs
// lives, and a Switch's own outputs say which side was not taken.
#include <utility>

#include "vigil/core/gradients/families.h"

namespace vigil {
namespace {

// The gradient goes back to the input that lived.
std::vector<Gradient> MergeGradient(GradientCall& g) {
  std::vector<Gradient> gradients(static_cast<std::size_t>(g.num_inputs()));
  const Output grad = g.grad();
  if (grad.node == kNoNode) return gradients;
  for (int i = 0; i < g.num_inputs(); ++i) {
    const Output lived = g.Op("Equal", {g.out(1), g.Int(i)});
    const Output sides = g.Op("Switch", {grad, lived});
    gradients[static_cast<std::size_t>(i)] = {.values = {sides.node, 1}};
  }
  return gradients;
}

// Zeros that live where output i does; of a handle, as its variable's value.
Output ZerosAt(GradientCall& g, int i, DType type) {
  Output value = g.out(i);
  if (g.type_of(value) == DType::kResource) value = g.Op("ReadVariableOp", {value}, {{"dtype", type}});
  return g.Op("ZerosLike", {value});
}

// Where a side was taken on which nothing depends on the input, its gradient is zero.
std::vector<Gradient> SwitchGradient(GradientCall& g) {
  std::vector<Output> sides = {g.grad(0), g.grad(1)};
  for (int i = 0; i < 2; ++i) {
    Output& side = sides[static_cast<std::size_t>(i)];
    const Output other = sides[static_cast<std::size_t>(1 - i)];
    if (side.node == kNoNode && other.node != kNoNode) side = ZerosAt(g, i, g.type_of(other));
  }
  return Dense({g.Op("Merge", std::move(sides)), {}});
}

}  // namespace

void RegisterFlowGradients(GradientRegistry& registry) {
  registry.Register("Merge", MergeGradient);
  registry.Register("Switch", SwitchGradient);
  registry.Register("RefSwitch", SwitchGradient);
}

}  // namespace vigil
