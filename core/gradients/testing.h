// Ways to compute each differentiable op, and inputs, for the test that holds derivatives against differences.
#ifndef VIGIL_CORE_GRADIENTS_TESTING_H_
#define VIGIL_CORE_GRADIENTS_TESTING_H_

#include <functional>
#include <string>
#include <vector>

#include "vigil/core/graph/builder.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

struct DifferentiableCase {
  std::string op;                                                              // whose gradient it is about
  std::vector<Tensor> inputs;                                                  // double: each is differentiated
  std::function<Output(Builder& b, const std::vector<Output>& inputs)> build;  // ends with that op, or sums its outputs
  bool of_variables = false;  // the inputs are resource variables with these values
};

const std::vector<DifferentiableCase>& DifferentiableCases();

}  // namespace vigil

#endif  // VIGIL_CORE_GRADIENTS_TESTING_H_
