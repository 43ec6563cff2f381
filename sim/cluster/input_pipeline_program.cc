#include <algorithm>

#include "vigil/core/base/status_macros.h"
#include "vigil/sim/cluster/programs.h"
#include "vigil/sim/workloads/input_pipeline.h"

namespace vigil::sim {

// No step is the last one: the input ends. All replicas together take about as many numbers as other jobs make steps;
// one whose session was lost begins its input anew, if it is its own.
absl::Status TrainOnInput(const TrainerParts& parts) {
  const bool shared = parts.job.workload.shared_input;
  const Replica replica = ReplicaOf(parts);
  const std::int64_t inputs = shared ? 1 : ReplicasOf(parts.job);
  const std::int64_t numbers = std::max<std::int64_t>(1, LastStepOf(parts) / inputs);
  Program program;
  Builder b(program.graph);
  VIGIL_ASSIGN_OR_RETURN(
      const InputPipeline model,
      BuildInputPipeline(parts.env, b, replica,
                         {.limit = numbers, .shared = shared, .fills = !shared || replica.IsChief()}));
  VIGIL_RETURN_IF_ERROR(b.status());
  program.global_step = model.global_step;
  program.element = model.number;
  AddLedger(parts, b, model.train_op, program);
  VIGIL_RETURN_IF_ERROR(b.status());
  program.hooks.push_back(parts.recorder.NewHook(model.global_step));
  return TrainMonitored(parts, program, [] { return Feeds(); });
}

}  // namespace vigil::sim
