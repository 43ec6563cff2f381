// Shape functions of what stands for state, of what changes it, and of what brings values into a run.
//
// What a queue or an iterator gives stays unknown: no run holds what it was declared to give against what it gives.
#include <string>
#include <vector>

#include "vigil/core/ops/shapes/shape_fns.h"

namespace vigil::shapes {
namespace {

absl::Status DeclaredShape(InferenceContext& c) {
  c.set_output(0, DeclaredShape(c.node()));
  return absl::OkStatus();
}

absl::Status DefaultShape(InferenceContext& c) {
  const PartialShape declared = DeclaredShape(c.node());
  VIGIL_RETURN_IF_ERROR(Merge(c.input(0), declared).status());
  c.set_output(0, declared);
  return absl::OkStatus();
}

absl::Status AssignShape(InferenceContext& c) {
  if (c.attr_or<bool>("validate_shape", true)) return MergedInputs(c);
  c.set_output(0, c.input(1));
  return absl::OkStatus();
}

absl::Status CountUpToShape(InferenceContext& c) {
  VIGIL_RETURN_IF_ERROR(RequireRank(c, 0, 0));
  return ScalarShapes(c);
}

absl::Status HeldByHandle(InferenceContext& c) {
  c.set_output(0, c.HeldShape(0));
  return absl::OkStatus();
}

absl::Status AssignToHandle(InferenceContext& c) { return Merge(c.HeldShape(0), c.input(1)).status(); }

absl::Status VariableShapeShape(InferenceContext& c) {
  const PartialShape held = c.HeldShape(0);
  c.set_output(0, {held.has_rank() ? held.rank() : kUnknownDim});
  return absl::OkStatus();
}

// A pair of names: how TensorFlow's older ops hand on what they stand for.
absl::Status PairShape(InferenceContext& c) {
  c.set_output(0, {2});
  return absl::OkStatus();
}

// An op that changes a variable and its slots by a gradient.
struct Applied {
  const char* rule;
  int grad;  // the input; where the gradient is sparse, the numbers of its rows are behind it
  bool has_sparse = true;
  bool is_last_unchecked = false;  // of an input that TensorFlow does not look at
  bool is_compared = false;        // the gradient with variables behind handles, too
};

absl::StatusOr<PartialShape> WithGradient(InferenceContext& c, int grad, bool is_sparse, const PartialShape& variable) {
  PartialShape by = c.input(grad);
  if (is_sparse && by.has_rank()) {
    if (by.rank() == 0) return InvalidArgument("Argument grad must not be a scalar. Got grad with rank 0");
    VIGIL_RETURN_IF_ERROR(MergeDims(DimOf(c.input(grad + 1), 0), by.dim(0)).status());
    by.set_dim(0, kUnknownDim);
  }
  return Merge(variable, by);
}

// The first inputs are the variable and its slots; all others but the gradient are numbers.
absl::Status ApplyShape(InferenceContext& c, const Applied& rule, bool is_sparse, bool is_resource) {
  PartialShape all;
  int i = 0;
  for (; c.node().def->TakesReference(i); ++i) {
    VIGIL_ASSIGN_OR_RETURN(all, Merge(all, is_resource ? c.HeldShape(i) : c.input(i)));
  }
  for (const int n = c.num_inputs() - (rule.is_last_unchecked ? 1 : 0); i < n; ++i) {
    if (i != rule.grad) {
      VIGIL_RETURN_IF_ERROR(RequireRank(c, i, 0));
      continue;
    }
    if (is_sparse) VIGIL_RETURN_IF_ERROR(RequireRank(c, i + 1, 1));
    if (!is_resource || rule.is_compared) {
      VIGIL_ASSIGN_OR_RETURN(all, WithGradient(c, rule.grad, is_sparse, all));
    }
    i += is_sparse ? 1 : 0;
  }
  if (c.num_outputs() > 0) c.set_output(0, std::move(all));
  return absl::OkStatus();
}

void RegisterApplyShapes(OpRegistry& registry) {
  static constexpr Applied kRules[] = {{.rule = "GradientDescent", .grad = 2, .has_sparse = false, .is_compared = true},
                                       {.rule = "Momentum", .grad = 3},
                                       {.rule = "Adagrad", .grad = 3},
                                       {.rule = "RMSProp", .grad = 7},
                                       {.rule = "CenteredRMSProp", .grad = 8},
                                       {.rule = "Adam", .grad = 9, .has_sparse = false},
                                       {.rule = "Ftrl", .grad = 3},
                                       {.rule = "FtrlV2", .grad = 3, .is_last_unchecked = true}};
  for (const Applied& rule : kRules) {
    for (const bool is_resource : {false, true}) {
      for (const bool is_sparse : {false, true}) {
        if (is_sparse && !rule.has_sparse) continue;
        registry.Infer(fmt::format("{}{}Apply{}", is_resource ? "Resource" : "", is_sparse ? "Sparse" : "", rule.rule),
                       [&rule, is_sparse, is_resource](InferenceContext& c) {
                         return ApplyShape(c, rule, is_sparse, is_resource);
                       });
      }
    }
  }
}

}  // namespace

void RegisterStateShapes(OpRegistry& registry) {
  Register(registry, {{"Placeholder", DeclaredShape},
                      {"PlaceholderWithDefault", DefaultShape},
                      {"VariableV2", DeclaredShape},
                      {"Assign", AssignShape},
                      {"AssignAdd", MergedInputs},
                      {"AssignSub", MergedInputs},
                      {"CountUpTo", CountUpToShape},
                      {"ReadVariableOp", HeldByHandle},
                      {"AssignVariableOp", AssignToHandle},
                      {"AssignAddVariableOp", AssignToHandle},
                      {"AssignSubVariableOp", AssignToHandle},
                      {"VariableShape", VariableShapeShape},
                      {"ConditionalAccumulator", PairShape},
                      {"ResourceConditionalAccumulator", PairShape}});
  for (const std::string_view op : {"IsVariableInitialized",
                                    "VarHandleOp",
                                    "VarIsInitializedOp",
                                    "FIFOQueueV2",
                                    "RandomShuffleQueueV2",
                                    "QueueSizeV2",
                                    "IteratorV2",
                                    "OneShotIterator",
                                    "IteratorToStringHandle",
                                    "AccumulatorNumAccumulated",
                                    "ResourceAccumulatorNumAccumulated",
                                    "ScalarSummary",
                                    "HistogramSummary",
                                    "MergeSummary",
                                    "ShardedFilename",
                                    "RangeDataset",
                                    "TensorSliceDataset",
                                    "TensorDataset",
                                    "RepeatDataset",
                                    "TakeDataset",
                                    "SkipDataset",
                                    "BatchDatasetV2",
                                    "ShuffleDataset",
                                    "PrefetchDataset",
                                    "TFRecordDataset"}) {
    registry.Infer(op, ScalarShapes);
  }
  registry.Infer("StaticRegexFullMatch", Unchanged);
  RegisterApplyShapes(registry);
}

}  // namespace vigil::shapes
