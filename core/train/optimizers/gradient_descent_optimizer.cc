#include "vigil/core/train/optimizers/gradient_descent_optimizer.h"

namespace vigil {

NodeId GradientDescentOptimizer::Dense(const Update& update, Output gradient) {
  const Output rate = update.Number(0);
  return update.Op("ApplyGradientDescent", {update.variable, rate, gradient}, Locking()).node;
}

NodeId GradientDescentOptimizer::Sparse(const Update& update, Output values, Output indices) {
  const Output delta = update.Op("Mul", {values, update.Number(0)});
  return update.Op("ScatterSub", {update.variable, indices, delta}, Locking()).node;
}

}  // namespace vigil
