// Learning rates that change with the global step: a float scalar of the graph, to be given to an optimizer.
//
//   const Output rate = ExponentialDecay(b, step, {.learning_rate = 0.1, .decay_steps = 1000, .decay_rate = 0.5});
//   AdamOptimizer optimizer({.learning_rate = rate});
//
// `global_step`: the variable, of either kind, or a value, of any numeric type; read in each run. Errors stick to the
// builder.
// Thread safety: as the graph's. Source: learning_rate_decay.py, learning_rate_schedule.py.
#ifndef VIGIL_CORE_TRAIN_OPTIMIZERS_LEARNING_RATE_DECAY_H_
#define VIGIL_CORE_TRAIN_OPTIMIZERS_LEARNING_RATE_DECAY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "vigil/core/graph/builder.h"
#include "vigil/core/train/optimizers/slot_optimizer.h"

namespace vigil {

struct DecayOptions {
  HyperParameter learning_rate = 0;
  HyperParameter decay_steps = 1;
  HyperParameter decay_rate = 1;
  bool staircase = false;  // in whole periods of decay_steps
  std::string name = "";   // of the nodes' scope; none: TensorFlow's
};

// learning_rate * decay_rate ^ (step / decay_steps).
Output ExponentialDecay(Builder& b, Output global_step, const DecayOptions& options);
// learning_rate * e ^ (-decay_rate * step / decay_steps). As TensorFlow's: a power of e ^ -decay_rate.
Output NaturalExpDecay(Builder& b, Output global_step, const DecayOptions& options);
// learning_rate / (1 + decay_rate * step / decay_steps).
Output InverseTimeDecay(Builder& b, Output global_step, const DecayOptions& options);

struct PolynomialDecayOptions {
  HyperParameter learning_rate = 0;
  HyperParameter decay_steps = 1;
  HyperParameter end_learning_rate = 0.0001F;
  HyperParameter power = 1;
  bool cycle = false;  // when the end is reached, the period gets longer and the rate goes up again
  std::string name = "PolynomialDecay";
};
// (learning_rate - end_learning_rate) * (1 - step / decay_steps) ^ power + end_learning_rate; the end from decay_steps.
Output PolynomialDecay(Builder& b, Output global_step, const PolynomialDecayOptions& options);

struct CosineDecayOptions {
  HyperParameter learning_rate = 0;
  HyperParameter decay_steps = 1;
  HyperParameter alpha = 0;  // what is left in the end, as a part of the learning rate
  std::string name = "CosineDecay";
};
Output CosineDecay(Builder& b, Output global_step, const CosineDecayOptions& options);

// values[i] for steps above boundaries[i - 1] and up to boundaries[i]. USAGE unless boundaries ascend and there is one
// value more.
Output PiecewiseConstant(Builder& b, Output global_step, const std::vector<std::int64_t>& boundaries,
                         const std::vector<float>& values, const std::string& name = "PiecewiseConstant");

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_OPTIMIZERS_LEARNING_RATE_DECAY_H_
