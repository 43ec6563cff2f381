#include <algorithm>

#include "vigil/core/base/status_macros.h"
#include "vigil/sim/cluster/programs.h"
#include "vigil/sim/workloads/input_pipeline.h"

namespace vigil::sim {

// No step is the last one: the input ends. All replicas together make about as many steps as other jobs, and of
// a batch less than one is left; one whose session was lost begins its input anew, if it is its own.
absl::Status TrainOnInput(const TrainerParts& parts) {
  const bool shared = parts.job.workload.shared_input;
  const Replica replica = ReplicaOf(parts);
  const std::int64_t inputs = shared ? 1 : ReplicasOf(parts.job);
  const std::int64_t steps = std::max<std::int64_t>(1, LastStepOf(parts) / inputs);
  // A step does not find all of a batch where elements come slowly, and few wait for it.
  const std::int64_t capacity = parts.job.workload.staged_input ? 1 : 16;
  const std::int64_t batch = parts.job.workload.input_batch;
  Program program(parts.ops);
  Builder b(program.graph);
  VIGIL_ASSIGN_OR_RETURN(const InputPipeline model, BuildInputPipeline(parts.env, b, replica,
                                                                       {.limit = steps * batch + batch - 1,
                                                                        .capacity = capacity,
                                                                        .shared = shared,
                                                                        .fills = !shared || replica.IsChief(),
                                                                        .batch = batch,
                                                                        .rest = parts.job.workload.input_rest,
                                                                        .shuffled = parts.job.workload.shuffled_input,
                                                                        .staged = parts.job.workload.staged_input}));
  VIGIL_RETURN_IF_ERROR(b.status());
  program.global_step = model.global_step;
  program.element = model.number;
  AddLedger(parts, b, model.train_op, program);
  VIGIL_RETURN_IF_ERROR(b.status());
  program.hooks.push_back(parts.recorder.NewHook(model.global_step));
  return TrainMonitored(parts, program, [] { return Feeds(); });
}

}  // namespace vigil::sim
