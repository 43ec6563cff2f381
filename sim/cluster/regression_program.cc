#include <utility>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/train/hooks/stop_at_step_hook.h"
#include "vigil/sim/cluster/programs.h"

namespace vigil::sim {

absl::Status TrainRegression(const TrainerParts& parts) {
  Program program;
  Builder b(program.graph);
  VIGIL_ASSIGN_OR_RETURN(const Regression model,
                         BuildRegression(parts.env, b, ReplicaOf(parts), RegressionOptionsOf(parts)));
  VIGIL_RETURN_IF_ERROR(b.status());
  program.global_step = model.global_step;
  program.loss = model.loss;
  AddLedger(parts, b, model.train_op, program);
  VIGIL_RETURN_IF_ERROR(b.status());
  VIGIL_ASSIGN_OR_RETURN(
      HookPtr stop, StopAtStepHook::Create(parts.env, {.last_step = LastStepOf(parts), .behaviour = parts.behaviour}));
  if (model.sync_hook != nullptr) program.hooks.push_back(model.sync_hook);
  program.hooks.push_back(parts.recorder.NewHook(model.global_step));
  program.hooks.push_back(std::move(stop));
  RegressionData data = DataOf(parts);
  return TrainMonitored(parts, program, [&] { return model.Feed(data.Next(kJobBatch)); });
}

}  // namespace vigil::sim
