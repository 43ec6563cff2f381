// RunStepFn: a step that looks at the model without hooks first, and then trains with them or ends the iterations. When
// the run is preempted the whole function is called again, with the new session.
#include <cstdio>
#include <memory>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/examples/regression.h"

namespace vigil::examples {
namespace {

absl::Status Train(const Env& env) {
  Graph graph(BuiltinOps());
  VIGIL_ASSIGN_OR_RETURN(const Regression model, BuildRegression(env, graph));
  VIGIL_ASSIGN_OR_RETURN(auto session, MonitoredSession::Create(env, graph, {}));
  int steps = 0;
  const auto step = [&](StepContext& context) -> absl::Status {
    VIGIL_ASSIGN_OR_RETURN(const Tensor loss, RunFetch(context.session(), model.loss));
    if (loss.scalar<float>() < 1e-4F) return context.RequestStop();
    ++steps;
    return context.RunWithHooks(model.train).status();
  };
  VIGIL_RETURN_IF_ERROR(WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
    while (true) {
      VIGIL_ASSIGN_OR_RETURN(const bool stop, s.ShouldStop());
      if (stop) return absl::OkStatus();
      VIGIL_RETURN_IF_ERROR(s.RunStepFn(step));
    }
  }));
  std::printf("stopped after %d steps\n", steps);
  return absl::OkStatus();
}

}  // namespace
}  // namespace vigil::examples

int main() { return vigil::examples::Main(vigil::examples::Train); }
