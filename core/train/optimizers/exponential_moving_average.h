// tf.train.ExponentialMovingAverage: a smoothed copy of each variable, which is often the better model.
//
//   ExponentialMovingAverage average({.decay = 0.999});
//   b.control_inputs = {train_op.node};           // after each update
//   const Output op = average.Apply(b, {w.ref, bias.ref});
//
// A run of `op`: average -= (1 - decay) * (average - variable). The averages are global variables
// "<variable>/ExponentialMovingAverage", which begin with the variables' initial values, so they are saved and
// restored; no optimizer trains them.
// Thread safety: as the graph's. Source: moving_averages.py.
#ifndef VIGIL_CORE_TRAIN_OPTIMIZERS_EXPONENTIAL_MOVING_AVERAGE_H_
#define VIGIL_CORE_TRAIN_OPTIMIZERS_EXPONENTIAL_MOVING_AVERAGE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/optimizers/slot_optimizer.h"

namespace vigil {

struct ExponentialMovingAverageOptions {
  HyperParameter decay = 0.999F;
  // The decay is at most (1 + num_updates) / (10 + num_updates), so that the average moves faster in the beginning.
  std::optional<Output> num_updates = std::nullopt;
  std::string name = "ExponentialMovingAverage";
};

class ExponentialMovingAverage {
 public:
  explicit ExponentialMovingAverage(ExponentialMovingAverageOptions options) : options_(std::move(options)) {}

  // Makes the averages that are not there yet, and an op that updates all of these. What cannot be averaged fails the
  // builder: USAGE for what is no variable of MakeVariable's, or has no floating-point type.
  Output Apply(Builder& b, const std::vector<Output>& variables);
  // The average of a variable of the graph that Apply() was given last: its reference. nullopt: none was made.
  std::optional<Output> Average(Output variable) const;
  // The name that it has, or would have.
  std::string AverageName(const Graph& graph, Output variable) const;

 private:
  // Forgets what belongs to another graph.
  void EnterGraph(const Graph& graph);

  const ExponentialMovingAverageOptions options_;
  Graph::Identity graph_;
  std::map<Output, ops::Variable> averages_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_OPTIMIZERS_EXPONENTIAL_MOVING_AVERAGE_H_
