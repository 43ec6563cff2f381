// Ops that choose or convert elements: Select, Cast, LogicalNot.
#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/registration.h"

namespace vigil {
namespace {

absl::Status LogicalNot(KernelContext& c) {
  Tensor out(DType::kBool, c.input(0).shape());
  bool* to = out.mutable_flat<bool>().data();
  for (const bool value : c.input(0).flat<bool>()) *to++ = !value;
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

template <typename From, typename To>
Tensor CastTo(const Tensor& in) {
  Tensor out(DTypeOf<To>(), in.shape());
  To* to = out.mutable_flat<To>().data();
  for (const From value : in.flat<From>()) *to++ = static_cast<To>(value);
  return out;
}

template <typename From>
absl::Status CastFrom(KernelContext& c) {
  const Tensor& in = c.input(0);
  const DType target = c.attr<DType>("DstT");
  if (target == DType::kBool) {
    c.set_output(0, CastTo<From, bool>(in));
    return absl::OkStatus();
  }
  if (!ForNumeric(target, [&]<typename To>() { c.set_output(0, CastTo<From, To>(in)); })) return NoKernel(c);
  return absl::OkStatus();
}

absl::Status Cast(KernelContext& c) {
  if (c.input(0).dtype() == DType::kBool) return CastFrom<bool>(c);
  absl::Status status;
  if (!ForNumeric(c.input(0).dtype(), [&]<typename From>() { status = CastFrom<From>(c); })) return NoKernel(c);
  return status;
}

// The condition is a scalar, or has the shape of both others.
absl::Status Select(KernelContext& c) {
  const Tensor& condition = c.input(0);
  const Tensor& yes = c.input(1);
  const Tensor& no = c.input(2);
  if (yes.shape() != no.shape()) {
    return InvalidArgument("Incompatible shapes: {} vs. {}", yes.shape().ToString(), no.shape().ToString());
  }
  if (condition.shape().rank() == 0) {
    c.set_output(0, condition.scalar<bool>() ? yes : no);
    return absl::OkStatus();
  }
  if (condition.shape() != yes.shape()) {
    return InvalidArgument("Incompatible shapes: {} vs. {}", condition.shape().ToString(), yes.shape().ToString());
  }
  Tensor out = yes.Clone();
  std::int64_t i = 0;
  for (const bool take : condition.flat<bool>()) {
    if (!take) CopyElements(no, i, out, i, 1);
    ++i;
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DType>> SelectTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kBool}));
  VIGIL_RETURN_IF_ERROR(RequireSameTypes(node, inputs, 1, 2));
  return std::vector<DType>{inputs[1]};
}

absl::StatusOr<std::vector<DType>> LogicalNotTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kBool}));
  return std::vector<DType>{DType::kBool};
}

}  // namespace

void RegisterSelectOps(OpRegistry& registry) {
  registry.Register({.name = "LogicalNot", .inputs = 1, .output_types = LogicalNotTypes, .compute = LogicalNot});
  registry.Register({.name = "Cast", .inputs = 1, .output_types = FromAttr("DstT"), .compute = Cast});
  registry.Register({.name = "Select", .inputs = 3, .output_types = SelectTypes, .compute = Select});
  registry.Register({.name = "SelectV2", .inputs = 3, .output_types = SelectTypes, .compute = Select});
}

}  // namespace vigil
