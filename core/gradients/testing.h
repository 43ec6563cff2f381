// Ways to compute each differentiable op, and inputs, for the test that holds derivatives against differences.
#ifndef VIGIL_CORE_GRADIENTS_TESTING_H_
#define VIGIL_CORE_GRADIENTS_TESTING_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vigil/core/graph/builder.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

enum class InputsAre : std::uint8_t { kValues, kResourceVariables, kReferenceVariables };

struct DifferentiableCase {
  std::string op;                                                              // whose gradient it is about
  std::vector<Tensor> inputs;                                                  // double: each is differentiated
  std::function<Output(Builder& b, const std::vector<Output>& inputs)> build;  // ends with that op, or sums its outputs
  InputsAre inputs_are = InputsAre::kValues;                                   // variables have these values
};

const std::vector<DifferentiableCase>& DifferentiableCases();

}  // namespace vigil

#endif  // VIGIL_CORE_GRADIENTS_TESTING_H_
