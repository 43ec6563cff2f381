// The hook of SyncReplicasOptimizer: makes each session ready for synchronous training.
//
// With every session: if the model is not ready, USAGE "Init operations did not make model ready for
// SyncReplicasOptimizer local_init. ..."; then the local step (and the chief's accumulators) are set to the global
// step, the chief puts in the first tokens and starts its task. At its clean end the chief closes the token queue, so
// that the others, who would wait for it, end cleanly as well (Behaviour::sync_tokens_renewed; in TensorFlow 2.21 every
// stop of the chief closes it, a recovery too).
// Thread safety: as SessionRunHook. Source: sync_replicas_optimizer.py.
#ifndef VIGIL_CORE_TRAIN_OPTIMIZERS_SYNC_REPLICAS_HOOK_H_
#define VIGIL_CORE_TRAIN_OPTIMIZERS_SYNC_REPLICAS_HOOK_H_

#include <memory>
#include <optional>
#include <string_view>

#include "vigil/core/base/time.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

class SyncReplicasOptimizer;

struct SyncReplicasHookOptions {
  std::shared_ptr<SyncReplicasOptimizer> optimizer;
  bool is_chief = false;
  int num_tokens = -1;               // as SyncReplicasOptimizer::GetInitTokensOp's
  std::optional<Duration> max_wait;  // a run that takes longer ends with DEADLINE_EXCEEDED
};

class SyncReplicasHook : public SessionRunHook {
 public:
  SyncReplicasHook(const Env& env, SyncReplicasHookOptions options) : env_(env), options_(std::move(options)) {}
  std::string_view name() const override { return "SyncReplicasOptimizerHook"; }

  // USAGE "SyncReplicasOptimizer.apply_gradient should be called before using the hook."
  absl::Status Begin(BeginContext& context) override;
  absl::Status AfterCreateSession(const std::shared_ptr<Session>& session,
                                  const std::shared_ptr<Coordinator>& coord) override;
  absl::Status BeforeRun(RunContext& context, RunArgs& args) override;
  absl::Status End(Session* session) override;

 private:
  const Env env_;
  const SyncReplicasHookOptions options_;
  NodeId local_init_op_ = kNoNode;
  NodeId init_tokens_op_ = kNoNode;    // the chief's
  QueueRunnerPtr chief_queue_runner_;  // the chief's
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_OPTIMIZERS_SYNC_REPLICAS_HOOK_H_
