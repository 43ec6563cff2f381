// Sums, products, maxima over some axes of a tensor: what the kernels of reductions share.
// Thread safety: pure functions.
#ifndef VIGIL_CORE_OPS_REDUCTION_H_
#define VIGIL_CORE_OPS_REDUCTION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/ops/op_util.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

// Which axes are reduced. Errors: INVALID_ARGUMENT for an axis that there is not, or that is named twice.
inline absl::StatusOr<std::vector<bool>> ReducedAxes(const Tensor& in, const Tensor& axes) {
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> given, Integers(axes));
  const std::int64_t rank = in.shape().rank();
  std::vector<bool> reduced(static_cast<std::size_t>(rank), false);
  for (const std::int64_t axis : given) {
    const std::int64_t at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank)
      return InvalidArgument("Invalid reduction dimension ({} for input with {} dimension(s)", axis, rank);
    if (reduced[static_cast<std::size_t>(at)]) {
      return InvalidArgument("Invalid reduction arguments: Axes contains duplicate dimension: {}", at);
    }
    reduced[static_cast<std::size_t>(at)] = true;
  }
  return reduced;
}

// The shape of what is left; `keep`: with 1 for an axis that is reduced.
inline std::vector<std::int64_t> ReducedDims(const Tensor& in, const std::vector<bool>& reduced, bool keep) {
  std::vector<std::int64_t> dims;
  for (std::size_t d = 0; d < reduced.size(); ++d) {
    if (!reduced[d]) {
      dims.push_back(in.shape().dim(static_cast<int>(d)));
    } else if (keep) {
      dims.push_back(1);
    }
  }
  return dims;
}

// A float to which many of its size are added one by one forgets most of each. So only so many are added up as floats;
// sums of more are made of doubles, or of such sums.
inline constexpr std::int64_t kMostFloatsInASum = 1024;

// sum_of(begin, count), a sum of elements of type T, added up over [0, n).
template <typename T, typename SumOf>
T SumOfStretches(std::int64_t n, SumOf sum_of) {
  if (n <= kMostFloatsInASum) return sum_of(std::int64_t{0}, n);
  double sum = 0;
  for (std::int64_t begin = 0; begin < n; begin += kMostFloatsInASum) {
    sum += sum_of(begin, std::min(kMostFloatsInASum, n - begin));
  }
  return static_cast<T>(sum);
}

// fold(element of out, element of in) for every element of `in`, in row-major order. REQUIRES: `to` has the shape that
// ReducedDims() gives and holds what the fold begins with.
template <typename T, typename Out, typename Fold>
void FoldInto(const Tensor& in, const std::vector<bool>& reduced, Out* to, Fold fold) {
  const std::vector<std::int64_t>& dims = in.shape().dims();
  std::vector<std::int64_t> step(dims.size(), 0);
  std::int64_t size = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (reduced[d]) continue;
    step[d] = size;
    size *= dims[d];
  }
  std::vector<std::int64_t> index(dims.size(), 0);
  std::int64_t at = 0;
  for (const T value : in.flat<T>()) {
    fold(to[at], value);
    for (std::size_t d = dims.size(); d-- > 0;) {
      at += step[d];
      if (++index[d] < dims[d]) break;
      at -= step[d] * dims[d];
      index[d] = 0;
    }
  }
}

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_REDUCTION_H_
