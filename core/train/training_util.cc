#include "vigil/core/train/training_util.h"

#include <fmt/format.h>

#include <cmath>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/ops/ops.h"

namespace vigil {
namespace {

absl::Status CheckGlobalStep(const Graph& graph, Output step) {
  const DType type = graph.node(step.node).output_types[static_cast<std::size_t>(step.index)];
  if (type != DType::kInt64 && type != DType::kInt32) {
    return UsageError(fmt::format("Existing \"global_step\" does not have integer type: {}", DTypeName(type)));
  }
  return absl::OkStatus();
}

}  // namespace

Output ReadOfVariable(const Graph& graph, Output variable) {
  for (const ops::Variable& known : graph.Collection(ops::kVariables)) {
    if (known.ref == variable) return known.read;
  }
  return variable;
}

std::string NameOfStep(const Graph& graph, Output step) {
  for (const ops::Variable& known : graph.Collection(ops::kVariables)) {
    if (known.read == step && ops::IsResourceVariable(graph, known.ref)) return graph.node(known.ref.node).name;
  }
  return graph.node(step.node).name;
}

absl::StatusOr<std::optional<Output>> GetGlobalStep(const Env& env, const Graph& graph) {
  const std::vector<Output>& items = graph.Collection(kGlobalStep);
  if (items.size() > 1) {
    env.log->Write(Severity::kError, "Multiple tensors in global_step collection.");
    return std::optional<Output>();
  }
  std::optional<Output> step = items.empty() ? graph.FindOutput("global_step:0") : items.front();
  // A handle has no value: what is asked for is the step.
  if (step.has_value() && ops::IsResourceVariable(graph, *step)) step = ReadOfVariable(graph, *step);
  if (step.has_value()) VIGIL_RETURN_IF_ERROR(CheckGlobalStep(graph, *step));
  return step;
}

absl::StatusOr<Output> CreateGlobalStep(const Env& env, Builder& builder) {
  VIGIL_ASSIGN_OR_RETURN(const std::optional<Output> existing, GetGlobalStep(env, builder.graph()));
  if (existing.has_value()) return UsageError("\"global_step\" already exists.");
  const Output zero = builder.Const("global_step/Initializer/zeros", Tensor::Scalar<std::int64_t>(0));
  const ops::Variable variable = ops::MakeVariable(builder, "global_step", zero);
  VIGIL_RETURN_IF_ERROR(builder.status());
  builder.graph().AddToCollection(kGlobalStep, variable.ref);
  return variable.ref;
}

absl::StatusOr<Output> GetOrCreateGlobalStep(const Env& env, Builder& builder) {
  VIGIL_ASSIGN_OR_RETURN(const std::optional<Output> existing, GetGlobalStep(env, builder.graph()));
  if (existing.has_value()) return *existing;
  return CreateGlobalStep(env, builder);
}

absl::StatusOr<std::optional<Output>> GetOrCreateGlobalStepRead(const Env& env, Builder& builder) {
  const std::vector<Output>& items = builder.graph().Collection(kGlobalStepRead);
  if (items.size() > 1) {
    return UsageError("There are multiple items in collection global_step_read_op_cache. There should be only one.");
  }
  if (!items.empty()) return std::optional<Output>(items.front());
  VIGIL_ASSIGN_OR_RETURN(const std::optional<Output> step, GetGlobalStep(env, builder.graph()));
  if (!step.has_value()) return step;
  const Output read = ops::Identity(builder, "global_step/read", ReadOfVariable(builder.graph(), *step));
  VIGIL_RETURN_IF_ERROR(builder.status());
  builder.graph().AddToCollection(kGlobalStepRead, read);
  return std::optional<Output>(read);
}

absl::StatusOr<std::int64_t> GlobalStepValue(const Tensor& fetched) {
  double number = 0;
  if (!fetched.AsNumber(&number)) return UsageError("The global step is not a number: " + fetched.Describe());
  if (fetched.dtype() == DType::kInt64) return fetched.scalar<std::int64_t>();
  constexpr double kEnd = 9223372036854775808.0;  // 2^63
  if (!(number >= -kEnd && number < kEnd)) return UsageError(fmt::format("The global step is no step: {}", number));
  return static_cast<std::int64_t>(number);
}

absl::StatusOr<std::int64_t> ReadGlobalStep(Session& session, Output global_step) {
  VIGIL_ASSIGN_OR_RETURN(const Tensor value, RunFetch(session, global_step));
  return GlobalStepValue(value);
}

}  // namespace vigil
