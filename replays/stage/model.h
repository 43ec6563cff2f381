// The small graph that every recorded session runs: a global step, a train op, a feedable value, and on request an
// input that ends, a loss that becomes NaN, a local variable, a summary. docs/scenario_format.md says what each field
// does.
#ifndef VIGIL_REPLAYS_STAGE_MODEL_H_
#define VIGIL_REPLAYS_STAGE_MODEL_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/train/fetches.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::replays {

struct Model {
  std::unique_ptr<Graph> graph;
  std::optional<Output> global_step;
  std::optional<Output> read;  // the value before the train op of the same run
  Output train;                // the value after it
  Output feed_me;
  Output fed;
  Output loss;
  std::optional<Output> base;  // the fed variable, and what its initial value is fed to
  Output base_value;
  // Adds what is fed to `bump` to the global step: other workers' progress.
  Output bump;
  NodeId bump_op = kNoNode;
  NodeId set_op = kNoNode;  // sets the global step to what is fed to `bump`
  Fetches caller_fetches;   // {step: train, fed: fed}
};

absl::StatusOr<std::unique_ptr<Model>> BuildModel(const Env& env, const ModelSpec& spec);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_STAGE_MODEL_H_
