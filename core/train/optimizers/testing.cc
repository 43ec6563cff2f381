#include "vigil/core/train/optimizers/testing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/ops/training.h"
#include "vigil/core/train/optimizers/gradient_descent_optimizer.h"
#include "vigil/core/train/session_creator.h"
#include "vigil/core/train/training_util.h"

namespace vigil {

SyncReplica::SyncReplica(const Env& env, std::shared_ptr<ResourceManager> resources, int number,
                         const ReplicaOptions& options)
    : graph(BuiltinOps()), env_(env), resources_(std::move(resources)), number_(number), options_(options) {
  Builder b(graph);
  // The replicas' local steps would be one variable, which in a cluster they are not: each takes a name that is free.
  for (int i = 0; i < number; ++i) {
    b.Group(i == 0 ? "sync_rep_local_step" : fmt::format("sync_rep_local_step_{}", i), {});
  }
  step = *GetOrCreateGlobalStep(env, b);
  const ops::Variable vv = ops::MakeVariable(b, "v", b.Const("v/initial", Tensor::Vector<float>({1, 2})));
  const ops::Variable ww = ops::MakeVariable(b, "w", b.Const("w/initial", Of(10)));
  v = vv.read;
  w = ww.read;
  fed = ops::Placeholder(b, "gradient", DType::kFloat);
  const std::shared_ptr<Optimizer> descent =
      std::make_shared<GradientDescentOptimizer>(GradientDescentOptions{.learning_rate = 1});
  optimizer = *SyncReplicasOptimizer::Create(env, {.optimizer = options.inside == nullptr ? descent : options.inside,
                                                   .replicas_to_aggregate = options.aggregate,
                                                   .total_num_replicas = options.total,
                                                   .behaviour = options.behaviour});
  const auto made = optimizer->ApplyGradients(b, {{b.Op("Pack", {fed, fed}), vv.ref}, {fed, ww.ref}}, step);
  EXPECT_EQ(Text(made.status()), "OK");
  train_op = *made;
  token_count = b.Op("QueueSizeV2", {optimizer->token_queue()});
  gradient_count =
      ops::AccumulatorNumAccumulated(b, "count", *graph.FindOutput("sync_replicas/conditional_accumulator"));
  EXPECT_EQ(Text(b.status()), "OK");
}

absl::Status SyncReplica::Open() {
  const auto factory =
      std::make_shared<DirectSessionFactory>(env_, DirectSessionOptions{.shared_resources = resources_});
  MonitoredSessionOptions monitored{.hooks = options_.more_hooks, .behaviour = options_.behaviour};
  monitored.hooks.push_back(optimizer->MakeSessionRunHook(number_ == 0, options_.num_tokens));
  if (number_ == 0) {
    monitored.session_creator = std::make_shared<ChiefSessionCreator>(
        env_, graph, ChiefSessionCreatorOptions{.factory = factory, .behaviour = options_.behaviour});
  } else {
    monitored.session_creator = std::make_shared<WorkerSessionCreator>(
        env_, graph, WorkerSessionCreatorOptions{.factory = factory, .behaviour = options_.behaviour});
  }
  VIGIL_ASSIGN_OR_RETURN(session, MonitoredSession::Create(env_, graph, std::move(monitored)));
  return absl::OkStatus();
}

std::string SyncReplica::Value(Output output) {
  const auto result = session->RunWithoutHooks(output);
  if (!result.ok()) return Text(result.status());
  const Tensor& value = result->values().tensor();
  if (value.dtype() == DType::kFloat) return fmt::format("{}", fmt::join(value.flat<float>(), " "));
  double number = 0;
  return value.AsNumber(&number) ? fmt::format("{}", number) : value.Describe();
}

}  // namespace vigil
