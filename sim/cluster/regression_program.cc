#include <utility>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/train/hooks/stop_at_step_hook.h"
#include "vigil/sim/cluster/programs.h"

namespace vigil::sim {

absl::Status TrainRegression(const TrainerParts& parts) {
  Program program(parts.ops);
  Builder b(program.graph);
  VIGIL_ASSIGN_OR_RETURN(const Regression model, AddRegression(parts, b, program));
  program.loss = model.loss;
  VIGIL_ASSIGN_OR_RETURN(
      HookPtr stop, StopAtStepHook::Create(parts.env, {.last_step = LastStepOf(parts), .behaviour = parts.behaviour}));
  if (model.sync_hook != nullptr) program.hooks.push_back(model.sync_hook);
  program.hooks.push_back(parts.recorder.NewHook(model.global_step));
  program.hooks.push_back(std::move(stop));
  RegressionData data = DataOf(parts);
  return TrainMonitored(parts, program, [&] { return model.Feed(data.Next(kJobBatch)); });
}

}  // namespace vigil::sim
