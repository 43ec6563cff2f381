// A perceptron with a hidden layer, trained in a few lines: a loss, an optimizer, a session that keeps checkpoints. It
// learns which of two rings a point lies on, and saves into the folder that it is given.
//
//   example_perceptron /tmp/model
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/hooks/stop_at_step_hook.h"
#include "vigil/core/train/optimizers/adam_optimizer.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/examples/network.h"
#include "vigil/examples/regression.h"

namespace vigil::examples {
namespace {

std::string folder;  // of the checkpoints

constexpr int kPoints = 200;
constexpr int kHidden = 16;

// Points on two rings, of radius 1 and 2, and which of them.
void MakeRings(Tensor& points, Tensor& labels) {
  for (std::size_t i = 0; i < kPoints; ++i) {
    const float angle = 0.1F * static_cast<float>(i);
    const float radius = i % 2 == 0 ? 1.0F : 2.0F;
    points.mutable_flat<float>()[2 * i] = radius * std::cos(angle);
    points.mutable_flat<float>()[2 * i + 1] = radius * std::sin(angle);
    labels.mutable_flat<std::int32_t>()[i] = static_cast<std::int32_t>(i % 2);
  }
}

absl::Status Train(const Env& env) {
  Tensor points(DType::kFloat, Shape({kPoints, 2}));
  Tensor labels(DType::kInt32, Shape({kPoints}));
  MakeRings(points, labels);

  Graph graph(BuiltinOps());
  Builder b(graph);
  VIGIL_ASSIGN_OR_RETURN(const Output step, GetOrCreateGlobalStep(env, b));
  const Output hidden = b.Op("Relu", {Dense(b, "hidden", b.Const("points", points), 2, kHidden)});
  const Output logits = Dense(b, "out", hidden, kHidden, 2);
  const Output losses = b.Op("SparseSoftmaxCrossEntropyWithLogits", {logits, b.Const("labels", labels)});
  const Output loss = b.Op("Mean", {losses, b.Const("axis", Tensor::Vector<std::int32_t>({0}))}, {.name = "loss"});
  AdamOptimizer optimizer({.learning_rate = 0.02});
  VIGIL_ASSIGN_OR_RETURN(const Output train, optimizer.Minimize(b, loss, step));

  VIGIL_ASSIGN_OR_RETURN(auto stop, StopAtStepHook::Create(env, {.last_step = 300}));
  VIGIL_ASSIGN_OR_RETURN(auto session,
                         MonitoredTrainingSession(env, graph, {.checkpoint_dir = folder, .hooks = {stop}}));
  float last = 0;
  VIGIL_RETURN_IF_ERROR(WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
    while (true) {
      VIGIL_ASSIGN_OR_RETURN(const bool stops, s.ShouldStop());
      if (stops) return absl::OkStatus();
      VIGIL_ASSIGN_OR_RETURN(const RunResult result, s.Run(Fetches::List({train, loss})));
      last = result.values()[1].scalar<float>();
    }
  }));
  std::printf("the rings are %s\n", last < 0.05F ? "told apart" : "mixed up");
  return absl::OkStatus();
}

}  // namespace
}  // namespace vigil::examples

int main(int argc, char** argv) {
  if (argc > 1) vigil::examples::folder = argv[1];
  return vigil::examples::Main(vigil::examples::Train);
}
