#include "vigil/core/train/optimizers/sync_replicas_hook.h"

#include <fmt/format.h>

#include <chrono>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/train/optimizers/sync_replicas_optimizer.h"
#include "vigil/core/train/readiness.h"

namespace vigil {

absl::Status SyncReplicasHook::Begin(BeginContext& context) {
  const SyncReplicasOptimizer& optimizer = *options_.optimizer;
  if (!optimizer.gradients_applied()) {
    return UsageError("SyncReplicasOptimizer.apply_gradient should be called before using the hook.");
  }
  if (!options_.is_chief) {
    local_init_op_ = optimizer.local_step_init_op();
    return absl::OkStatus();
  }
  local_init_op_ = optimizer.chief_init_op();
  VIGIL_ASSIGN_OR_RETURN(chief_queue_runner_, optimizer.GetChiefQueueRunner());
  Builder b(context.graph);
  VIGIL_ASSIGN_OR_RETURN(init_tokens_op_, optimizer.GetInitTokensOp(b, options_.num_tokens));
  return absl::OkStatus();
}

absl::Status SyncReplicasHook::AfterCreateSession(const std::shared_ptr<Session>& session,
                                                  const std::shared_ptr<Coordinator>& coord) {
  VIGIL_ASSIGN_OR_RETURN(const Readiness ready,
                         AskWhetherReady(env_, *session, options_.optimizer->ready_for_local_init_op(),
                                         "Model is not ready for SyncReplicasOptimizer local init."));
  if (!ready.ready) {
    return UsageError(fmt::format(
        "Init operations did not make model ready for SyncReplicasOptimizer local_init. Init op: {}, error: {}",
        session->graph().node(local_init_op_).name, ready.why_not));
  }
  VIGIL_RETURN_IF_ERROR(RunTarget(*session, local_init_op_));
  if (init_tokens_op_ != kNoNode) VIGIL_RETURN_IF_ERROR(RunTarget(*session, init_tokens_op_));
  if (chief_queue_runner_ == nullptr) return absl::OkStatus();
  return chief_queue_runner_->CreateTasks(session, coord).status();
}

absl::Status SyncReplicasHook::BeforeRun(RunContext&, RunArgs& args) {
  if (!options_.max_wait.has_value()) return absl::OkStatus();
  args.options.emplace();
  args.options->timeout_in_ms = std::chrono::duration_cast<std::chrono::milliseconds>(*options_.max_wait).count();
  return absl::OkStatus();
}

absl::Status SyncReplicasHook::End(Session* session) {
  const SyncReplicasOptimizer& optimizer = *options_.optimizer;
  if (!options_.is_chief || session == nullptr || !optimizer.behaviour().sync_tokens_renewed) return absl::OkStatus();
  // The training is over, whether the others can be told or not.
  if (const absl::Status status = RunTarget(*session, optimizer.close_tokens_op()); !status.ok()) {
    env_.log->Write(Severity::kWarning,
                    fmt::format("The other replicas could not be told of the end: {}", MessageOf(status)));
  }
  return absl::OkStatus();
}

}  // namespace vigil
