// A training that is asked to end: SIGTERM (what schedulers send before they kill) ends it in good order, with a last
// checkpoint. Trains until then, or for so many runs as the second argument says:
//
//   example_sigterm /tmp/model & ... kill $!; example_sigterm /tmp/model 1
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/examples/regression.h"

namespace vigil::examples {
namespace {

std::string folder;          // of the checkpoints
std::int64_t most_runs = 0;  // 0 = until somebody asks

absl::Status Train(const Env& env) {
  Graph graph(BuiltinOps());
  VIGIL_ASSIGN_OR_RETURN(const Regression model, BuildRegression(env, graph));
  VIGIL_ASSIGN_OR_RETURN(auto session,
                         MonitoredTrainingSession(env, graph,
                                                  {.checkpoint_dir = folder,
                                                   .save_checkpoint_secs = Duration(std::chrono::hours(1)),
                                                   .save_summaries_steps = std::nullopt,
                                                   .log_step_count_steps = std::nullopt,
                                                   .stop_on_sigterm = true}));
  std::int64_t step = 0;
  VIGIL_RETURN_IF_ERROR(WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
    for (std::int64_t run = 0; most_runs == 0 || run < most_runs; ++run) {
      VIGIL_ASSIGN_OR_RETURN(const bool stops, s.ShouldStop());
      if (stops) return absl::OkStatus();
      VIGIL_ASSIGN_OR_RETURN(const RunResult result, s.Run(model.train));
      step = result.values().scalar<std::int64_t>();
      if (run > 0) continue;
      std::printf("first step %lld\n", static_cast<long long>(step));
      std::fflush(stdout);
    }
    return absl::OkStatus();
  }));
  std::printf("last step %lld\n", static_cast<long long>(step));
  return absl::OkStatus();
}

}  // namespace
}  // namespace vigil::examples

int main(int argc, char** argv) {
  if (argc > 1) vigil::examples::folder = argv[1];
  if (argc > 2) vigil::examples::most_runs = std::atoll(argv[2]);
  return vigil::examples::Main(vigil::examples::Train);
}
