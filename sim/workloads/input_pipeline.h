// An input pipeline: a queue of the numbers 0, 1, ..., limit - 1, filled by a queue runner; each step takes one and
// learns from it; the training ends cleanly when the numbers do (OUT_OF_RANGE).
//
//   VIGIL_ASSIGN_OR_RETURN(const InputPipeline model, BuildInputPipeline(env, b, replica, {.limit = 1000}));
//   while (...) session.Run(model.train_op);     // until OUT_OF_RANGE
//
// A step takes k and moves the variable `mean` towards k / limit by gradient descent; it adds k to `sum` and one to the
// global step. So the end can be checked: by one replica from its beginning to its end, and each number once, `sum` is
// limit (limit - 1) / 2, and `mean` what the same arithmetic gives in plain C++. The counter that gives the numbers is
// a local variable of who fills the queue.
//
// A step may take several: then it learns from their mean, adds their sum, and counts as one.
// Thread safety: plain values; building is as safe as the graph.
#ifndef VIGIL_SIM_WORKLOADS_INPUT_PIPELINE_H_
#define VIGIL_SIM_WORKLOADS_INPUT_PIPELINE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/sim/workloads/replica.h"

namespace vigil::sim {

inline constexpr float kInputPipelineRate = 0.05F;
// The name by which servers know the first of two queues, whose elements no step takes.
inline constexpr std::string_view kFirstInputQueue = "input/files";

struct InputPipelineOptions {
  std::int64_t limit = 100;
  std::int64_t capacity = 16;  // of each queue, beside what one that shuffles keeps until it is closed
  // One queue for all replicas, with the global step, instead of one for each. Who `fills` it has the queue runner.
  bool shared = false;
  bool fills = true;
  std::int64_t batch = 1;  // that a step takes
  bool rest = false;       // the last step takes what is left; else what is less than a batch stays in the queue
  bool shuffled = false;   // the queue that steps take from; the same order each time
  // The counter fills a queue whose elements a second queue runner puts into the one that steps take from, by way of
  // the server of the global step. Both queues outlive their session.
  bool staged = false;
};

struct InputPipeline {
  Output global_step;
  ops::Variable mean;  // float
  ops::Variable sum;   // int64
  Output number;       // what this step took; of several the first
  Output numbers;      // all of them: a scalar, or of a batch a vector
  Output loss;         // of this step: (mean - k / limit)^2
  Output train_op;
  Output queue;
  // What fills `queue`; in kQueueRunners already, as is what fills the first of two. Null if another replica fills it.
  QueueRunnerPtr queue_runner;
};

absl::StatusOr<InputPipeline> BuildInputPipeline(const Env& env, Builder& b, const Replica& replica,
                                                 const InputPipelineOptions& options = {});

// What `mean` is after those numbers in that order, in the order of the graph's operations.
float MeanAfter(const std::vector<std::int64_t>& numbers, std::int64_t limit);
// The mean loss of all numbers below the limit, in double precision.
double LossOf(float mean, std::int64_t limit);
inline std::int64_t SumOfAll(std::int64_t limit) { return limit * (limit - 1) / 2; }

}  // namespace vigil::sim

#endif  // VIGIL_SIM_WORKLOADS_INPUT_PIPELINE_H_
