// A chief and a worker in one process: the worker waits until the chief has initialised the variables, which both
// share, and then trains beside it until the global step is 200.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/resource.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/hooks/stop_at_step_hook.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/examples/regression.h"

namespace vigil::examples {
namespace {

constexpr std::int64_t kLastStep = 200;

struct Replica {
  bool is_chief = false;
  std::shared_ptr<SessionFactory> factory;
  std::int64_t step = 0;  // the global step after the last one that it made
  float weight = 0;
  float bias = 0;
  absl::Status status;
};

// Each replica has a graph and a session of its own; the variables are the factory's.
absl::Status TrainReplica(const Env& env, Replica& replica) {
  Graph graph(BuiltinOps());
  VIGIL_ASSIGN_OR_RETURN(const Regression model, BuildRegression(env, graph));
  VIGIL_ASSIGN_OR_RETURN(auto stop, StopAtStepHook::Create(env, {.last_step = kLastStep}));
  VIGIL_ASSIGN_OR_RETURN(auto session,
                         MonitoredTrainingSession(
                             env, graph, {.is_chief = replica.is_chief, .hooks = {stop}, .factory = replica.factory}));
  const Fetches train = Fetches::List({model.train, model.weight, model.bias});
  return WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
    RunResult result;
    while (true) {
      VIGIL_ASSIGN_OR_RETURN(const bool stops, s.ShouldStop());
      if (stops) return absl::OkStatus();
      VIGIL_RETURN_IF_ERROR(s.RunInto(&result, train));
      replica.step = result.values()[0].scalar<std::int64_t>();
      replica.weight = result.values()[1].scalar<float>();
      replica.bias = result.values()[2].scalar<float>();
    }
  });
}

absl::Status Train(const Env& env) {
  const auto factory = std::make_shared<DirectSessionFactory>(
      env, DirectSessionOptions{.shared_resources = std::make_shared<ResourceManager>(env)});
  Replica chief{.is_chief = true, .factory = factory};
  Replica worker{.factory = factory};
  const auto task = env.tasks->Spawn("worker", [&] { worker.status = TrainReplica(env, worker); });
  chief.status = TrainReplica(env, chief);
  task->Join(kNever);
  if (!chief.status.ok()) return chief.status;
  if (!worker.status.ok()) return worker.status;
  // Either may have made the last step, or all of them.
  const Replica& last = chief.step > worker.step ? chief : worker;
  PrintModel(last.weight, last.bias);
  return absl::OkStatus();
}

}  // namespace
}  // namespace vigil::examples

int main() { return vigil::examples::Main(vigil::examples::Train); }
