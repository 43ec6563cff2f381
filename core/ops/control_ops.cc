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

}  // namespace

void RegisterControlOps(OpRegistry& registry) {
  registry.Register({.name = "NoOp"});
  registry.Register({.name = "Const", .output_types = ConstTypes, .constant = ConstValue});
  registry.Register({.name = "Placeholder", .output_types = FromAttr("dtype"), .compute = NotFed});
  registry.Register({.name = "PlaceholderWithDefault", .inputs = 1, .output_types = SameAsInput(0), .compute = PassOn});
  registry.Register({.name = "Identity", .inputs = 1, .output_types = SameAsInput(0), .compute = PassOn});
}

}  // namespace vigil
