// Ops that choose or convert elements: Select, Cast, LogicalNot.
#include <limits>
#include <type_traits>
#include <vector>

#include "vigil/core/ops/broadcast.h"
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

// The condition is a scalar, has the shape of both others, or one element for each of their rows.
absl::Status Select(KernelContext& c) {
  const Tensor& condition = c.input(0);
  const Tensor& yes = c.input(1);
  const Tensor& no = c.input(2);
  const int rank = condition.shape().rank();
  const bool by_rows = rank == 1 && yes.shape().rank() != 1;
  if (rank != 0 && !by_rows) {
    for (int i = 1; i < 3; ++i) {
      if (c.input(i).shape() == condition.shape()) continue;
      return InvalidArgument(
          "Inputs to operation {} of type {} must have the same size and shape.  Input 0: {} != "
          "input {}: {}",
          c.node().name, c.node().op, condition.shape().ToString(), i, c.input(i).shape().ToString());
    }
  }
  if (by_rows && yes.shape().rank() < 1) {
    return InvalidArgument("'then' must be at least a vector, but saw shape: {}", yes.shape().ToString());
  }
  if (by_rows && yes.shape().dim(0) != condition.num_elements()) {
    return InvalidArgument("Number of batches of 'then' must match size of 'cond', but saw: {} vs. {}",
                           yes.shape().dim(0), condition.num_elements());
  }
  if (yes.shape() != no.shape()) {
    return InvalidArgument("'then' and 'else' must have the same size.  but received: {} vs. {}",
                           yes.shape().ToString(), no.shape().ToString());
  }
  if (rank == 0) {
    c.set_output(0, condition.scalar<bool>() ? yes : no);
    return absl::OkStatus();
  }
  Tensor out = yes.Clone();
  const std::int64_t size = out.num_elements() == 0 ? 0 : out.num_elements() / condition.num_elements();
  std::int64_t i = 0;
  for (const bool take : condition.flat<bool>()) {
    if (!take) CopyElements(no, i * size, out, i * size, size);
    ++i;
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// All three are broadcast to one shape.
absl::Status SelectV2(KernelContext& c) {
  const Tensor& condition = c.input(0);
  const Tensor& yes = c.input(1);
  const Tensor& no = c.input(2);
  std::vector<std::int64_t> dims;
  if (!BroadcastShape(yes.shape(), no.shape(), &dims)) {
    return InvalidArgument("then {} and else {} must be broadcastable", yes.shape().ToString(), no.shape().ToString());
  }
  VIGIL_ASSIGN_OR_RETURN(const Shape both, Shape::Make(dims));
  if (!BroadcastShape(condition.shape(), both, &dims)) {
    return InvalidArgument("condition {}, then {}, and else {} must be broadcastable", condition.shape().ToString(),
                           yes.shape().ToString(), no.shape().ToString());
  }
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(yes.dtype(), dims));
  const std::vector<std::int64_t> steps[3] = {BroadcastStrides(condition.shape(), dims),
                                              BroadcastStrides(yes.shape(), dims), BroadcastStrides(no.shape(), dims)};
  std::int64_t at[3] = {0, 0, 0};
  std::vector<std::int64_t> index(dims.size(), 0);
  for (std::int64_t i = 0; i < out.num_elements(); ++i) {
    const bool take = condition.flat<bool>()[static_cast<std::size_t>(at[0])];
    CopyElements(take ? yes : no, take ? at[1] : at[2], out, i, 1);
    for (std::size_t d = dims.size(); d-- > 0;) {
      ++index[d];
      const bool ends = index[d] == dims[d];
      for (int k = 0; k < 3; ++k) at[k] += ends ? steps[k][d] - steps[k][d] * dims[d] : steps[k][d];
      if (!ends) break;
      index[d] = 0;
    }
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
  registry.Register({.name = "SelectV2", .inputs = 3, .output_types = SelectTypes, .compute = SelectV2});
}

}  // namespace vigil
