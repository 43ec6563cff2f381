#include "vigil/core/train/optimizers/rms_prop_optimizer.h"

namespace vigil {

std::vector<SlotOptimizer::Number> RmsPropOptimizer::Numbers() const {
  return {{"learning_rate", options_.learning_rate},
          {"decay", options_.decay},
          {"momentum", options_.momentum},
          {"epsilon", options_.epsilon}};
}

std::vector<SlotOptimizer::Slot> RmsPropOptimizer::Slots() const {
  std::vector<Slot> slots{{"rms", 1}};
  if (options_.centered) slots.push_back({"mg"});
  slots.push_back({"momentum"});
  return slots;
}

NodeId RmsPropOptimizer::Apply(const Update& update, const std::string& op, const std::vector<Output>& gradient) const {
  const auto slot = [&update](std::size_t i) { return update.slots[i].ref; };
  std::vector<Output> inputs{update.variable};
  if (options_.centered) {
    inputs.insert(inputs.end(), {slot(1), slot(0), slot(2)});
  } else {
    inputs.insert(inputs.end(), {slot(0), slot(1)});
  }
  for (std::size_t i = 0; i < 4; ++i) inputs.push_back(update.Number(i));
  inputs.insert(inputs.end(), gradient.begin(), gradient.end());
  return update.Change(op, inputs, Locking());
}

NodeId RmsPropOptimizer::Dense(const Update& update, Output gradient) {
  return Apply(update, options_.centered ? "ApplyCenteredRMSProp" : "ApplyRMSProp", {gradient});
}

NodeId RmsPropOptimizer::Sparse(const Update& update, Output values, Output indices) {
  return Apply(update, options_.centered ? "SparseApplyCenteredRMSProp" : "SparseApplyRMSProp", {values, indices});
}

}  // namespace vigil
