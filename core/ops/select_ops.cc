// Ops that choose or convert elements: Select, Cast, LogicalNot.
#include <limits>
#include <type_traits>

#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/registration.h"

namespace vigil {
namespace {

absl::Status LogicalNot(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(DType::kBool, c.input(0).shape().dims()));
  bool* to = out.mutable_flat<bool>().data();
  for (const bool value : c.input(0).flat<bool>()) *to++ = !value;
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// As TensorFlow's kernels on x86: what an integer cannot hold (NaN too) becomes the least one. In C++ it would be
// anything.
template <typename To, typename From>
To Converted(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
    // Both ends are powers of two: exact.
    constexpr From kLeast = static_cast<From>(std::numeric_limits<To>::min());
    if (!(value >= kLeast && value < -kLeast)) return std::numeric_limits<To>::min();
  }
  return static_cast<To>(value);
}

template <typename From, typename To>
absl::Status CastTo(KernelContext& c) {
  const Tensor& in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(DTypeOf<To>(), in.shape().dims()));
  To* to = out.mutable_flat<To>().data();
  for (const From value : in.flat<From>()) *to++ = Converted<To>(value);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

template <typename From>
absl::Status CastFrom(KernelContext& c) {
  const DType target = c.attr<DType>("DstT");
  if (target == DType::kBool) return CastTo<From, bool>(c);
  absl::Status status;
  if (!ForNumeric(target, [&]<typename To>() { status = CastTo<From, To>(c); })) return NoKernel(c);
  return status;
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
