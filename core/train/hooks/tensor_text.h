// A tensor's value as text, as numpy prints it with suppressed exponents (what TensorFlow's hooks log), but on one
// line.
//
// Scalars: 5, 0.33333334, 1e-05, nan, True, b'text'. Arrays: [1. 2.5 3. ], [[1 2] [3 4]]; of more than 1000 elements
// only the first and last three of each dimension, with "..." between them.
// This header is for core/train/hooks itself. Thread safety: a pure function.
#ifndef VIGIL_CORE_TRAIN_HOOKS_TENSOR_TEXT_H_
#define VIGIL_CORE_TRAIN_HOOKS_TENSOR_TEXT_H_

#include <string>

#include "vigil/core/tensor/tensor.h"

namespace vigil {

std::string TensorText(const Tensor& tensor);

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKS_TENSOR_TEXT_H_
