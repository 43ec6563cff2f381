// tf.train.FtrlOptimizer: follow the regularized leader, with L1 and L2, and the shrinkage that looks at the variable.
// Slots: "accum", "linear". Not here: `beta`. Thread safety: as the graph's. Source: ftrl.py.
#ifndef VIGIL_CORE_TRAIN_OPTIMIZERS_FTRL_OPTIMIZER_H_
#define VIGIL_CORE_TRAIN_OPTIMIZERS_FTRL_OPTIMIZER_H_

#include <string>
#include <utility>
#include <vector>

#include "vigil/core/train/optimizers/slot_optimizer.h"

namespace vigil {

struct FtrlOptions {
  HyperParameter learning_rate = 0;
  float learning_rate_power = -0.5F;
  double initial_accumulator_value = 0.1;
  float l1_regularization_strength = 0;
  float l2_regularization_strength = 0;
  float l2_shrinkage_regularization_strength = 0;
  bool use_locking = false;
  std::string name = "Ftrl";
};

class FtrlOptimizer : public SlotOptimizer {
 public:
  // ApplyGradients: USAGE for numbers of the wrong sign, "initial_accumulator_value -1.000000 needs to be positive or
  // zero".
  explicit FtrlOptimizer(FtrlOptions options)
      : SlotOptimizer(options.name, options.use_locking), options_(std::move(options)) {}

 protected:
  absl::Status Check() const override;
  std::vector<Number> Numbers() const override;
  std::vector<Slot> Slots() const override { return {{"accum", options_.initial_accumulator_value}, {"linear"}}; }
  NodeId Dense(const Update& update, Output gradient) override;
  NodeId Sparse(const Update& update, Output values, Output indices) override;

 private:
  NodeId Apply(const Update& update, const std::string& op, const std::vector<Output>& gradient) const;

  const FtrlOptions options_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_OPTIMIZERS_FTRL_OPTIMIZER_H_
