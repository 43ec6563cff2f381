// Counts to three in a training session.
#include <vigil/core/env/real/real_env.h>
#include <vigil/core/graph/builder.h>
#include <vigil/core/ops/ops.h>
#include <vigil/core/train/training/monitored_training_session.h>
#include <vigil/core/train/training_util.h>

#include <cstdio>

int main() {
  vigil::RealEnv real;
  vigil::Graph graph(vigil::BuiltinOps());
  vigil::Builder b(graph);
  const auto step = vigil::GetOrCreateGlobalStep(real.env(), b);
  if (!step.ok()) return 1;
  const auto one = b.Const("one", vigil::Tensor::Scalar<std::int64_t>(1));
  const auto train = vigil::ops::AssignAdd(b, "train", *step, one);
  auto session = vigil::MonitoredTrainingSession(real.env(), graph);
  if (!session.ok()) return 1;
  for (int i = 0; i < 3; ++i) {
    const auto result = (*session)->Run(train);
    if (!result.ok()) return 1;
    std::printf("step %d\n", static_cast<int>(result->values().scalar<std::int64_t>()));
  }
  return (*session)->Close().ok() ? 0 : 1;
}
