// Training that TensorFlow has begun goes on here: the graph comes from the ".meta" that TensorFlow has written beside
// its newest checkpoint, the values from the checkpoint. The folder is then that of a training as any other: it is
// saved to, and TensorFlow could go on from there.
//
//   cp -r examples/tensorflow/model /tmp/model
//   example_resume_from_tensorflow /tmp/model
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/checkpoint_state.h"
#include "vigil/core/checkpoint/saver_meta_graph.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/optimizers/optimizer.h"
#include "vigil/core/train/scaffold.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/examples/regression.h"

namespace vigil::examples {
namespace {

std::string folder = ".";

constexpr std::int64_t kLastStep = 60;

absl::Status Resume(const Env& env) {
  VIGIL_ASSIGN_OR_RETURN(const std::optional<std::string> newest, LatestCheckpoint(env, folder));
  if (!newest.has_value()) return UsageError("There is no checkpoint in " + folder);
  Graph graph(BuiltinOps());
  VIGIL_ASSIGN_OR_RETURN(const SaverPtr saver, ImportMetaGraphFile(env, *newest + ".meta", graph));
  const std::optional<Output> loss = graph.FindOutput("loss:0");
  const std::vector<Output>& train = graph.Collection(kTrainOp);
  if (!loss.has_value() || train.empty()) return UsageError("The graph of " + *newest + " trains nothing.");

  const auto scaffold = std::make_shared<Scaffold>(env, graph, ScaffoldOptions{.saver = saver});
  VIGIL_ASSIGN_OR_RETURN(auto session,
                         MonitoredTrainingSession(env, graph, {.checkpoint_dir = folder, .scaffold = scaffold}));
  const Fetches wanted = Fetches::List({Fetches::Op(train[0].node), *loss});
  return WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
    VIGIL_ASSIGN_OR_RETURN(const RunResult before, s.RunWithoutHooks(Fetches::Named("global_step:0")));
    for (std::int64_t step = before.values().scalar<std::int64_t>() + 1; step <= kLastStep; ++step) {
      VIGIL_ASSIGN_OR_RETURN(const RunResult result, s.Run(wanted));
      std::printf("step %lld: loss %.5g\n", static_cast<long long>(step), result.values()[1].scalar<float>());
    }
    const Fetches model = Fetches::List({Fetches::Named("weight:0"), Fetches::Named("bias:0")});
    VIGIL_ASSIGN_OR_RETURN(const RunResult learned, s.RunWithoutHooks(model));
    PrintModel(learned.values()[0].scalar<float>(), learned.values()[1].scalar<float>());
    return absl::OkStatus();
  });
}

}  // namespace
}  // namespace vigil::examples

int main(int argc, char** argv) {
  if (argc > 1) vigil::examples::folder = argv[1];
  return vigil::examples::Main(vigil::examples::Resume);
}
