// A linear model of five features, learned from noisy samples that are fed: the loss's derivatives are the graph's
// business (Minimize), the learning rate decays. It says what it has learned beside what is true.
//
//   example_train_linear /tmp/model
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "vigil/core/base/splitmix64.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/hooks/stop_at_step_hook.h"
#include "vigil/core/train/optimizers/gradient_descent_optimizer.h"
#include "vigil/core/train/optimizers/learning_rate_decay.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/examples/regression.h"

namespace vigil::examples {
namespace {

std::string folder;

constexpr std::size_t kFeatures = 5;
constexpr std::size_t kBatch = 32;
constexpr std::array<float, kFeatures> kTrue = {3, -2, 0.5F, 0, 1};

struct Samples {
  Tensor x{DType::kFloat, Shape({kBatch, kFeatures})};
  Tensor y{DType::kFloat, Shape({kBatch, 1})};
};

Samples Measure(SplitMix64& random) {
  const auto number = [&random] { return static_cast<float>(random.Below(2001)) / 1000 - 1; };
  Samples out;
  float* x = out.x.mutable_flat<float>().data();
  for (float& y : out.y.mutable_flat<float>()) {
    y = 0.1F * number();
    for (const float weight : kTrue) y += weight * (*x++ = number());
  }
  return out;
}

absl::Status Train(const Env& env) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  VIGIL_ASSIGN_OR_RETURN(const Output step, GetOrCreateGlobalStep(env, b));
  const Output x = ops::Placeholder(b, "x", DType::kFloat);
  const Output y = ops::Placeholder(b, "y", DType::kFloat);
  const Tensor zeros(DType::kFloat, Shape({kFeatures, 1}));
  const ops::Variable weights = ops::MakeVariable(b, "weights", b.Const("zeros", zeros));
  const Output error = b.Op("Sub", {b.Op("MatMul", {x, weights.read}), y});
  const Output axes = b.Const("axes", Tensor::Vector<std::int32_t>({0, 1}));
  const Output loss = b.Op("Mean", {b.Op("Square", {error}), axes}, {.name = "loss"});
  VIGIL_RETURN_IF_ERROR(b.status());
  const Output rate = ExponentialDecay(b, step, {.learning_rate = 0.3F, .decay_steps = 100.0F, .decay_rate = 0.5F});
  GradientDescentOptimizer optimizer({.learning_rate = rate});
  VIGIL_ASSIGN_OR_RETURN(const Output train, optimizer.Minimize(b, loss, step));

  VIGIL_ASSIGN_OR_RETURN(auto stop, StopAtStepHook::Create(env, {.last_step = 300}));
  VIGIL_ASSIGN_OR_RETURN(auto session,
                         MonitoredTrainingSession(env, graph, {.checkpoint_dir = folder, .hooks = {stop}}));
  SplitMix64 random(1);
  RunResult result;
  Tensor learned;
  VIGIL_RETURN_IF_ERROR(WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
    while (true) {
      VIGIL_ASSIGN_OR_RETURN(const bool stops, s.ShouldStop());
      if (stops) return absl::OkStatus();
      const Samples samples = Measure(random);
      VIGIL_RETURN_IF_ERROR(s.RunInto(&result, Fetches::List({train, weights.ref}), {{x, samples.x}, {y, samples.y}}));
      learned = result.values()[1].tensor();
    }
  }));
  if (!learned.valid()) {
    std::printf("nothing is left to train in %s\n", folder.c_str());
    return absl::OkStatus();
  }
  for (std::size_t i = 0; i < kFeatures; ++i) {
    std::printf("weight %zu: %.1f (%.1f)\n", i, learned.flat<float>()[i] + 0.0F, kTrue[i]);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace vigil::examples

int main(int argc, char** argv) {
  if (argc > 1) vigil::examples::folder = argv[1];
  return vigil::examples::Main(vigil::examples::Train);
}
