// Replicas of one model in one process, for the tests of this folder: each has its graph, its optimizer, its hook and a
// monitored session; their sessions share variables, accumulators and queues as those of a server do.
#ifndef VIGIL_CORE_TRAIN_OPTIMIZERS_TESTING_H_
#define VIGIL_CORE_TRAIN_OPTIMIZERS_TESTING_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/optimizers/sync_replicas_optimizer.h"
#include "vigil/fakes/status_text.h"

namespace vigil {

struct ReplicaOptions {
  int aggregate = 2;
  int total = 2;
  int num_tokens = -1;
  Behaviour behaviour = Behaviour::Default();
  std::vector<HookPtr> more_hooks = {};         // before the optimizer's
  std::shared_ptr<Optimizer> inside = nullptr;  // null: gradient descent with rate 1
};

using fakes::Text;

// Replica 0 is the chief. The model: variables v = {1, 2} and w = 10; a step's gradients are {g, g} and g, with g fed;
// rate 1.
class SyncReplica {
 public:
  SyncReplica(const Env& env, std::shared_ptr<ResourceManager> resources, int number, const ReplicaOptions& options);

  // Opens the session.
  absl::Status Open();
  absl::Status Step(float gradient) {
    return session->Run(train_op, {{.tensor = fed, .value = Of(gradient)}}).status();
  }
  // Beside the hooks.
  std::string Value(Output output);
  std::string LocalStep() { return Value(optimizer->local_step().ref); }
  std::string Tokens() { return Value(token_count); }
  std::string Accumulated() { return Value(gradient_count); }

  Graph graph;
  std::shared_ptr<SyncReplicasOptimizer> optimizer;
  Output step, v, w, fed, train_op, token_count, gradient_count;
  std::unique_ptr<MonitoredSession> session;

 private:
  static Tensor Of(float value) { return Tensor::Scalar(value); }

  const Env env_;
  const std::shared_ptr<ResourceManager> resources_;
  const int number_;
  const ReplicaOptions options_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_OPTIMIZERS_TESTING_H_
