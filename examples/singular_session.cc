// SingularMonitoredSession: no recovery, so the raw session can be used beside the hooks.
#include <cstdio>
#include <memory>
#include <string>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/hooks/stop_at_step_hook.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/examples/regression.h"

namespace vigil::examples {
namespace {

absl::Status Train(const Env& env) {
  Graph graph(BuiltinOps());
  VIGIL_ASSIGN_OR_RETURN(const Regression model, BuildRegression(env, graph));
  VIGIL_ASSIGN_OR_RETURN(auto stop, StopAtStepHook::Create(env, {.num_steps = 60}));
  VIGIL_ASSIGN_OR_RETURN(auto session, SingularMonitoredSession::Create(env, graph, {.hooks = {stop}}));
  return WithSession(*session, [&](SingularMonitoredSession& s) -> absl::Status {
    for (absl::StatusOr<bool> stops = s.ShouldStop(); !stops.ok() || !*stops; stops = s.ShouldStop()) {
      VIGIL_RETURN_IF_ERROR(stops.status());
      VIGIL_RETURN_IF_ERROR(s.Run(model.train).status());
    }
    Session& raw = *s.raw_session();  // past the hooks
    VIGIL_ASSIGN_OR_RETURN(const std::int64_t step, ReadGlobalStep(raw, model.global_step));
    VIGIL_ASSIGN_OR_RETURN(const Tensor weight, RunFetch(raw, model.weight));
    VIGIL_ASSIGN_OR_RETURN(const Tensor bias, RunFetch(raw, model.bias));
    std::printf("after step %lld: ", static_cast<long long>(step));
    PrintModel(weight.scalar<float>(), bias.scalar<float>());
    return absl::OkStatus();
  });
}

}  // namespace
}  // namespace vigil::examples

int main() { return vigil::examples::Main(vigil::examples::Train); }
