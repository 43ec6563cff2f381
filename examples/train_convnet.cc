// Two convolutions and a layer learn to read drawn digits. Started again, it goes on from its newest checkpoint: here a
// network that has been trained only says how well it reads.
//
//   example_train_convnet /tmp/model
#include <cstdint>
#include <cstdio>
#include <string>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/hooks/logging_tensor_hook.h"
#include "vigil/core/train/optimizers/momentum_optimizer.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/examples/network.h"
#include "vigil/examples/regression.h"

namespace vigil::examples {
namespace {

std::string folder;

constexpr std::int64_t kSteps = 200;
constexpr std::int64_t kBatch = 32;

Output TwoConvolutions(Builder& b, Output images) {
  const Output pooled = ConvAndPool(b, "conv2", ConvAndPool(b, "conv1", images, 1, 8), 8, 16);
  constexpr std::int64_t kLeft = kDigitSide / 4 * (kDigitSide / 4) * 16;
  const Output flat = b.Op("Reshape", {pooled, b.Const("flat", Tensor::Vector<std::int32_t>({-1, kLeft}))});
  return Dense(b, "out", flat, kLeft, 10);
}

absl::Status Train(const Env& env) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  VIGIL_ASSIGN_OR_RETURN(const Output step, GetOrCreateGlobalStep(env, b));
  const Classifier model = MakeClassifier(b, TwoConvolutions);
  MomentumOptimizer optimizer({.learning_rate = 0.02, .momentum = 0.9});
  VIGIL_ASSIGN_OR_RETURN(const Output train, optimizer.Minimize(b, model.loss, step));

  const Digits digits = DrawDigits(1, 4000);
  const Digits unseen = DrawDigits(2, 500);
  const auto feeds = [&model](const Digits& fed) {
    return Feeds{{model.images, fed.images}, {model.labels, fed.labels}};
  };
  VIGIL_ASSIGN_OR_RETURN(
      auto log, LoggingTensorHook::Create(env, {.tensors = TaggedTensors{{"loss", model.loss}}, .every_n_iter = 50}));
  VIGIL_ASSIGN_OR_RETURN(auto session,
                         MonitoredTrainingSession(env, graph, {.checkpoint_dir = folder, .hooks = {log}}));
  return WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
    VIGIL_ASSIGN_OR_RETURN(const RunResult before, s.RunWithoutHooks(step));
    const auto first = before.values().scalar<std::int64_t>();
    for (std::int64_t i = first; i < kSteps; ++i) {
      VIGIL_RETURN_IF_ERROR(s.Run(train, feeds(BatchOf(digits, i, kBatch))).status());
    }
    VIGIL_ASSIGN_OR_RETURN(const RunResult result, s.RunWithoutHooks(model.accuracy, feeds(unseen)));
    std::printf("trained from step %lld: %.1f %% of the unseen digits are read\n", static_cast<long long>(first),
                100.0 * result.values().scalar<float>());
    return absl::OkStatus();
  });
}

}  // namespace
}  // namespace vigil::examples

int main(int argc, char** argv) {
  if (argc > 1) vigil::examples::folder = argv[1];
  return vigil::examples::Main(vigil::examples::Train);
}
