// tf.train.SyncReplicasOptimizer: replicas push their gradients, the chief averages and applies them, all go on
// together.
//
//   VIGIL_ASSIGN_OR_RETURN(auto sync, SyncReplicasOptimizer::Create(env, {.optimizer = descent, .replicas_to_aggregate
//   = 2})); VIGIL_ASSIGN_OR_RETURN(const Output train_op, sync->ApplyGradients(b, {{dw, w.ref}}, step));
//   hooks.push_back(sync->MakeSessionRunHook(is_chief));
//
// Each variable has an accumulator, where the variable is; a queue of tokens is where the global step is; each replica
// has a variable "sync_rep_local_step". A run of the train op pushes the replica's gradients (stale ones are dropped),
// takes a token and makes it the local step: so it waits for the others. A task of the chief, forever: takes the
// averages of replicas_to_aggregate gradients, applies them, counts the step and puts in a token for each replica.
// Accumulators and queue have shared names: sessions that share their resources (on a server) work on the same ones.
//
// Differences from TensorFlow (Behaviour): sync_stop_cancels, sync_tokens_renewed and sync_bounded_wait;
// docs/differences.md. Not here: moving averages of variables; sparse gradients are made dense.
// Errors: USAGE in TensorFlow's words. Thread safety: as the graph's.
// Source: sync_replicas_optimizer.py of TensorFlow 2.21 (whose queue runner works on the token queue; before, on one of
// its own).
#ifndef VIGIL_CORE_TRAIN_OPTIMIZERS_SYNC_REPLICAS_OPTIMIZER_H_
#define VIGIL_CORE_TRAIN_OPTIMIZERS_SYNC_REPLICAS_OPTIMIZER_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/base/time.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/env/env.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/optimizers/optimizer.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

struct SyncReplicasOptions {
  std::shared_ptr<Optimizer> optimizer;  // applies the averages
  int replicas_to_aggregate = 1;         // gradients in a step
  std::optional<int>
      total_num_replicas;  // none: as many. More: the slowest are dropped; fewer: some push several times in a step
  std::string name = "sync_replicas";
  Behaviour behaviour = Behaviour::Default();
};

class SyncReplicasOptimizer : public Optimizer, public std::enable_shared_from_this<SyncReplicasOptimizer> {
 public:
  // USAGE without an optimizer.
  static absl::StatusOr<std::shared_ptr<SyncReplicasOptimizer>> Create(const Env& env, SyncReplicasOptions options);

  // The train op of this replica. `name` does not matter, as in TensorFlow. USAGE "Must supply at least one variable",
  // "Global step is required to check staleness"; else as the optimizer inside.
  absl::StatusOr<Output> ApplyGradients(Builder& b, const GradientsAndVariables& gradients,
                                        std::optional<Output> global_step = std::nullopt,
                                        std::string name = "") override;
  std::string_view name() const override { return options_.name; }

  // Those of the optimizer inside.
  std::optional<Output> GetSlot(Output variable, std::string_view slot) const override;
  std::vector<std::string> GetSlotNames() const override;
  std::vector<Output> variables() const override;

  // The chief's task. USAGE "Should be called after apply_gradients()."
  absl::StatusOr<QueueRunnerPtr> GetChiefQueueRunner() const;
  // An op that puts that many tokens of the present step into the queue; -1: replicas_to_aggregate. USAGE
  // "get_init_tokens_op() should be called after apply_gradients()." and "Too few tokens to finish the first step: 0
  // (given) vs 1 (needed)".
  absl::StatusOr<NodeId> GetInitTokensOp(Builder& b, int num_tokens = -1) const;

  // What makes each session ready: for a replica local step = global step, for the chief also the accumulators' step.
  NodeId local_step_init_op() const { return nodes_.local_step_init; }
  NodeId chief_init_op() const { return nodes_.chief_init; }
  Output ready_for_local_init_op() const { return nodes_.ready_for_local_init; }
  const ops::Variable& local_step() const { return nodes_.local_step; }
  Output token_queue() const { return nodes_.token_queue; }
  // Ends the training for all who wait for a token.
  NodeId close_tokens_op() const { return nodes_.close_tokens; }

  bool gradients_applied() const { return applied_; }
  const Behaviour& behaviour() const { return options_.behaviour; }

  // See sync_replicas_hook.h. `max_wait`: of a run for the others (Behaviour::sync_bounded_wait); none: for ever.
  HookPtr MakeSessionRunHook(bool is_chief, int num_tokens = -1,
                             std::optional<Duration> max_wait = std::chrono::minutes(30));

 private:
  // What a replica's graph has of it.
  struct Nodes {
    Output global_step;
    Output global_step_read;
    ops::Variable local_step;
    NodeId local_step_init = kNoNode;
    Output ready_for_local_init;
    std::vector<Output> accumulators;
    std::vector<NodeId> pushes;
    Output token_queue;
    NodeId chief_init = kNoNode;
    NodeId close_tokens = kNoNode;
    QueueRunnerPtr chief_queue_runner;
  };

  SyncReplicasOptimizer(const Env& env, SyncReplicasOptions options) : env_(env), options_(std::move(options)) {}

  int total() const { return options_.total_num_replicas.value_or(options_.replicas_to_aggregate); }
  void AddLocalStep(Builder& b, Nodes& nodes) const;
  GradientsAndVariables AddAccumulators(Builder& b, const std::string& scope, const GradientsAndVariables& gradients,
                                        Nodes& nodes) const;
  Output AddTokens(Builder& b, NodeId update, Nodes& nodes, NodeId& sync_op) const;
  NodeId AddSetGlobalSteps(Builder& b, const std::string& scope, Nodes& nodes) const;
  absl::Status AddQueueRunner(Builder& b, const std::string& scope, NodeId sync_op, Nodes& nodes) const;

  const Env env_;
  const SyncReplicasOptions options_;
  bool applied_ = false;
  Nodes nodes_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_OPTIMIZERS_SYNC_REPLICAS_OPTIMIZER_H_
