// tf.train.GradientDescentOptimizer: variable -= learning_rate * gradient, also of some rows alone.
//
// Thread safety: as the graph's. Source: gradient_descent.py, optimizer.py.
#ifndef VIGIL_CORE_TRAIN_OPTIMIZERS_GRADIENT_DESCENT_OPTIMIZER_H_
#define VIGIL_CORE_TRAIN_OPTIMIZERS_GRADIENT_DESCENT_OPTIMIZER_H_

#include <string>
#include <utility>
#include <vector>

#include "vigil/core/train/optimizers/slot_optimizer.h"

namespace vigil {

struct GradientDescentOptions {
  HyperParameter learning_rate = 0;
  bool use_locking = false;  // an attribute of the updates; here no update is ever lost
  std::string name = "GradientDescent";
};

class GradientDescentOptimizer : public SlotOptimizer {
 public:
  explicit GradientDescentOptimizer(GradientDescentOptions options)
      : SlotOptimizer(options.name, options.use_locking), options_(std::move(options)) {}

 protected:
  std::vector<Number> Numbers() const override { return {{"learning_rate", options_.learning_rate}}; }
  NodeId Dense(const Update& update, Output gradient) override;
  NodeId Sparse(const Update& update, Output values, Output indices) override;
  bool SumsRows() const override { return false; }  // a row that comes twice is subtracted twice

 private:
  const GradientDescentOptions options_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_OPTIMIZERS_GRADIENT_DESCENT_OPTIMIZER_H_
