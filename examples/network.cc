#include "vigil/examples/network.h"

#include <cmath>
#include <vector>

#include "vigil/core/base/splitmix64.h"
#include "vigil/core/ops/ops.h"

namespace vigil::examples {
namespace {

using Numbers = std::vector<std::int64_t>;

// Different numbers around zero, smaller where more of them are added up.
Output Weights(Builder& b, const std::string& name, const Shape& shape, std::int64_t added) {
  Tensor initial(DType::kFloat, shape);
  SplitMix64 random(static_cast<std::uint64_t>(shape.num_elements()));
  const float scale = std::sqrt(6.0F / static_cast<float>(added));
  for (float& weight : initial.mutable_flat<float>()) {
    weight = scale * (static_cast<float>(random.Below(2001)) / 1000 - 1);
  }
  return ops::MakeVariable(b, name + "/weights", b.Const("initial", initial)).read;
}

Output Biases(Builder& b, const std::string& name, std::int64_t n) {
  return ops::MakeVariable(b, name + "/biases", b.Const("zeros", Tensor(DType::kFloat, Shape({n})))).read;
}

Output Mean(Builder& b, const std::string& name, Output x) {
  return b.Op("Mean", {x, b.Const("axis", Tensor::Vector<std::int32_t>({0}))}, {.name = name});
}

}  // namespace

Output Dense(Builder& b, const std::string& name, Output x, std::int64_t in, std::int64_t out) {
  const Output sums = b.Op("MatMul", {x, Weights(b, name, Shape({in, out}), in)});
  return b.Op("BiasAdd", {sums, Biases(b, name, out)});
}

Output ConvAndPool(Builder& b, const std::string& name, Output x, std::int64_t in, std::int64_t out) {
  const Attrs same{{"strides", Numbers{1, 1, 1, 1}}, {"padding", std::string("SAME")}};
  const Output sums = b.Op("Conv2D", {x, Weights(b, name, Shape({5, 5, in, out}), 25 * in)}, {.attrs = same});
  const Attrs halves{
      {"ksize", Numbers{1, 2, 2, 1}}, {"strides", Numbers{1, 2, 2, 1}}, {"padding", std::string("SAME")}};
  return b.Op("MaxPool", {b.Op("Relu", {b.Op("BiasAdd", {sums, Biases(b, name, out)})})}, {.attrs = halves});
}

Classifier MakeInputs(Builder& b) {
  return {.images = ops::Placeholder(b, "images", DType::kFloat),
          .labels = ops::Placeholder(b, "labels", DType::kInt32)};
}

void AddLossAndAccuracy(Builder& b, Output logits, Classifier* out) {
  out->loss = Mean(b, "loss", b.Op("SparseSoftmaxCrossEntropyWithLogits", {logits, out->labels}));
  const Output said = b.Op("ArgMax", {logits, b.Const("classes", Tensor::Scalar<std::int32_t>(1))});
  const Output wanted = b.Op("Cast", {out->labels}, {.attrs = {{"DstT", DType::kInt64}}});
  const Output right = b.Op("Cast", {b.Op("Equal", {said, wanted})}, {.attrs = {{"DstT", DType::kFloat}}});
  out->accuracy = Mean(b, "accuracy", right);
}

Output TwoLayers(Builder& b, Output images) {
  constexpr std::int64_t kPixels = kDigitSide * kDigitSide;
  const Output flat = b.Op("Reshape", {images, b.Const("flat", Tensor::Vector<std::int32_t>({-1, kPixels}))});
  return Dense(b, "out", b.Op("Relu", {Dense(b, "hidden", flat, kPixels, 128)}), 128, 10);
}

}  // namespace vigil::examples
