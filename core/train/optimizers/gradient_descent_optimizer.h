// tf.train.GradientDescentOptimizer: variable -= learning_rate * gradient.
//
// Thread safety: as the graph's. Source: gradient_descent.py, optimizer.py.
#ifndef VIGIL_CORE_TRAIN_OPTIMIZERS_GRADIENT_DESCENT_OPTIMIZER_H_
#define VIGIL_CORE_TRAIN_OPTIMIZERS_GRADIENT_DESCENT_OPTIMIZER_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "vigil/core/train/optimizers/optimizer.h"

namespace vigil {

struct GradientDescentOptions {
  float learning_rate = 0;
  bool use_locking = false;  // an attribute of the updates; here no update is ever lost
  std::string name = "GradientDescent";
};

class GradientDescentOptimizer : public Optimizer {
 public:
  explicit GradientDescentOptimizer(GradientDescentOptions options) : options_(std::move(options)) {}

  // USAGE "No variables provided.", "No gradients provided for any variable: ['w:0', ...].", and of a gradient that has
  // another type than its variable.
  absl::StatusOr<Output> ApplyGradients(Builder& b, const GradientsAndVariables& gradients,
                                        std::optional<Output> global_step = std::nullopt,
                                        std::string name = "") override;
  std::string_view name() const override { return options_.name; }

 private:
  std::vector<NodeId> Updates(Builder& b, const std::string& scope, const GradientsAndVariables& gradients) const;

  const GradientDescentOptions options_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_OPTIMIZERS_GRADIENT_DESCENT_OPTIMIZER_H_
