// The attributes that TensorFlow's ops have and that follow from a node's inputs and outputs: what makes a GraphDef of
// ours readable to TensorFlow. Attributes that TensorFlow has a default for are left out where the default is right.
// Source: TensorFlow's op definitions (ops.pbtxt).
#include <map>
#include <string_view>
#include <vector>

#include "vigil/core/ops/registration.h"

namespace vigil {
namespace {

using From = ImpliedAttr::Kind;

ImpliedAttr TypeOfInput(std::string name, int i) { return {std::move(name), From::kInputType, i}; }
ImpliedAttr TypesOfInputs(std::string name, int from) { return {std::move(name), From::kInputTypes, from}; }
ImpliedAttr NumberOfInputs(std::string name, int others = 0) { return {std::move(name), From::kInputCount, others}; }

}  // namespace

void RegisterImpliedAttrs(OpRegistry& registry) {
  const ImpliedAttr t = TypeOfInput("T", 0);
  for (const std::string_view op :
       {"Identity",     "Assign", "AssignAdd", "AssignSub", "CountUpTo", "Squeeze",   "Shape",
        "AddV2",        "Sub",    "Mul",       "RealDiv",   "Less",      "LessEqual", "Greater",
        "GreaterEqual", "Equal",  "Neg",       "Abs",       "Square",    "MatMul",    "ApplyGradientDescent"}) {
    registry.Imply(op, {t});
  }
  for (const std::string_view op : {"Select", "SelectV2", "ScalarSummary", "HistogramSummary"})
    registry.Imply(op, {TypeOfInput("T", 1)});
  for (const std::string_view op : {"QueueEnqueueV2", "QueueEnqueueManyV2"}) {
    registry.Imply(op, {TypesOfInputs("Tcomponents", 1)});
  }
  for (const std::string_view op : {"Sum", "Mean"}) registry.Imply(op, {t, TypeOfInput("Tidx", 1)});
  for (const std::string_view op : {"AccumulatorApplyGradient", "ResourceAccumulatorApplyGradient"}) {
    registry.Imply(op, {TypeOfInput("dtype", 2)});
  }
  for (const std::string_view op : {"ConditionalAccumulator", "ResourceConditionalAccumulator"}) {
    registry.Imply(op, {{"shape", From::kUnknownShape}});
  }
  registry.Imply("Cast", {TypeOfInput("SrcT", 0)});
  registry.Imply("ConcatV2", {NumberOfInputs("N", 1), t});
  registry.Imply("Const", {{"dtype", From::kOutputType}});
  registry.Imply("Fill", {TypeOfInput("index_type", 0), TypeOfInput("T", 1)});
  registry.Imply("GatherV2", {TypeOfInput("Tparams", 0), TypeOfInput("Tindices", 1), TypeOfInput("Taxis", 2)});
  registry.Imply("IsVariableInitialized", {TypeOfInput("dtype", 0)});
  registry.Imply("IteratorGetNext", {{"output_shapes", From::kUnknownShapes}});
  registry.Imply("Merge", {NumberOfInputs("N"), t});
  for (const std::string_view op : {"Switch", "RefSwitch"}) registry.Imply(op, {t});
  registry.Imply("MergeSummary", {NumberOfInputs("N")});
  for (const std::string_view op : {"Pack", "ShapeN"}) registry.Imply(op, {NumberOfInputs("N"), t});
  registry.Imply("PlaceholderWithDefault", {TypeOfInput("dtype", 0), {"shape", From::kUnknownShape}});
  for (const std::string_view op : {"RandomUniform", "RandomStandardNormal", "TruncatedNormal"})
    registry.Imply(op, {t});
  registry.Imply("RandomShuffle", {t});
  registry.Imply("RandomUniformInt", {TypeOfInput("Tout", 1), t});
  registry.Imply("Range", {TypeOfInput("Tidx", 0)});
  registry.Imply("Reshape", {t, TypeOfInput("Tshape", 1)});
  for (const std::string_view op : {"AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp"}) {
    registry.Imply(op, {TypeOfInput("dtype", 1)});
  }
  registry.Imply("ResourceApplyGradientDescent", {TypeOfInput("T", 1)});
  registry.Imply("ResourceGather", {TypeOfInput("Tindices", 1)});
  for (const std::string_view op : {"ResourceScatterAdd", "ResourceScatterSub", "ResourceScatterUpdate"}) {
    registry.Imply(op, {TypeOfInput("Tindices", 1), TypeOfInput("dtype", 2)});
  }
  registry.Imply("VarHandleOp", {{"shape", From::kUnknownShape}});
  registry.Imply("SaveV2", {TypesOfInputs("dtypes", 3)});
  registry.Imply("VariableV2", {{"shape", From::kUnknownShape}});
}

}  // namespace vigil
