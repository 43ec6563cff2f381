#include "vigil/core/train/optimizers/momentum_optimizer.h"

namespace vigil {

NodeId MomentumOptimizer::Dense(const Update& update, Output gradient) {
  const Output rate = update.Number(0);
  return update.Change("ApplyMomentum", {update.variable, update.slots[0].ref, rate, gradient, update.Number(1)},
                       Locking({{"use_nesterov", options_.use_nesterov}}));
}

NodeId MomentumOptimizer::Sparse(const Update& update, Output values, Output indices) {
  const Output rate = update.Number(0);
  return update.Change("SparseApplyMomentum",
                       {update.variable, update.slots[0].ref, rate, values, indices, update.Number(1)},
                       Locking({{"use_nesterov", options_.use_nesterov}}));
}

}  // namespace vigil
