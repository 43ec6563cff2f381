// A network with one hidden layer learns to read drawn digits, and is asked about others that it has not seen. Batches
// are fed, checkpoints and summaries go into the folder that it is given.
//
//   example_train_mlp /tmp/model
#include <cstdint>
#include <cstdio>
#include <string>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/optimizers/adam_optimizer.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/examples/network.h"
#include "vigil/examples/regression.h"

namespace vigil::examples {
namespace {

std::string folder;

constexpr std::int64_t kSteps = 400;
constexpr std::int64_t kBatch = 50;

absl::Status Train(const Env& env) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  VIGIL_ASSIGN_OR_RETURN(const Output step, GetOrCreateGlobalStep(env, b));
  const Classifier model = MakeClassifier(b, TwoLayers);
  ops::ScalarSummary(b, "loss_summary", "loss", model.loss);
  AdamOptimizer optimizer({.learning_rate = 0.002});
  VIGIL_ASSIGN_OR_RETURN(const Output train, optimizer.Minimize(b, model.loss, step));

  const Digits digits = DrawDigits(1, 4000);
  const Digits unseen = DrawDigits(2, 500);
  const auto feeds = [&model](const Digits& fed) {
    return Feeds{{model.images, fed.images}, {model.labels, fed.labels}};
  };
  VIGIL_ASSIGN_OR_RETURN(auto session, MonitoredTrainingSession(env, graph, {.checkpoint_dir = folder}));
  return WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
    for (std::int64_t i = 0; i < kSteps; ++i) {
      VIGIL_RETURN_IF_ERROR(s.Run(train, feeds(BatchOf(digits, i, kBatch))).status());
    }
    VIGIL_ASSIGN_OR_RETURN(const RunResult result, s.RunWithoutHooks(model.accuracy, feeds(unseen)));
    std::printf("%.1f %% of the unseen digits are read\n", 100.0 * result.values().scalar<float>());
    return absl::OkStatus();
  });
}

}  // namespace
}  // namespace vigil::examples

int main(int argc, char** argv) {
  if (argc > 1) vigil::examples::folder = argv[1];
  return vigil::examples::Main(vigil::examples::Train);
}
