// tf.train.MomentumOptimizer: accumulation = momentum * accumulation + gradient; variable -= learning_rate *
// accumulation. With Nesterov's look ahead: variable -= learning_rate * (gradient + momentum * accumulation).
// Slot: "momentum". Thread safety: as the graph's. Source: momentum.py.
#ifndef VIGIL_CORE_TRAIN_OPTIMIZERS_MOMENTUM_OPTIMIZER_H_
#define VIGIL_CORE_TRAIN_OPTIMIZERS_MOMENTUM_OPTIMIZER_H_

#include <string>
#include <utility>
#include <vector>

#include "vigil/core/train/optimizers/slot_optimizer.h"

namespace vigil {

struct MomentumOptions {
  HyperParameter learning_rate = 0;
  HyperParameter momentum = 0;
  bool use_locking = false;
  bool use_nesterov = false;
  std::string name = "Momentum";
};

class MomentumOptimizer : public SlotOptimizer {
 public:
  explicit MomentumOptimizer(MomentumOptions options)
      : SlotOptimizer(options.name, options.use_locking), options_(std::move(options)) {}

 protected:
  std::vector<Number> Numbers() const override {
    return {{"learning_rate", options_.learning_rate}, {"momentum", options_.momentum}};
  }
  std::vector<Slot> Slots() const override { return {{"momentum"}}; }
  NodeId Dense(const Update& update, Output gradient) override;
  NodeId Sparse(const Update& update, Output values, Output indices) override;

 private:
  const MomentumOptions options_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_OPTIMIZERS_MOMENTUM_OPTIMIZER_H_
