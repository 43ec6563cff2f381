// Halves a weight until it is small enough; what it has learnt is kept in the folder that it is given.
#include <vigil/core/base/status_macros.h>
#include <vigil/core/env/real/real_env.h>
#include <vigil/core/graph/builder.h>
#include <vigil/core/ops/ops.h>
#include <vigil/core/train/training/monitored_training_session.h>
#include <vigil/core/train/training_util.h>

#include <cstdio>
#include <memory>
#include <string>

#include "target_loss.h"

static absl::Status Train(const vigil::Env& env, const std::string& folder) {
  // The model: loss = weight^2; a step halves the weight and counts itself.
  vigil::Graph graph(vigil::BuiltinOps());
  vigil::Builder b(graph);
  VIGIL_ASSIGN_OR_RETURN(const vigil::Output step, vigil::GetOrCreateGlobalStep(env, b));
  const auto weight = vigil::ops::MakeVariable(b, "weight", b.Const("first", vigil::Tensor::Scalar<float>(1)));
  const vigil::Output loss = b.Op("Square", {weight.read}, {.name = "loss"});
  const vigil::Output half = b.Op("Mul", {weight.read, b.Const("rate", vigil::Tensor::Scalar<float>(0.5F))});
  b.control_inputs = {loss.node, vigil::ops::AssignSub(b, "update", weight.ref, half).node};
  const vigil::Output train =
      vigil::ops::AssignAdd(b, "train", step, b.Const("one", vigil::Tensor::Scalar<std::int64_t>(1)));
  VIGIL_RETURN_IF_ERROR(b.status());

  // The session: restores the newest checkpoint, calls the hook, saves, recovers.
  auto hook = std::make_shared<TargetLoss>(env, loss, 1e-6F);
  VIGIL_ASSIGN_OR_RETURN(auto session,
                         vigil::MonitoredTrainingSession(env, graph, {.checkpoint_dir = folder, .hooks = {hook}}));
  return vigil::WithSession(*session, [&](vigil::MonitoredSession& s) -> absl::Status {
    while (true) {
      VIGIL_ASSIGN_OR_RETURN(const bool stop, s.ShouldStop());
      if (stop) return absl::OkStatus();
      VIGIL_ASSIGN_OR_RETURN(const vigil::RunResult result, s.Run(train));
      std::printf("step %d\n", static_cast<int>(result.values().scalar<std::int64_t>()));
    }
  });
}

int main(int argc, char** argv) {
  vigil::RealEnv real;
  const absl::Status end = Train(real.env(), argc > 1 ? argv[1] : "");
  if (!end.ok()) std::fprintf(stderr, "%s\n", end.ToString().c_str());
  return end.ok() ? 0 : 1;
}
