#include "vigil/core/train/optimizers/adagrad_optimizer.h"

#include <fmt/format.h>

#include "vigil/core/base/code.h"

namespace vigil {

absl::Status AdagradOptimizer::Check() const {
  if (options_.initial_accumulator_value > 0) return absl::OkStatus();
  return UsageError(fmt::format("initial_accumulator_value must be positive: {}", options_.initial_accumulator_value));
}

NodeId AdagradOptimizer::Dense(const Update& update, Output gradient) {
  const Output rate = update.Number(0);
  return update.Change("ApplyAdagrad", {update.variable, update.slots[0].ref, rate, gradient}, Locking());
}

NodeId AdagradOptimizer::Sparse(const Update& update, Output values, Output indices) {
  const Output rate = update.Number(0);
  return update.Change("SparseApplyAdagrad", {update.variable, update.slots[0].ref, rate, values, indices}, Locking());
}

}  // namespace vigil
