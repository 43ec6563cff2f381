// What the examples train: y = 3 x + 2, learned from four points by gradient descent, and a main() around it.
#ifndef VIGIL_EXAMPLES_REGRESSION_H_
#define VIGIL_EXAMPLES_REGRESSION_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"

namespace vigil::examples {

struct Regression {
  Output global_step;
  Output weight;  // starts at 0, becomes 3
  Output bias;    // starts at 0, becomes 2
  Output loss;    // the mean squared error before the step
  Output train;   // one step of gradient descent; its value is the global step after it
};

// Adds the model to the graph. All its variables are global: initialised by the chief, saved, restored.
absl::StatusOr<Regression> BuildRegression(const Env& env, Graph& graph);

// "weight 3.00, bias 2.00"
void PrintModel(float weight, float bias);

// Runs `body` in the real world. Prints what it failed with and returns the exit code.
int Main(absl::Status (*body)(const Env& env));

}  // namespace vigil::examples

#endif  // VIGIL_EXAMPLES_REGRESSION_H_
