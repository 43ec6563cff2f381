#include "vigil/core/train/optimizers/gradient_descent_optimizer.h"

namespace vigil {

NodeId GradientDescentOptimizer::Dense(const Update& update, Output gradient) {
  const Output rate = update.Number(0);
  return update.Change("ApplyGradientDescent", {update.variable, rate, gradient}, Locking());
}

NodeId GradientDescentOptimizer::Sparse(const Update& update, Output values, Output indices) {
  const Output delta = update.Op("Mul", {values, update.Number(0)});
  return update.Change("ScatterSub", {update.variable, indices, delta}, Locking());
}

}  // namespace vigil
