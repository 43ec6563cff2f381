#include "vigil/core/train/optimizers/clipping.h"

#include <utility>

#include "vigil/core/graph/scope.h"

namespace vigil {
namespace {

class ClipGraph {
 public:
  ClipGraph(Builder& b, const std::string& name) : b_(b), scope_(UniqueScope(b.graph(), name)) {}

  Output Op(std::string op, std::vector<Output> inputs, Attrs attrs = {}) const {
    std::string name = scope_ + "/" + op;
    return b_.Op(std::move(op), std::move(inputs), {.name = std::move(name), .attrs = std::move(attrs)});
  }
  DType TypeOf(Output output) const {
    return b_.status().ok() && b_.graph().Has(output) ? b_.graph().TypeOf(output) : DType::kFloat;
  }
  Output As(Output value, DType type) const {
    return TypeOf(value) == type ? value : Op("Cast", {value}, {{"DstT", type}});
  }
  Output Number(const HyperParameter& number, DType type) const { return As(number.In(b_, scope_ + "/Const"), type); }
  Output One(DType type) const { return Number(1, type); }
  // Over all axes.
  Output SumOf(Output value) const {
    const Output zero = b_.Const(scope_ + "/zero", Tensor::Scalar<std::int32_t>(0));
    const Output one = b_.Const(scope_ + "/one", Tensor::Scalar<std::int32_t>(1));
    return Op("Sum", {value, Op("Range", {zero, Op("Rank", {value}), one})});
  }

 private:
  Builder& b_;
  const std::string scope_;
};

template <typename Clip>
GradientsAndVariables ForEach(GradientsAndVariables pairs, Clip clip) {
  for (GradientAndVariable& pair : pairs) {
    if (pair.gradient.node != kNoNode) pair.gradient = clip(pair.gradient);
  }
  return pairs;
}

}  // namespace

Output ClipByValue(Builder& b, Output value, const HyperParameter& low, const HyperParameter& high,
                   const std::string& name) {
  const ClipGraph g(b, name);
  const DType type = g.TypeOf(value);
  return g.Op("Maximum", {g.Op("Minimum", {value, g.Number(high, type)}), g.Number(low, type)});
}

Output ClipByNorm(Builder& b, Output value, const HyperParameter& norm, const std::string& name) {
  const ClipGraph g(b, name);
  const Output most = g.Number(norm, g.TypeOf(value));
  const Output sum = g.SumOf(g.Op("Mul", {value, value}));
  // So that the gradient of the root is a number where all is zero.
  const Output some = g.Op("Greater", {sum, g.Op("ZerosLike", {sum})});
  const Output safe = g.Op("Select", {some, sum, g.Op("OnesLike", {sum})});
  const Output length = g.Op("Select", {some, g.Op("Sqrt", {safe}), sum});
  return g.Op("RealDiv", {g.Op("Mul", {value, most}), g.Op("Maximum", {length, most})});
}

Output GlobalNorm(Builder& b, const std::vector<Output>& values, const std::string& name) {
  const ClipGraph g(b, name);
  std::vector<Output> halves;
  for (const Output value : values) halves.push_back(g.Op("L2Loss", {value}));
  const Output sum = g.SumOf(g.Op("Pack", halves));
  return g.Op("Sqrt", {g.Op("Mul", {sum, g.Number(2, g.TypeOf(sum))})});
}

GradientsAndVariables ClipByValue(Builder& b, GradientsAndVariables pairs, const HyperParameter& low,
                                  const HyperParameter& high, const std::string& name) {
  return ForEach(std::move(pairs), [&](Output gradient) { return ClipByValue(b, gradient, low, high, name); });
}

GradientsAndVariables ClipByNorm(Builder& b, GradientsAndVariables pairs, const HyperParameter& norm,
                                 const std::string& name) {
  return ForEach(std::move(pairs), [&](Output gradient) { return ClipByNorm(b, gradient, norm, name); });
}

GradientsAndVariables ClipByGlobalNorm(Builder& b, GradientsAndVariables pairs, const HyperParameter& norm,
                                       const std::string& name) {
  std::vector<Output> gradients;
  for (const GradientAndVariable& pair : pairs) {
    if (pair.gradient.node != kNoNode) gradients.push_back(pair.gradient);
  }
  if (gradients.empty()) return pairs;
  const Output length = GlobalNorm(b, gradients, "global_norm");
  const ClipGraph g(b, name);
  const DType type = g.TypeOf(length);
  const Output most = g.Number(norm, type);
  const Output inverse =
      g.Op("Minimum", {g.Op("RealDiv", {g.One(type), length}), g.Op("RealDiv", {g.One(type), most})});
  const Output finite = g.Op("Mul", {most, inverse});
  const Output scale = g.Op("AddV2", {finite, g.Op("Sub", {length, length})});
  return ForEach(std::move(pairs), [&](Output gradient) {
    return g.Op("Mul", {gradient, g.As(scale, g.TypeOf(gradient))});
  });
}

}  // namespace vigil
