// tf.train.RMSPropOptimizer: gradients over the root of a moving average of their squares; centered: of their variance.
// Slots: "rms", "momentum"; centered: also "mg". Thread safety: as the graph's. Source: rmsprop.py.
#ifndef VIGIL_CORE_TRAIN_OPTIMIZERS_RMS_PROP_OPTIMIZER_H_
#define VIGIL_CORE_TRAIN_OPTIMIZERS_RMS_PROP_OPTIMIZER_H_

#include <string>
#include <utility>
#include <vector>

#include "vigil/core/train/optimizers/slot_optimizer.h"

namespace vigil {

struct RmsPropOptions {
  HyperParameter learning_rate = 0;
  HyperParameter decay = 0.9F;
  HyperParameter momentum = 0;
  HyperParameter epsilon = 1e-10F;
  bool use_locking = false;
  bool centered = false;
  std::string name = "RMSProp";
};

class RmsPropOptimizer : public SlotOptimizer {
 public:
  explicit RmsPropOptimizer(RmsPropOptions options)
      : SlotOptimizer(options.name, options.use_locking), options_(std::move(options)) {}

 protected:
  std::vector<Number> Numbers() const override;
  std::vector<Slot> Slots() const override;
  NodeId Dense(const Update& update, Output gradient) override;
  NodeId Sparse(const Update& update, Output values, Output indices) override;

 private:
  NodeId Apply(const Update& update, const std::string& op, const std::vector<Output>& gradient) const;

  const RmsPropOptions options_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_OPTIMIZERS_RMS_PROP_OPTIMIZER_H_
