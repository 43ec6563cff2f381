// MonitoredTrainingSession doing real work: trains to step 100, saves every 20 steps into the folder that it is given,
// and goes on from the newest checkpoint when it is started again. With a second argument it dies at that step, as if
// it had been killed:
//
//   example_linear_regression /tmp/model 50; example_linear_regression /tmp/model
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/hooks/logging_tensor_hook.h"
#include "vigil/core/train/hooks/stop_at_step_hook.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/examples/regression.h"

namespace vigil::examples {
namespace {

std::string folder;               // of the checkpoints; "" = none are kept
std::int64_t step_to_die_at = 0;  // 0 = none

absl::Status Train(const Env& env) {
  Graph graph(BuiltinOps());
  VIGIL_ASSIGN_OR_RETURN(const Regression model, BuildRegression(env, graph));
  VIGIL_ASSIGN_OR_RETURN(auto stop, StopAtStepHook::Create(env, {.last_step = 100}));
  VIGIL_ASSIGN_OR_RETURN(auto session, MonitoredTrainingSession(env, graph,
                                                                {.checkpoint_dir = folder,
                                                                 .hooks = {stop},
                                                                 .save_checkpoint_steps = std::int64_t{20},
                                                                 .log_step_count_steps = std::nullopt}));
  const Fetches train = Fetches::List({model.train, model.loss, model.weight, model.bias});
  RunResult result;
  std::int64_t first = 0;
  VIGIL_RETURN_IF_ERROR(WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
    while (true) {
      VIGIL_ASSIGN_OR_RETURN(const bool stops, s.ShouldStop());
      if (stops) return absl::OkStatus();
      VIGIL_RETURN_IF_ERROR(s.RunInto(&result, train));
      const std::int64_t step = result.values()[0].scalar<std::int64_t>();
      if (first == 0) std::printf("first step %lld\n", static_cast<long long>(first = step));
      if (step == step_to_die_at) {
        std::fflush(stdout);
        std::_Exit(3);  // no destructor runs, no End of a hook
      }
    }
  }));
  if (first == 0) {
    std::printf("there is nothing left to do\n");
    return absl::OkStatus();
  }
  PrintModel(result.values()[2].scalar<float>(), result.values()[3].scalar<float>());
  return absl::OkStatus();
}

}  // namespace
}  // namespace vigil::examples

int main(int argc, char** argv) {
  if (argc > 1) vigil::examples::folder = argv[1];
  if (argc > 2) vigil::examples::step_to_die_at = std::atoll(argv[2]);
  return vigil::examples::Main(vigil::examples::Train);
}
