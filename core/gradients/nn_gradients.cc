// Gradients of the ops that only neural networks have: biases, softmax and its losses, convolution, pooling.
#include "vigil/core/gradients/families.h"

namespace vigil {
namespace {

std::vector<Gradient> BiasAddGradient(GradientCall& g) {
  return Dense({g.grad(), g.Op("BiasAddGrad", {g.grad()}, g.attrs())});
}

// Every element of a channel has the channel's gradient.
std::vector<Gradient> BiasAddGradGradient(GradientCall& g) {
  const Output shape = g.ShapeOf(g.in());
  if (g.attr_or<std::string>("data_format", "NHWC") != "NCHW") return Dense({g.Op("BroadcastTo", {g.grad(), shape})});
  const Output after = g.Op("Maximum", {g.Op("Sub", {g.Op("Rank", {g.in()}), g.Int(2)}), g.Int(0)});
  const Output ones = g.Op("Fill", {g.Op("Reshape", {after, g.Ints({1})}), g.Int(1)});
  const Output column = g.Op("ConcatV2", {g.ShapeOf(g.grad()), ones, g.Int(0)});
  return Dense({g.Op("BroadcastTo", {g.Op("Reshape", {g.grad(), column}), shape})});
}

std::vector<Gradient> MaxPoolGradGradient(GradientCall& g) {
  const Output second = g.Op("MaxPoolGradGrad", {g.in(0), g.in(1), g.grad()}, g.attrs());
  return Dense({g.Op("ZerosLike", {g.in(0)}), g.Op("ZerosLike", {g.in(1)}), second});
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

std::vector<Gradient> ConvGradient(GradientCall& g) {
  const Output input = g.Op("Conv2DBackpropInput", {g.ShapeOf(g.in(0)), g.in(1), g.grad()}, g.attrs());
  return Dense({input, g.Op("Conv2DBackpropFilter", {g.in(0), g.ShapeOf(g.in(1)), g.grad()}, g.attrs())});
}

std::vector<Gradient> ConvInputGradient(GradientCall& g) {
  const Output filter = g.Op("Conv2DBackpropFilter", {g.grad(), g.ShapeOf(g.in(1)), g.in(2)}, g.attrs());
  return Dense({{}, filter, g.Op("Conv2D", {g.grad(), g.in(1)}, g.attrs())});
}

std::vector<Gradient> ConvFilterGradient(GradientCall& g) {
  const Output input = g.Op("Conv2DBackpropInput", {g.ShapeOf(g.in(0)), g.grad(), g.in(2)}, g.attrs());
  return Dense({input, {}, g.Op("Conv2D", {g.in(0), g.grad()}, g.attrs())});
}

}  // namespace

void RegisterNnGradients(GradientRegistry& registry) {
  registry.Register("BiasAdd", BiasAddGradient);
  registry.Register("BiasAddGrad", BiasAddGradGradient);
  registry.Register("MaxPoolGrad", MaxPoolGradGradient);
  registry.Register("MaxPoolGradGrad", [](GradientCall& g) {
    const Output back = g.Op("MaxPoolGrad", {g.in(0), g.in(1), g.grad()}, g.attrs());
    return Dense({g.Op("ZerosLike", {g.in(0)}), g.Op("ZerosLike", {g.in(1)}), back});
  });
  registry.Register("Softmax", SoftmaxGradient);
  registry.Register("LogSoftmax", LogSoftmaxGradient);
  registry.Register("SoftmaxCrossEntropyWithLogits", CrossEntropyGradient);
  registry.Register("SparseSoftmaxCrossEntropyWithLogits", SparseCrossEntropyGradient);
  registry.Register("Conv2D", ConvGradient);
  registry.Register("Conv2DBackpropInput", ConvInputGradient);
  registry.Register("Conv2DBackpropFilter", ConvFilterGradient);
  registry.Register("MaxPool", [](GradientCall& g) {
    return Dense({g.Op("MaxPoolGrad", {g.in(), g.out(), g.grad()}, g.attrs())});
  });
  registry.Register("AvgPool", [](GradientCall& g) {
    return Dense({g.Op("AvgPoolGrad", {g.ShapeOf(g.in()), g.grad()}, g.attrs())});
  });
  registry.Register("AvgPoolGrad", [](GradientCall& g) { return Dense({{}, g.Op("AvgPool", {g.grad()}, g.attrs())}); });
}

}  // namespace vigil
