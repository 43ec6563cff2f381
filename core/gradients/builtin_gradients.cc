#include "vigil/core/gradients/families.h"
#include "vigil/core/gradients/gradient.h"

namespace vigil {

void RegisterNotDifferentiable(GradientRegistry& registry) {
  for (const char* const op : {"All",
                               "Any",
                               "ArgMax",
                               "ArgMin",
                               "Assign",
                               "AssignAdd",
                               "AssignSub",
                               "Ceil",
                               "ConcatOffset",
                               "Const",
                               "CountUpTo",
                               "Equal",
                               "Floor",
                               "Greater",
                               "GreaterEqual",
                               "IsFinite",
                               "IteratorGetNext",
                               "Less",
                               "LessEqual",
                               "ListDiff",
                               "LogicalAnd",
                               "LogicalNot",
                               "LogicalOr",
                               "NotEqual",
                               "OneHot",
                               "OnesLike",
                               "ParseSingleExample",
                               "ParseExampleV2",
                               "ParseExample",
                               "DecodeCSV",
                               "QueueDequeueV2",
                               "Range",
                               "Rank",
                               "ScatterAdd",
                               "ScatterSub",
                               "ScatterUpdate",
                               "Shape",
                               "ShapeN",
                               "Size",
                               "StopGradient",
                               "Unique",
                               "Where",
                               "ZerosLike",
                               "BroadcastGradientArgs",
                               "InvertPermutation",
                               "IsVariableInitialized"}) {
    registry.NotDifferentiable(op);
  }
}

const GradientRegistry& BuiltinGradients() {
  static const GradientRegistry* const kGradients = [] {
    auto* const registry = new GradientRegistry;  // never destroyed: as BuiltinOps()
    RegisterArrayGradients(*registry);
    RegisterBinaryGradients(*registry);
    RegisterFlowGradients(*registry);
    RegisterMatrixGradients(*registry);
    RegisterNnGradients(*registry);
    RegisterNotDifferentiable(*registry);
    RegisterRowGradients(*registry);
    RegisterUnaryGradients(*registry);
    return registry;
  }();
  return *kGradients;
}

}  // namespace vigil
