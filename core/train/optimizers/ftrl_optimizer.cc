#include "vigil/core/train/optimizers/ftrl_optimizer.h"

#include <fmt/format.h>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {

absl::Status FtrlOptimizer::Check() const {
  const auto not_below = [](const char* name, double value) {
    if (value >= 0) return absl::OkStatus();
    return UsageError(fmt::format("{} {:f} needs to be positive or zero", name, value));
  };
  VIGIL_RETURN_IF_ERROR(not_below("initial_accumulator_value", options_.initial_accumulator_value));
  if (options_.learning_rate_power > 0) {
    return UsageError(
        fmt::format("learning_rate_power {:f} needs to be negative or zero", options_.learning_rate_power));
  }
  VIGIL_RETURN_IF_ERROR(not_below("l1_regularization_strength", options_.l1_regularization_strength));
  VIGIL_RETURN_IF_ERROR(not_below("l2_regularization_strength", options_.l2_regularization_strength));
  return not_below("l2_shrinkage_regularization_strength", options_.l2_shrinkage_regularization_strength);
}

std::vector<SlotOptimizer::Number> FtrlOptimizer::Numbers() const {
  std::vector<Number> numbers{{"learning_rate", options_.learning_rate},
                              {"l1_regularization_strength", options_.l1_regularization_strength},
                              {"adjusted_l2_regularization_strength", options_.l2_regularization_strength}};
  if (options_.l2_shrinkage_regularization_strength > 0) {
    numbers.push_back({"l2_shrinkage_regularization_strength", options_.l2_shrinkage_regularization_strength});
  }
  numbers.push_back({"learning_rate_power", options_.learning_rate_power});
  return numbers;
}

NodeId FtrlOptimizer::Apply(const Update& update, const std::string& op, const std::vector<Output>& gradient) const {
  std::vector<Output> inputs{update.variable, update.slots[0].ref, update.slots[1].ref};
  inputs.insert(inputs.end(), gradient.begin(), gradient.end());
  for (std::size_t i = 0; i < update.numbers.size(); ++i) inputs.push_back(update.Number(i));
  const bool shrinks = options_.l2_shrinkage_regularization_strength > 0;
  return update.Change(shrinks ? op + "V2" : op, inputs, Locking());
}

NodeId FtrlOptimizer::Dense(const Update& update, Output gradient) { return Apply(update, "ApplyFtrl", {gradient}); }

NodeId FtrlOptimizer::Sparse(const Update& update, Output values, Output indices) {
  return Apply(update, "SparseApplyFtrl", {values, indices});
}

}  // namespace vigil
