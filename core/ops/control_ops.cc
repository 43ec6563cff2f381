// Ops that bring values into a run or pass them on.
#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/registration.h"

namespace vigil {
namespace {

absl::StatusOr<std::vector<DType>> ConstTypes(const Node& node, const std::vector<DType>&) {
  VIGIL_RETURN_IF_ERROR(RequireAttr<Tensor>(node, "value"));
  const DType type = std::get<Tensor>(node.attrs.find("value")->second).dtype();
  if (type == DType::kInvalid || type == DType::kResource) {
    return UsageError(
        fmt::format("The 'value' of a '{}' Op must be a tensor with values, not {}.", node.op, DTypeName(type)));
  }
  return std::vector<DType>{type};
}

const Tensor& ConstValue(const Node& node) { return std::get<Tensor>(node.attrs.find("value")->second); }

absl::Status PassOn(KernelContext& c) {
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

absl::Status NotFed(KernelContext& c) {
  return InvalidArgument("You must feed a value for placeholder tensor '{}' with dtype {}", c.node().name,
                         DTypeName(c.attr<DType>("dtype")));
}

// Which of two ways the value goes. What is not taken is dead, as is whatever needs it, up to a Merge: the executor
// sees to that.
absl::Status Switch(KernelContext& c) {
  const Tensor& predicate = c.input(1);
  if (predicate.shape().rank() != 0) {
    return InvalidArgument("The second input must be a scalar, but it has shape {}", predicate.shape().ToString());
  }
  if (!c.node().TakesReference(0)) c.set_output(predicate.scalar<bool>() ? 1 : 0, c.input(0));
  return absl::OkStatus();
}

absl::Status Merge(KernelContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!c.input(i).valid()) continue;
    c.set_output(0, c.input(i));
    c.set_output(1, Tensor::Scalar<std::int32_t>(i));
    return absl::OkStatus();
  }
  return MakeStatus(Code::kInternal, "Merge op has no input that lives.");
}

absl::StatusOr<std::vector<DType>> SwitchTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kBool}));
  return std::vector<DType>{inputs[0], inputs[0]};
}

absl::StatusOr<std::vector<DType>> MergeTypes(const Node& node, const std::vector<DType>& inputs) {
  if (inputs.empty()) return UsageError("'Merge' Op needs at least one input.");
  for (std::size_t i = 1; i < inputs.size(); ++i) VIGIL_RETURN_IF_ERROR(RequireSameTypes(node, inputs, 0, i));
  if (inputs[0] == DType::kResource) {
    return MakeStatus(Code::kUnimplemented, "'Merge' Op of handles: which resource it is must be known before a run.");
  }
  return std::vector<DType>{inputs[0], DType::kInt32};
}

}  // namespace

void RegisterControlOps(OpRegistry& registry) {
  registry.Register({.name = "NoOp"});
  registry.Register({.name = "Const", .output_types = ConstTypes, .constant = ConstValue});
  registry.Register({.name = "Placeholder", .output_types = FromAttr("dtype"), .compute = NotFed});
  registry.Register({.name = "PlaceholderWithDefault", .inputs = 1, .output_types = SameAsInput(0), .compute = PassOn});
  registry.Register(
      {.name = "Identity", .inputs = 1, .output_types = SameAsInput(0), .compute = PassOn, .passes_handles = true});
  registry.Register({.name = "Switch",
                     .inputs = 2,
                     .output_types = SwitchTypes,
                     .compute = Switch,
                     .refers_by_any_output = true,
                     .passes_handles = true,
                     .control_flow = ControlFlow::kSwitch});
  registry.Register({.name = "RefSwitch",
                     .inputs = 2,
                     .output_types = SwitchTypes,
                     .compute = Switch,
                     .ref_inputs = 1,
                     .forwards_ref = true,
                     .refers_by_any_output = true,
                     .control_flow = ControlFlow::kSwitch});
  registry.Register({.name = "Merge",
                     .inputs = -1,
                     .output_types = MergeTypes,
                     .compute = Merge,
                     .control_flow = ControlFlow::kMerge});
}

}  // namespace vigil
