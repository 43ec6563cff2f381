// Two tensors combined element by element, with NumPy's broadcasting: what the kernels of binary ops share.
// Thread safety: pure functions.
#ifndef VIGIL_CORE_OPS_BROADCAST_H_
#define VIGIL_CORE_OPS_BROADCAST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "vigil/core/ops/op_util.h"
#include "vigil/core/tensor/eigen_view.h"

namespace vigil {

// The shape that both broadcast to; false if they do not fit.
inline bool BroadcastShape(const Shape& a, const Shape& b, std::vector<std::int64_t>* out) {
  const int rank = std::max(a.rank(), b.rank());
  out->assign(static_cast<std::size_t>(rank), 1);
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank());
    const int ib = i - (rank - b.rank());
    const std::int64_t da = ia < 0 ? 1 : a.dim(ia);
    const std::int64_t db = ib < 0 ? 1 : b.dim(ib);
    if (da != db && da != 1 && db != 1) return false;
    (*out)[static_cast<std::size_t>(i)] = da == 1 ? db : da;
  }
  return true;
}

// How far to move in `from` for one step along each dimension of `to` (0 where it is broadcast).
inline std::vector<std::int64_t> BroadcastStrides(const Shape& from, const std::vector<std::int64_t>& to) {
  std::vector<std::int64_t> strides(to.size(), 0);
  std::int64_t step = 1;
  for (int i = from.rank() - 1; i >= 0; --i) {
    const std::size_t at = to.size() - static_cast<std::size_t>(from.rank() - i);
    if (from.dim(i) != 1) strides[at] = step;
    step *= from.dim(i);
  }
  return strides;
}

// Any shapes that fit: walks over the result like an odometer.
template <typename T, typename Out, typename F>
void ComputeBroadcast(const Tensor& a, const Tensor& b, const std::vector<std::int64_t>& dims, Tensor& out, F f) {
  const std::vector<std::int64_t> step_a = BroadcastStrides(a.shape(), dims);
  const std::vector<std::int64_t> step_b = BroadcastStrides(b.shape(), dims);
  const T* at_a = a.flat<T>().data();
  const T* at_b = b.flat<T>().data();
  std::vector<std::int64_t> index(dims.size(), 0);
  for (Out& element : out.mutable_flat<Out>()) {
    element = f(*at_a, *at_b);
    for (std::size_t d = dims.size(); d-- > 0;) {
      at_a += step_a[d];
      at_b += step_b[d];
      if (++index[d] < dims[d]) break;
      at_a -= step_a[d] * dims[d];
      at_b -= step_b[d] * dims[d];
      index[d] = 0;
    }
  }
}

// Of one shape; `to`: arrays or parts of them.
template <typename T, typename Out, typename Array, typename To, typename F>
void ComputeArray(const Array& a, const Array& b, To&& to, F f) {
  if constexpr (std::is_floating_point_v<T>) {
    to = f(a, b);
  } else {
    to = a.binaryExpr(b, [f](T x, T y) { return static_cast<Out>(f(x, y)); });
  }
}

template <typename T, typename Out, typename F>
void ComputeSame(const Tensor& a, const Tensor& b, Tensor& out, F f) {
  ComputeArray<T, Out>(AsArray<T>(a), AsArray<T>(b), AsMutableArray<Out>(out), f);
}

// By all threads that there are for it.
template <typename T, typename Out, typename F>
void ComputeSameInParallel(const KernelContext& c, const Tensor& a, const Tensor& b, Tensor& out, F f) {
  const ConstArrayView<T> x = AsArray<T>(a), y = AsArray<T>(b);
  ArrayView<Out> to = AsMutableArray<Out>(out);
  ParallelForElements(c, a.num_elements(), kCostOfElement, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t n = end - begin;
    ComputeArray<T, Out>(x.segment(begin, n), y.segment(begin, n), to.segment(begin, n), f);
  });
}

template <typename T, typename Out, typename F>
absl::Status BroadcastCompute(const KernelContext& c, const Tensor& a, const Tensor& b, Tensor* out, F f) {
  if (a.shape().rank() == 0 && b.shape().rank() == 0) {
    *out = Tensor::Scalar<Out>(f(a.scalar<T>(), b.scalar<T>()));
    return absl::OkStatus();
  }
  if (a.shape() == b.shape()) {
    VIGIL_ASSIGN_OR_RETURN(*out, Tensor::MakeUnwritten(DTypeOf<Out>(), a.shape().dims()));
    ComputeSameInParallel<T, Out>(c, a, b, *out, f);
    return absl::OkStatus();
  }
  std::vector<std::int64_t> dims;
  if (!BroadcastShape(a.shape(), b.shape(), &dims)) {
    return InvalidArgument("Incompatible shapes: {} vs. {}", a.shape().ToString(), b.shape().ToString());
  }
  VIGIL_ASSIGN_OR_RETURN(*out, Tensor::MakeUnwritten(DTypeOf<Out>(), dims));
  ComputeBroadcast<T, Out>(a, b, dims, *out, f);
  return absl::OkStatus();
}

// Of Equal and NotEqual: whether their shapes do not go together and need not; then output 0 is `value`.
inline bool GivesOneForUnlikeShapes(KernelContext& c, bool value) {
  std::vector<std::int64_t> dims;
  if (c.attr_or<bool>("incompatible_shape_error", true)) return false;
  if (BroadcastShape(c.input(0).shape(), c.input(1).shape(), &dims)) return false;
  c.set_output(0, Tensor::Scalar<bool>(value));
  return true;
}

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_BROADCAST_H_
