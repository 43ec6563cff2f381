// ConditionalAccumulator and the ops on it, each under two names: TensorFlow's optimizers use the ones that begin with
// "Resource", its older graphs the others. Here they do the same.
#include "vigil/core/ops/accumulator.h"
#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/registration.h"
#include "vigil/core/ops/training.h"

namespace vigil {
namespace {

constexpr std::string_view kResource = "ResourceConditionalAccumulator";

absl::StatusOr<ConditionalAccumulator*> AccumulatorOf(KernelContext& c) {
  const DType dtype = c.holder_attr_or<DType>("dtype", DType::kFloat);
  if (dtype != DType::kFloat && dtype != DType::kDouble) {
    return MakeStatus(Code::kUnimplemented,
                      fmt::format("'{}' Op has no kernel for {}", c.holder().op, DTypeName(dtype)));
  }
  return c.resource<ConditionalAccumulator>([&c] {
    return std::make_shared<ConditionalAccumulator>(c.env(), ConditionalAccumulator::OptionsOf(c.holder()));
  });
}

absl::Status RequireScalar(const Tensor& tensor, std::string_view argument) {
  if (tensor.shape().rank() == 0) return absl::OkStatus();
  return InvalidArgument("Argument {} must be scalar, but had bad shape {}", argument, tensor.shape().ToString());
}

absl::Status ApplyGradient(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(ConditionalAccumulator* const accumulator, AccumulatorOf(c));
  VIGIL_RETURN_IF_ERROR(RequireScalar(c.input(1), "local_step"));
  return accumulator->Apply(c.input(1).scalar<std::int64_t>(), c.input(2));
}

absl::Status TakeGradient(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(ConditionalAccumulator* const accumulator, AccumulatorOf(c));
  VIGIL_RETURN_IF_ERROR(RequireScalar(c.input(1), "num_required"));
  const std::int32_t required = c.input(1).scalar<std::int32_t>();
  if (required <= 0) return InvalidArgument("Argument num_required must be positive, but was {}", required);
  if (const DType promised = c.node().output_types[0]; promised != accumulator->dtype()) {
    return InvalidArgument("Signature mismatch, have: resource, int32->{} expected: resource, int32->{}",
                           DTypeName(promised), DTypeName(accumulator->dtype()));
  }
  Tensor gradient;
  VIGIL_RETURN_IF_ERROR(accumulator->Take(c, required, &gradient));
  c.set_output(0, std::move(gradient));
  return absl::OkStatus();
}

absl::Status NumAccumulated(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(ConditionalAccumulator* const accumulator, AccumulatorOf(c));
  c.set_output(0, Tensor::Scalar(static_cast<std::int32_t>(accumulator->NumAccumulated())));
  return absl::OkStatus();
}

absl::Status SetGlobalStep(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(ConditionalAccumulator* const accumulator, AccumulatorOf(c));
  VIGIL_RETURN_IF_ERROR(RequireScalar(c.input(1), "num_required"));  // TensorFlow's word for it
  if (c.attr_or<bool>(ops::kCancelsTakes, false)) {
    accumulator->CancelTakes();
  } else {
    accumulator->SetGlobalStep(c.input(1).scalar<std::int64_t>());
  }
  return absl::OkStatus();
}

using Types = absl::StatusOr<std::vector<DType>>;

absl::Status RequireArgument(const Node& node, std::string_view name, DType given, DType expected) {
  if (given == expected) return absl::OkStatus();
  return UsageError(fmt::format("Input '{}' of '{}' Op has type {} that does not match expected type of {}.", name,
                                node.op, DTypeName(given), DTypeName(expected)));
}

Types AccumulatorTypes(const Node& node, const std::vector<DType>&) {
  VIGIL_RETURN_IF_ERROR(RequireAttr<DType>(node, "dtype"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<Shape>(node, "shape"));
  for (const std::string_view name : {"container", "shared_name", "reduction_type"}) {
    VIGIL_RETURN_IF_ERROR(AllowAttr<std::string>(node, name));
  }
  const auto reduction = node.attrs.find("reduction_type");
  if (reduction != node.attrs.end()) {
    const std::string& type = std::get<std::string>(reduction->second);
    if (type != "MEAN" && type != "SUM") {
      return UsageError(
          fmt::format("Attr 'reduction_type' of '{}' Op passed string '{}' not in: \"MEAN\", \"SUM\".", node.op, type));
    }
  }
  return std::vector<DType>{node.op == kResource ? DType::kResource : DType::kString};
}

Types ApplyTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireArgument(node, "local_step", inputs[1], DType::kInt64));
  return std::vector<DType>{};
}

Types TakeTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireArgument(node, "num_required", inputs[1], DType::kInt32));
  VIGIL_RETURN_IF_ERROR(RequireAttr<DType>(node, "dtype"));
  return std::vector<DType>{std::get<DType>(node.attrs.find("dtype")->second)};
}

Types SetGlobalStepTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireArgument(node, "new_global_step", inputs[1], DType::kInt64));
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, ops::kCancelsTakes));
  return std::vector<DType>{};
}

void RegisterFamily(OpRegistry& registry, const std::string& prefix) {
  registry.Register({.name = prefix + "ConditionalAccumulator",
                     .output_types = AccumulatorTypes,
                     .is_resource = true,
                     .resource_kind = ConditionalAccumulator::kKind,
                     .names_are_checked = NamesAreChecked::kByTheNode,
                     .per_session = true});
  registry.Register({.name = prefix + "AccumulatorApplyGradient",
                     .inputs = 3,
                     .output_types = ApplyTypes,
                     .compute = ApplyGradient,
                     .ref_inputs = 1});
  registry.Register({.name = prefix + "AccumulatorTakeGradient",
                     .inputs = 2,
                     .output_types = TakeTypes,
                     .compute = TakeGradient,
                     .ref_inputs = 1});
  registry.Register({.name = prefix + "AccumulatorNumAccumulated",
                     .inputs = 1,
                     .output_types = Always({DType::kInt32}),
                     .compute = NumAccumulated,
                     .ref_inputs = 1});
  registry.Register({.name = prefix + "AccumulatorSetGlobalStep",
                     .inputs = 2,
                     .output_types = SetGlobalStepTypes,
                     .compute = SetGlobalStep,
                     .ref_inputs = 1});
}

}  // namespace

void RegisterAccumulatorOps(OpRegistry& registry) {
  RegisterFamily(registry, "");
  RegisterFamily(registry, "Resource");
}

}  // namespace vigil
