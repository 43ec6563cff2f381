// Variables: VariableV2 and the ops that take a reference to one.
#include <limits>

#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/registration.h"
#include "vigil/core/ops/variable.h"

namespace vigil {
namespace {

absl::Status ReadVariable(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(const vigil::Variable* const variable, vigil::Variable::Of(c));
  Tensor value = variable->Read();
  if (!value.valid()) return UninitializedVariable(c);
  c.set_output(0, std::move(value));
  return absl::OkStatus();
}

absl::Status IsVariableInitialized(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(const vigil::Variable* const variable, vigil::Variable::Of(c));
  c.set_output(0, Tensor::Scalar<bool>(variable->Read().valid()));
  return absl::OkStatus();
}

absl::Status ShapesDiffer(const KernelContext& c, const std::string& left, const std::string& right) {
  return InvalidArgument("{} requires shapes of both tensors to match. lhs shape= {} rhs shape= {}", c.node().op, left,
                         right);
}

absl::Status Assign(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(vigil::Variable* const variable, vigil::Variable::Of(c));
  const Tensor& value = c.input(1);
  if (c.attr_or<bool>("validate_shape", true)) {
    const PartialShape declared = DeclaredShape(c.holder());
    // As TensorFlow, whose variables have all of a shape: it is that of the value, if there is one.
    if (const Tensor held = variable->Read(); held.valid() && declared.is_fully_known()) {
      if (held.shape() != value.shape()) return ShapesDiffer(c, held.shape().ToString(), value.shape().ToString());
    } else if (!declared.IsCompatibleWith(value.shape())) {
      return ShapesDiffer(c, declared.ToString(), value.shape().ToString());
    }
  }
  variable->Assign(value);
  c.set_output(0, value);
  return absl::OkStatus();
}

// AssignAdd and AssignSub.
template <absl::Status (*kCombine)(Tensor&, const Tensor&)>
absl::Status AssignUpdate(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(vigil::Variable* const variable, vigil::Variable::Of(c));
  return variable->Update([&c](Tensor* value) {
    if (!value->valid()) return UninitializedVariable(c);
    if (value->shape() != c.input(1).shape())
      return ShapesDiffer(c, value->shape().ToString(), c.input(1).shape().ToString());
    VIGIL_RETURN_IF_ERROR(kCombine(*value, c.input(1)));
    c.set_output(0, *value);
    return absl::OkStatus();
  });
}

template <typename T>
absl::Status CountUpToLimit(KernelContext& c) {
  const std::int64_t limit = c.attr<std::int64_t>("limit");
  VIGIL_ASSIGN_OR_RETURN(vigil::Variable* const variable, vigil::Variable::Of(c));
  return variable->Update([&c, limit](Tensor* value) {
    if (!value->valid()) return UninitializedVariable(c);
    if (value->shape().rank() != 0) return InvalidArgument("input is not a scalar: {}", value->Describe());
    const T count = value->scalar<T>();
    // The largest number there is comes to an end as well: there is no next one.
    if (count >= limit || count == std::numeric_limits<T>::max()) {
      return MakeStatus(Code::kOutOfRange, fmt::format("Reached limit of {}", limit));
    }
    c.set_output(0, *value);
    *value = Tensor::Scalar<T>(static_cast<T>(count + 1));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<DType>> VariableTypes(const Node& node, const std::vector<DType>&) {
  VIGIL_RETURN_IF_ERROR(RequireAttr<DType>(node, "dtype"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<Shape>(node, "shape"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::string>(node, "container"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<std::string>(node, "shared_name"));
  return FromAttr("dtype")(node, {});
}

absl::StatusOr<std::vector<DType>> AssignTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, "validate_shape"));
  if (inputs[0] != inputs[1]) {
    return UsageError(fmt::format("'{}' Op needs a value of the variable's type {}, not {}.", node.op,
                                  DTypeName(inputs[0]), DTypeName(inputs[1])));
  }
  return std::vector<DType>{inputs[0]};
}

absl::StatusOr<std::vector<DType>> AssignUpdateTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64}));
  return AssignTypes(node, inputs);
}

absl::StatusOr<std::vector<DType>> CountUpToTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireAttr<std::int64_t>(node, "limit"));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kInt32, DType::kInt64}));
  return std::vector<DType>{inputs[0]};
}

absl::Status CountUpTo(KernelContext& c) {
  return c.holder().output_types[0] == DType::kInt32 ? CountUpToLimit<std::int32_t>(c)
                                                     : CountUpToLimit<std::int64_t>(c);
}

}  // namespace

void RegisterStateOps(OpRegistry& registry) {
  registry.Register({.name = "VariableV2",
                     .output_types = VariableTypes,
                     .is_resource = true,
                     .resource_kind = vigil::Variable::kKind,
                     .names_are_checked = NamesAreChecked::kBeforeTheRun,
                     .read = ReadVariable});
  registry.Register({.name = "Assign",
                     .inputs = 2,
                     .output_types = AssignTypes,
                     .compute = Assign,
                     .ref_inputs = 1,
                     .forwards_ref = true});
  registry.Register({.name = "AssignAdd",
                     .inputs = 2,
                     .output_types = AssignUpdateTypes,
                     .compute = AssignUpdate<AddInto>,
                     .ref_inputs = 1,
                     .forwards_ref = true});
  registry.Register({.name = "AssignSub",
                     .inputs = 2,
                     .output_types = AssignUpdateTypes,
                     .compute = AssignUpdate<SubtractFrom>,
                     .ref_inputs = 1,
                     .forwards_ref = true});
  registry.Register({.name = "IsVariableInitialized",
                     .inputs = 1,
                     .output_types = Always({DType::kBool}),
                     .compute = IsVariableInitialized,
                     .ref_inputs = 1});
  registry.Register(
      {.name = "CountUpTo", .inputs = 1, .output_types = CountUpToTypes, .compute = CountUpTo, .ref_inputs = 1});
}

}  // namespace vigil
