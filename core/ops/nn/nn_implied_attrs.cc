// The attributes of this folder's ops that follow from a node's inputs and outputs (core/ops/implied_attrs.cc says what
// for).
// Source: TensorFlow's op definitions (ops.pbtxt).
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/ops/nn/nn.h"

namespace vigil {
namespace {

ImpliedAttr InputType(std::string name, int i) { return {std::move(name), ImpliedAttr::Kind::kInputType, i}; }
ImpliedAttr InputCount(std::string name, int others) {
  return {std::move(name), ImpliedAttr::Kind::kInputCount, others};
}

// Ops with one attribute, the type of the first input.
constexpr const char* kByFirstInput[] = {"Exp",
                                         "Expm1",
                                         "Log",
                                         "Log1p",
                                         "Sqrt",
                                         "Rsqrt",
                                         "Reciprocal",
                                         "Inv",
                                         "Sin",
                                         "Cos",
                                         "Floor",
                                         "Ceil",
                                         "Sign",
                                         "IsFinite",
                                         "SqrtGrad",
                                         "RsqrtGrad",
                                         "ReciprocalGrad",
                                         "InvGrad",
                                         "Sigmoid",
                                         "SigmoidGrad",
                                         "Tanh",
                                         "TanhGrad",
                                         "Relu",
                                         "ReluGrad",
                                         "Relu6",
                                         "Relu6Grad",
                                         "Elu",
                                         "EluGrad",
                                         "Softplus",
                                         "SoftplusGrad",
                                         "Maximum",
                                         "Minimum",
                                         "SquaredDifference",
                                         "DivNoNan",
                                         "Pow",
                                         "FloorDiv",
                                         "FloorMod",
                                         "NotEqual",
                                         "ClipByValue",
                                         "L2Loss",
                                         "BiasAdd",
                                         "BiasAddGrad",
                                         "Softmax",
                                         "LogSoftmax",
                                         "SoftmaxCrossEntropyWithLogits",
                                         "Conv2D",
                                         "Conv2DBackpropFilter",
                                         "MaxPool",
                                         "MaxPoolGrad",
                                         "MaxPoolGradGrad",
                                         "AvgPool",
                                         "Size",
                                         "Rank",
                                         "ZerosLike",
                                         "OnesLike",
                                         "StopGradient",
                                         "BroadcastGradientArgs",
                                         "InvertPermutation",
                                         "Unpack",
                                         "Unique",
                                         nullptr};

}  // namespace

void RegisterNnImpliedAttrs(OpRegistry& registry) {
  const ImpliedAttr t = InputType("T", 0);
  for (const char* const* op = kByFirstInput; *op != nullptr; ++op) registry.Imply(*op, {t});
  for (const std::string_view op : {"Conv2DBackpropInput", "AvgPoolGrad"}) registry.Imply(op, {InputType("T", 1)});
  for (const std::string_view op : {"Max", "Min", "Prod"}) registry.Imply(op, {t, InputType("Tidx", 1)});
  for (const std::string_view op : {"All", "Any"}) registry.Imply(op, {InputType("Tidx", 1)});
  for (const std::string_view op : {"ArgMax", "ArgMin"}) registry.Imply(op, {t, InputType("Tidx", 1)});
  for (const std::string_view op : {"BroadcastTo", "ExpandDims"}) {
    registry.Imply(op, {t, InputType(op == "ExpandDims" ? "Tdim" : "Tidx", 1)});
  }
  registry.Imply("SparseSoftmaxCrossEntropyWithLogits", {t, InputType("Tlabels", 1)});
  registry.Imply("Transpose", {t, InputType("Tperm", 1)});
  registry.Imply("Tile", {t, InputType("Tmultiples", 1)});
  registry.Imply("Slice", {t, InputType("Index", 1)});
  registry.Imply("Pad", {t, InputType("Tpaddings", 1)});
  registry.Imply("OneHot", {InputType("T", 2), InputType("TI", 0)});
  registry.Imply("AddN", {InputCount("N", 0), t});
  registry.Imply("ConcatOffset", {InputCount("N", 1)});
  registry.Imply("DynamicStitch", {{"N", ImpliedAttr::Kind::kInputPairs, 0}, {"T", ImpliedAttr::Kind::kOutputType, 0}});
  registry.Imply("Gather", {InputType("Tparams", 0), InputType("Tindices", 1)});
  registry.Imply("UnsortedSegmentSum", {t, InputType("Tindices", 1), InputType("Tnumsegments", 2)});
  for (const std::string_view op : {"ScatterAdd", "ScatterSub", "ScatterUpdate"}) {
    registry.Imply(op, {t, InputType("Tindices", 1)});
  }
  for (const auto& [op, grad] : std::vector<std::pair<std::string, int>>{{"ApplyMomentum", 3},
                                                                         {"ApplyAdagrad", 3},
                                                                         {"ApplyRMSProp", 7},
                                                                         {"ApplyCenteredRMSProp", 8},
                                                                         {"ApplyAdam", 9},
                                                                         {"ApplyFtrl", 3},
                                                                         {"ApplyFtrlV2", 3}}) {
    registry.Imply(op, {t});
    registry.Imply("Resource" + op, {InputType("T", grad)});
    if (op == "ApplyAdam") continue;
    registry.Imply("Sparse" + op, {t, InputType("Tindices", grad + 1)});
    registry.Imply("ResourceSparse" + op, {InputType("T", grad), InputType("Tindices", grad + 1)});
  }
}

}  // namespace vigil
