// Trains on servers, which may be other machines: processes `vigil-serve`. The variable is on the job ps, what computes
// on the master. A server that dies and comes again costs the steps since the last checkpoint.
//
//   vigil-serve --cluster 'ps=127.0.0.1:2222;worker=127.0.0.1:2223' --job ps &
//   vigil-serve --cluster 'ps=127.0.0.1:2222;worker=127.0.0.1:2223' --job worker &
//   example_train_on_servers grpc://127.0.0.1:2223 FOLDER [LAST_STEP]
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/client/cluster_session.h"
#include "vigil/core/env/grpc/grpc_network.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/hooks/stop_at_step_hook.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/examples/regression.h"

namespace vigil::examples {
namespace {

std::string master;
std::string folder;
std::int64_t last_step = 200;

absl::Status Train(const Env& machine) {
  VIGIL_ASSIGN_OR_RETURN(const std::unique_ptr<GrpcNetwork> network, GrpcNetwork::Create(machine, {}));
  Env env = machine;
  env.network = network.get();
  Graph graph(BuiltinOps());
  Builder b(graph);
  const DeviceScope on_ps(b, "/job:ps/task:0");
  VIGIL_ASSIGN_OR_RETURN(const Output step, GetOrCreateGlobalStep(env, b));
  const Output train = ops::AssignAdd(b, "train", step, b.Const("one", Tensor::Scalar<std::int64_t>(1)));
  VIGIL_RETURN_IF_ERROR(b.status());
  VIGIL_ASSIGN_OR_RETURN(auto stop, StopAtStepHook::Create(env, {.last_step = last_step}));
  MonitoredTrainingSessionOptions options{.master = master, .checkpoint_dir = folder, .hooks = {stop}};
  options.save_checkpoint_steps = 20;
  // A master that says nothing for so long is taken for dead; and it lets go of what this program holds, if that dies.
  options.config.keepalive = std::chrono::seconds(2);
  VIGIL_ASSIGN_OR_RETURN(auto session, MonitoredTrainingSession(env, graph, std::move(options)));
  std::int64_t trained = 0;
  VIGIL_RETURN_IF_ERROR(WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
    while (true) {
      VIGIL_ASSIGN_OR_RETURN(const bool stops, s.ShouldStop());
      if (stops) return absl::OkStatus();
      VIGIL_ASSIGN_OR_RETURN(const RunResult result, s.Run(train));
      trained = result.values().scalar<std::int64_t>();
    }
  }));
  std::printf("trained to step %lld\n", static_cast<long long>(trained));
  return absl::OkStatus();
}

}  // namespace
}  // namespace vigil::examples

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s MASTER FOLDER [LAST_STEP]    (grpc://host:port; for checkpoints; default: 200)\n",
                 argv[0]);
    return 2;
  }
  vigil::examples::master = argv[1];
  vigil::examples::folder = argv[2];
  if (argc > 3) vigil::examples::last_step = std::atoll(argv[3]);
  return vigil::examples::Main(vigil::examples::Train);
}
