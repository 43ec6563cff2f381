// Cumsum and Cumprod along one axis; ListDiff: what the gradients of products reckon with.
#include <algorithm>
#include <set>

#include "vigil/core/ops/nn/elements.h"
#include "vigil/core/ops/nn/nn.h"

namespace vigil {
namespace {

struct ScanAxis {
  std::int64_t outer, size, inner;
};

absl::StatusOr<ScanAxis> ScanAxisOf(const KernelContext& c) {
  const Tensor& in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> given, Integers(c.input(1)));
  if (c.input(1).shape().rank() != 0) {
    return InvalidArgument("ScanOp: axis must be a scalar, not {}", c.input(1).shape().ToString());
  }
  const std::int64_t rank = in.shape().rank();
  const std::int64_t axis = given[0] < 0 ? given[0] + rank : given[0];
  if (axis < 0 || axis >= rank) {
    return InvalidArgument("ScanOp: Expected scan axis in the range [{}, {}), but got {}", -rank, rank, axis);
  }
  if (in.num_elements() == 0) return ScanAxis{0, 0, 0};
  const std::vector<std::int64_t>& dims = in.shape().dims();
  const auto at = static_cast<std::size_t>(axis);
  return ScanAxis{ElementsOf(dims, 0, at), dims[at], ElementsOf(dims, at + 1, dims.size())};
}

template <typename T, bool kProduct>
void Scan(const Tensor& in, const ScanAxis& axis, bool exclusive, bool reverse, Tensor& out) {
  const T* const from = in.flat<T>().data();
  T* const to = out.mutable_flat<T>().data();
  for (std::int64_t line = 0; line < axis.outer * axis.inner; ++line) {
    const std::int64_t first = line / axis.inner * axis.size * axis.inner + line % axis.inner;
    T value = T(kProduct ? 1 : 0);
    for (std::int64_t k = 0; k < axis.size; ++k) {
      const std::int64_t at = first + (reverse ? axis.size - 1 - k : k) * axis.inner;
      if (exclusive) to[at] = value;
      if constexpr (kProduct) {
        value = WrappingProduct(value, from[at]);
      } else {
        value = WrappingSum(value, from[at]);
      }
      if (!exclusive) to[at] = value;
    }
  }
}

template <bool kProduct>
absl::Status ScanKernel(KernelContext& c) {
  const Tensor& in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(const ScanAxis axis, ScanAxisOf(c));
  VIGIL_ASSIGN_OR_RETURN(Tensor out, Tensor::MakeUnwritten(in.dtype(), in.shape().dims()));
  const bool exclusive = c.attr_or<bool>("exclusive", false);
  const bool reverse = c.attr_or<bool>("reverse", false);
  if (!ForNumeric(in.dtype(), [&]<typename T>() { Scan<T, kProduct>(in, axis, exclusive, reverse, out); })) {
    return NoKernel(c);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// What the first list has and the second has not, in the first one's order; and where it stood.
absl::Status ListDiffKernel(KernelContext& c) {
  for (int i = 0; i < 2; ++i) {
    if (c.input(i).shape().rank() != 1) {
      return InvalidArgument("{} should be a 1D vector.", i == 0 ? "x" : "y");
    }
  }
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> x, Integers(c.input(0)));
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> y, Integers(c.input(1)));
  const std::set<std::int64_t> without(y.begin(), y.end());
  std::vector<std::int64_t> values, places;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (without.contains(x[i])) continue;
    values.push_back(x[i]);
    places.push_back(static_cast<std::int64_t>(i));
  }
  const auto put = [&c](int i, DType type, const std::vector<std::int64_t>& numbers) {
    if (type == DType::kInt64) return c.set_output(i, Tensor::Vector(numbers));
    c.set_output(i, Tensor::Vector(std::vector<std::int32_t>(numbers.begin(), numbers.end())));
  };
  put(0, c.input(0).dtype(), values);
  put(1, c.attr_or<DType>("out_idx", DType::kInt32), places);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DType>> ScanTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64}));
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 1, {DType::kInt32, DType::kInt64}));
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, "exclusive"));
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, "reverse"));
  return std::vector<DType>{inputs[0]};
}

absl::StatusOr<std::vector<DType>> ListDiffTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kInt32, DType::kInt64}));
  VIGIL_RETURN_IF_ERROR(RequireSameTypes(node, inputs, 0, 1));
  VIGIL_ASSIGN_OR_RETURN(const std::vector<DType> places, IndexTypeFrom(node, "out_idx", DType::kInt32));
  return std::vector<DType>{inputs[0], places[0]};
}

}  // namespace

void RegisterScanOps(OpRegistry& registry) {
  registry.Register({.name = "Cumsum", .inputs = 2, .output_types = ScanTypes, .compute = ScanKernel<false>});
  registry.Register({.name = "Cumprod", .inputs = 2, .output_types = ScanTypes, .compute = ScanKernel<true>});
  registry.Register({.name = "ListDiff", .inputs = 2, .output_types = ListDiffTypes, .compute = ListDiffKernel});
  for (const std::string_view op : {"Cumsum", "Cumprod"}) {
    registry.Imply(op, {{"T", ImpliedAttr::Kind::kInputType, 0}, {"Tidx", ImpliedAttr::Kind::kInputType, 1}});
  }
  registry.Imply("ListDiff", {{"T", ImpliedAttr::Kind::kInputType, 0}});
}

}  // namespace vigil
