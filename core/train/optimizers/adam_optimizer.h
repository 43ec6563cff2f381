// tf.train.AdamOptimizer: moving averages of the gradients and of their squares, corrected for having begun at zero.
// Slots: "m", "v"; and for all variables together "beta1_power" and "beta2_power", which are at the variable whose
// tensor's name ("w:0") comes first. Sparse gradients: the averages of all rows decay, as TensorFlow's do.
// Thread safety: as the graph's. Source: adam.py.
#ifndef VIGIL_CORE_TRAIN_OPTIMIZERS_ADAM_OPTIMIZER_H_
#define VIGIL_CORE_TRAIN_OPTIMIZERS_ADAM_OPTIMIZER_H_

#include <string>
#include <utility>
#include <vector>

#include "vigil/core/train/optimizers/slot_optimizer.h"

namespace vigil {

struct AdamOptions {
  HyperParameter learning_rate = 0.001F;
  HyperParameter beta1 = 0.9F;
  HyperParameter beta2 = 0.999F;
  HyperParameter epsilon = 1e-8F;
  bool use_locking = false;
  std::string name = "Adam";
};

class AdamOptimizer : public SlotOptimizer {
 public:
  explicit AdamOptimizer(AdamOptions options)
      : SlotOptimizer(options.name, options.use_locking), options_(std::move(options)) {}

 protected:
  std::vector<Number> Numbers() const override;
  std::vector<Slot> Slots() const override { return {{"m"}, {"v"}}; }
  void AddShared(Builder& b, const std::vector<Output>& variables) override;
  NodeId Dense(const Update& update, Output gradient) override;
  NodeId Sparse(const Update& update, Output values, Output indices) override;
  Output Finish(Builder& b, const std::string& name, const std::vector<NodeId>& updates,
                const std::vector<Output>& numbers) override;

 private:
  // How far the next step goes, in the variable's type.
  Output Rate(const Update& update) const;
  // The decayed average with the rows' share added: what the slot holds then.
  Output Average(const Update& update, std::size_t slot, Output rows, Output indices, Output beta) const;
  ops::Variable Power(const Builder& b, int which) const;

  const AdamOptions options_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_OPTIMIZERS_ADAM_OPTIMIZER_H_
