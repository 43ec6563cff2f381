// Gradients of the ops that only neural networks have: biases, softmax and its losses, convolution, pooling.
#include "vigil/core/gradients/families.h"

namespace vigil {
namespace {

std::vector<Gradient> BiasAddGradient(GradientCall& g) {
  return Dense({g.grad(), g.Op("BiasAddGrad", {g.grad()}, g.attrs())});
}

Output LastAxis(GradientCall& g) { return g.Ints({-1}); }

// (grad - sum(grad * y)) * y.
std::vector<Gradient> SoftmaxGradient(GradientCall& g) {
  const Output sum = g.Sum(g.Op("Mul", {g.grad(), g.out()}), LastAxis(g), true);
  return Dense({g.Op("Mul", {g.Op("Sub", {g.grad(), sum}), g.out()})});
}

std::vector<Gradient> LogSoftmaxGradient(GradientCall& g) {
  const Output softmax = g.Op("Exp", {g.out()});
  const Output sum = g.Sum(g.grad(), LastAxis(g), true);
  return Dense({g.Op("Sub", {g.grad(), g.Op("Mul", {sum, softmax})})});
}

// A loss for each row, times what belongs to the row.
Output RowsTimes(GradientCall& g, Output rows, Output matrix) {
  return g.Op("Mul", {g.Op("ExpandDims", {rows, g.Int(-1)}), matrix});
}

// Both losses: output 1 is the gradient of output 0 already; who differentiates twice has a gradient for it as well.
Output LogitsGradient(GradientCall& g) {
  Output grad;
  if (const Output of_loss = g.grad(0); of_loss.node != kNoNode) grad = RowsTimes(g, of_loss, g.out(1));
  if (const Output of_grad = g.grad(1); of_grad.node != kNoNode) {
    const Output softmax = g.Op("Softmax", {g.in(0)});
    const Output sum = g.Sum(g.Op("Mul", {of_grad, softmax}), LastAxis(g), true);
    const Output second = g.Op("Mul", {g.Op("Sub", {of_grad, sum}), softmax});
    grad = grad.node == kNoNode ? second : g.Op("AddV2", {grad, second});
  }
  return grad;
}

std::vector<Gradient> CrossEntropyGradient(GradientCall& g) {
  const Output logits = LogitsGradient(g);
  if (g.grad(0).node == kNoNode) return Dense({logits, {}});
  const Output log = g.Op("Neg", {g.Op("LogSoftmax", {g.in(0)})});
  return Dense({logits, RowsTimes(g, g.grad(0), log)});
}

std::vector<Gradient> SparseCrossEntropyGradient(GradientCall& g) { return Dense({LogitsGradient(g), {}}); }

}  // namespace

void RegisterNnGradients(GradientRegistry& registry) {
  registry.Register("BiasAdd", BiasAddGradient);
  registry.Register("Softmax", SoftmaxGradient);
  registry.Register("LogSoftmax", LogSoftmaxGradient);
  registry.Register("SoftmaxCrossEntropyWithLogits", CrossEntropyGradient);
  registry.Register("SparseSoftmaxCrossEntropyWithLogits", SparseCrossEntropyGradient);
}

}  // namespace vigil
