// Shapes of which some is known, held against each other. What does not fit is INVALID_ARGUMENT in TensorFlow's words.
// Thread safety: pure functions.
// Source: TensorFlow's shape_inference.h.
#ifndef VIGIL_CORE_GRAPH_SHAPE_CHECKS_H_
#define VIGIL_CORE_GRAPH_SHAPE_CHECKS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/tensor/partial_shape.h"

namespace vigil {

// The shape with that rank; one of unknown rank becomes one of unknown dimensions, of which there may be no more than a
// tensor has.
absl::StatusOr<PartialShape> WithRank(const PartialShape& shape, std::int64_t rank);
absl::StatusOr<PartialShape> WithRankAtLeast(const PartialShape& shape, std::int64_t rank);
absl::StatusOr<PartialShape> WithRankAtMost(const PartialShape& shape, int rank);

// What is known of one that is both. Of dimensions: kUnknownDim for one that is not known.
absl::StatusOr<PartialShape> Merge(const PartialShape& a, const PartialShape& b);
absl::StatusOr<std::int64_t> MergeDims(std::int64_t a, std::int64_t b);
// ... and has one of two values.
absl::StatusOr<std::int64_t> WithValue(std::int64_t dim, std::int64_t value);

// The shape begins with the dimensions of `prefix`. REQUIRES: prefix.has_rank().
absl::Status CheckPrefix(const PartialShape& shape, const PartialShape& prefix);

// Arithmetic of dimensions that may be unknown.
absl::StatusOr<std::int64_t> AddDims(std::int64_t a, std::int64_t b);
absl::StatusOr<std::int64_t> SubtractDims(std::int64_t a, std::int64_t b);
absl::StatusOr<std::int64_t> MultiplyDims(std::int64_t a, std::int64_t b);
// REQUIRES: divisor > 0 or unknown.
absl::StatusOr<std::int64_t> DivideEvenly(std::int64_t dim, std::int64_t divisor);

// Dimensions [start, end) of a shape; negative ones count from its end; end may be beyond it. Without a rank: unknown.
absl::StatusOr<PartialShape> Subshape(const PartialShape& shape, int start, int end);
// Unknown if one has no rank.
PartialShape Concatenate(const PartialShape& a, const PartialShape& b);

}  // namespace vigil

#endif  // VIGIL_CORE_GRAPH_SHAPE_CHECKS_H_
