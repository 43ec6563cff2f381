#include "vigil/core/train/coordinated_session.h"

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/train/hook_call.h"

namespace vigil {

CoordinatedSession::CoordinatedSession(const Env& env, SessionPtr session, const std::vector<HookPtr>& hooks,
                                       std::shared_ptr<Coordinator> coord, Duration stop_grace_period)
    : hooked_(env, session, hooks),
      session_(std::move(session)),
      coord_(std::move(coord)),
      stop_grace_period_(stop_grace_period) {}

absl::Status CoordinatedSession::Run(LayerRun& run) {
  if (closed_) return UsageError("This session was closed by a recovery. Use the monitored session instead.");
  const absl::Status status = hooked_.Run(run);
  if (status.ok() || IsPreemption(status)) return status;
  const absl::Status root_cause = coord_->RequestedError();
  return IsPreemption(root_cause) ? root_cause : status;
}

absl::Status CoordinatedSession::RunStepFn(const LayerStepFn& step_fn) {
  return step_fn([this](LayerRun& run) { return Run(run); });
}

absl::StatusOr<bool> CoordinatedSession::CheckStop() const {
  VIGIL_RETURN_IF_ERROR(coord_->RequestedError());
  return coord_->ShouldStop();
}

absl::StatusOr<bool> CoordinatedSession::ShouldStop() {
  VIGIL_ASSIGN_OR_RETURN(const bool stop, CheckStop());
  return stop || hooked_.should_stop();
}

absl::Status CoordinatedSession::Close() {
  closed_ = true;
  VIGIL_RETURN_IF_ERROR(coord_->RequestStop());
  const absl::Status joined = coord_->Join({.stop_grace_period = stop_grace_period_, .ignore_live_tasks = true});
  // TensorFlow ignores what closing the raw session fails with: the run is over either way.
  session_->Close().IgnoreError();
  return joined;
}

CoordinatedSessionCreator::CoordinatedSessionCreator(const Env& env, std::shared_ptr<SessionCreator> creator,
                                                     const std::vector<HookPtr>& hooks, Duration stop_grace_period,
                                                     QueueRunnerStarter start_queue_runners)
    : env_(env),
      creator_(std::move(creator)),
      hooks_(hooks),
      stop_grace_period_(stop_grace_period),
      start_queue_runners_(start_queue_runners != nullptr ? std::move(start_queue_runners) : vigil::StartQueueRunners) {
}

absl::Status CoordinatedSessionCreator::StartQueueRunners() {
  if (session_->graph().Collection(kQueueRunners).empty()) return absl::OkStatus();
  const absl::Status status = start_queue_runners_(session_, coord_);
  env_.Emit({.kind = EventKind::kQueueRunners, .code = CodeOf(status), .session = session_->number()});
  return status;
}

absl::StatusOr<std::unique_ptr<CoordinatedSession>> CoordinatedSessionCreator::Create() {
  VIGIL_ASSIGN_OR_RETURN(session_, CallGuarded([this] { return creator_->CreateSession(); }));
  coord_ = std::make_shared<Coordinator>(env_, CoordinatorOptions{.clean_stop_codes = {}});
  VIGIL_RETURN_IF_ERROR(StartQueueRunners());
  for (std::size_t i = 0; i < hooks_.size(); ++i) {
    VIGIL_RETURN_IF_ERROR(CallHook(env_, *hooks_[i], i, HookMethod::kAfterCreateSession, session_.get(), nullptr,
                                   [&] { return hooks_[i]->AfterCreateSession(session_, coord_); }));
  }
  return std::make_unique<CoordinatedSession>(env_, session_, hooks_, coord_, stop_grace_period_);
}

void CoordinatedSessionCreator::Forget() {
  session_ = nullptr;
  coord_ = nullptr;
}

}  // namespace vigil
