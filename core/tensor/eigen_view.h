// A tensor's elements as Eigen sees them: the only way in which the rest of the code meets Eigen.
// Views borrow: the tensor must outlive them. REQUIRES of all: T is the element type. Mutable ones first copy elements
// that other tensors share (Tensor::mutable_flat).
#ifndef VIGIL_CORE_TENSOR_EIGEN_VIEW_H_
#define VIGIL_CORE_TENSOR_EIGEN_VIEW_H_

#include <Eigen/Core>

#include "vigil/core/tensor/tensor.h"

namespace vigil {

template <typename T>
using ArrayView = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <typename T>
using ConstArrayView = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;

// All elements in row-major order.
template <typename T>
ConstArrayView<T> AsArray(const Tensor& tensor) {
  return {tensor.flat<T>().data(), tensor.num_elements()};
}
template <typename T>
ArrayView<T> AsMutableArray(Tensor& tensor) {
  return {tensor.mutable_flat<T>().data(), tensor.num_elements()};
}

}  // namespace vigil

#endif  // VIGIL_CORE_TENSOR_EIGEN_VIEW_H_
