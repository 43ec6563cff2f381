// tf.train.AdagradOptimizer: accumulator += gradient^2; variable -= learning_rate * gradient / sqrt(accumulator).
// Slot: "accumulator". Thread safety: as the graph's. Source: adagrad.py.
#ifndef VIGIL_CORE_TRAIN_OPTIMIZERS_ADAGRAD_OPTIMIZER_H_
#define VIGIL_CORE_TRAIN_OPTIMIZERS_ADAGRAD_OPTIMIZER_H_

#include <string>
#include <utility>
#include <vector>

#include "vigil/core/train/optimizers/slot_optimizer.h"

namespace vigil {

struct AdagradOptions {
  HyperParameter learning_rate = 0;
  double initial_accumulator_value = 0.1;
  bool use_locking = false;
  std::string name = "Adagrad";
};

class AdagradOptimizer : public SlotOptimizer {
 public:
  // ApplyGradients: USAGE "initial_accumulator_value must be positive: ...".
  explicit AdagradOptimizer(AdagradOptions options)
      : SlotOptimizer(options.name, options.use_locking), options_(std::move(options)) {}

 protected:
  absl::Status Check() const override;
  std::vector<Number> Numbers() const override { return {{"learning_rate", options_.learning_rate}}; }
  std::vector<Slot> Slots() const override { return {{"accumulator", options_.initial_accumulator_value}}; }
  NodeId Dense(const Update& update, Output gradient) override;
  NodeId Sparse(const Update& update, Output values, Output indices) override;

 private:
  const AdagradOptions options_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_OPTIMIZERS_ADAGRAD_OPTIMIZER_H_
