#include "vigil/core/graph/shape_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {
namespace {

constexpr std::int64_t kUnknown = PartialShape::kUnknownDim;

template <typename... Args>
absl::Status DoesNotFit(fmt::format_string<Args...> format, Args&&... args) {
  return MakeStatus(Code::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...));
}

// That a tensor can have it.
absl::Status CheckRank(std::int64_t rank) {
  if (rank <= Shape::kMostDims) return absl::OkStatus();
  return DoesNotFit("Rank cannot exceed {} but is {}", Shape::kMostDims, rank);
}

}  // namespace

absl::StatusOr<PartialShape> WithRank(const PartialShape& shape, std::int64_t rank) {
  if (!shape.has_rank()) {
    VIGIL_RETURN_IF_ERROR(CheckRank(rank));
    return PartialShape::OfRank(rank);
  }
  if (shape.rank() == rank) return shape;
  return DoesNotFit("Shape must be rank {} but is rank {}", rank, shape.rank());
}

absl::StatusOr<PartialShape> WithRankAtLeast(const PartialShape& shape, std::int64_t rank) {
  if (!shape.has_rank()) VIGIL_RETURN_IF_ERROR(CheckRank(rank));
  if (!shape.has_rank() || shape.rank() >= rank) return shape;
  return DoesNotFit("Shape must be at least rank {} but is rank {}", rank, shape.rank());
}

absl::StatusOr<PartialShape> WithRankAtMost(const PartialShape& shape, int rank) {
  if (!shape.has_rank() || shape.rank() <= rank) return shape;
  return DoesNotFit("Shape must be at most rank {} but is rank {}", rank, shape.rank());
}

absl::StatusOr<PartialShape> Merge(const PartialShape& a, const PartialShape& b) {
  if (!a.has_rank()) return b;
  if (!b.has_rank()) return a;
  if (a.rank() != b.rank()) return DoesNotFit("Shapes must be equal rank, but are {} and {}", a.rank(), b.rank());
  PartialShape merged = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim(i) == kUnknown) {
      merged.set_dim(i, b.dim(i));
    } else if (b.dim(i) != kUnknown && b.dim(i) != a.dim(i)) {
      return DoesNotFit("Dimension {} in both shapes must be equal, but are {} and {}. Shapes are {} and {}.", i,
                        a.dim(i), b.dim(i), a.ToString(), b.ToString());
    }
  }
  return merged;
}

absl::StatusOr<std::int64_t> MergeDims(std::int64_t a, std::int64_t b) {
  if (a == kUnknown) return b;
  if (b == kUnknown || a == b) return a;
  return DoesNotFit("Dimensions must be equal, but are {} and {}", a, b);
}

absl::StatusOr<std::int64_t> WithValue(std::int64_t dim, std::int64_t value) {
  if (dim == kUnknown || dim == value) return value;
  return DoesNotFit("Dimension must be {} but is {}", value, dim);
}

absl::Status CheckPrefix(const PartialShape& shape, const PartialShape& prefix) {
  VIGIL_RETURN_IF_ERROR(WithRankAtLeast(shape, prefix.rank()).status());
  for (int i = 0; shape.has_rank() && i < prefix.rank(); ++i) {
    VIGIL_RETURN_IF_ERROR(MergeDims(shape.dim(i), prefix.dim(i)).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::int64_t> AddDims(std::int64_t a, std::int64_t b) {
  if (a == kUnknown || b == kUnknown) return kUnknown;
  const std::optional<std::int64_t> sum = CheckedSum(a, b);
  if (sum.has_value() && *sum >= 0) return *sum;
  return DoesNotFit("Dimension size overflow from adding {} and {}", a, b);
}

absl::StatusOr<std::int64_t> SubtractDims(std::int64_t a, std::int64_t b) {
  if (a == kUnknown || b == kUnknown) return kUnknown;
  if (a < b) return DoesNotFit("Negative dimension size caused by subtracting {} from {}", b, a);
  return a - b;
}

absl::StatusOr<std::int64_t> MultiplyDims(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (a == kUnknown || b == kUnknown) return kUnknown;
  const std::optional<std::int64_t> product = CheckedProduct(a, b);
  if (product.has_value() && *product >= 0) return *product;
  return DoesNotFit("Negative dimension size caused by overflow when multiplying {} and {}", a, b);
}

absl::StatusOr<std::int64_t> DivideEvenly(std::int64_t dim, std::int64_t divisor) {
  if (dim == kUnknown || divisor == kUnknown) return kUnknown;
  if (dim % divisor == 0) return dim / divisor;
  return DoesNotFit("Dimension size must be evenly divisible by {} but is {}", divisor, dim);
}

absl::StatusOr<PartialShape> Subshape(const PartialShape& shape, int start, int end) {
  if (!shape.has_rank()) return PartialShape();
  const int rank = shape.rank();
  const int from = std::min(start, rank) < 0 ? start + rank : std::min(start, rank);
  const int to = std::min(end, rank) < 0 ? end + rank : std::min(end, rank);
  if (from < 0) return DoesNotFit("Subshape start out of bounds: {}, for shape with rank {}", start, rank);
  if (to < 0) return DoesNotFit("Subshape end out of bounds: {}, for shape with rank {}", end, rank);
  if (from > to) {
    return DoesNotFit(
        "Subshape must have computed start <= end, but is {} and {} (computed from start {} and end {} over shape with "
        "rank {})",
        from, to, start, end, rank);
  }
  return PartialShape(std::vector<std::int64_t>(shape.dims().begin() + from, shape.dims().begin() + to));
}

PartialShape Concatenate(const PartialShape& a, const PartialShape& b) {
  if (!a.has_rank() || !b.has_rank()) return PartialShape();
  std::vector<std::int64_t> dims = a.dims();
  dims.insert(dims.end(), b.dims().begin(), b.dims().end());
  return PartialShape(std::move(dims));
}

}  // namespace vigil
