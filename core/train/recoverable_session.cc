#include "vigil/core/train/recoverable_session.h"

#include <fmt/format.h>

#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {

class RecoverableSession::Counted {
 public:
  explicit Counted(RecoveryPolicy& policy) : policy_(policy) { policy_.CallBegins(); }
  ~Counted() { policy_.CallEnds(); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  RecoveryPolicy& policy_;
};

absl::StatusOr<std::unique_ptr<RecoverableSession>> RecoverableSession::Create(const Env& env,
                                                                               CoordinatedSessionCreator& creator,
                                                                               SessionLife& life) {
  std::unique_ptr<RecoverableSession> made(new RecoverableSession(env, creator, life));
  VIGIL_RETURN_IF_ERROR(made->CreateSession());
  return made;
}

void RecoverableSession::NoteRecovery(const absl::Status& why, std::int64_t session) {
  ++life_.recoveries;
  env_.Emit({.kind = EventKind::kRecovery, .code = CodeOf(why), .session = session});
  env_.log->Write(
      Severity::kWarning,
      fmt::format("Recovery {}: {}. This may be due to a preemption of a connected worker or parameter server. {} "
                  "A new session will be created. Error: {}",
                  life_.recoveries, CodeName(CodeOf(why)),
                  session == 0 ? "The session could not be created." : "The current session will be closed.",
                  MessageOf(why)));
}

absl::Status RecoverableSession::CreateSession() {
  const Counted call(policy_);
  while (true) {
    absl::StatusOr<std::unique_ptr<CoordinatedSession>> made = creator_.Create();
    if (made.ok()) {
      session_ = *std::move(made);
      return absl::OkStatus();
    }
    if (!IsPreemption(made.status())) return made.status();
    NoteRecovery(made.status(), 0);
    if (life_.behaviour.bounded_recovery) {
      VIGIL_RETURN_IF_ERROR(policy_.BeforeNextAttempt(made.status(), creator_.time_waited()));
    } else if (life_.stop != nullptr && life_.stop->requested()) {
      return StoppedWhile(*life_.stop, "creating a session");
    }
  }
}

absl::Status RecoverableSession::GiveUp(const absl::Status& why) {
  NoteRecovery(why, creator_.session()->number());
  if (life_.behaviour.stop_survives_recovery && session_ != nullptr && session_->stopped_by_coordinator()) {
    life_.stop_pending = true;
    life_.stopped_by = "the coordinator";
  }
  VIGIL_RETURN_IF_ERROR(Close());
  if (!life_.behaviour.bounded_recovery) return absl::OkStatus();
  return policy_.BeforeNextAttempt(why, creator_.time_waited());
}

absl::Status RecoverableSession::Close() {
  if (session_ == nullptr) return absl::OkStatus();
  const std::shared_ptr<CoordinatedSession> closing = std::move(session_);
  const absl::Status status = closing->Close();
  if (!IsPreemption(status)) return status;
  env_.log->Write(Severity::kError,
                  fmt::format("An error occurred when attempting to close the session. This may be due to a "
                              "preemption in a connected worker or parameter server. Error: {}",
                              MessageOf(status)));
  return absl::OkStatus();
}

template <typename Attempt>
absl::Status RecoverableSession::Retry(Attempt attempt) {
  const Counted call(policy_);
  while (true) {
    absl::Status status;
    if (session_ == nullptr) status = CreateSession();
    // Held: a step function may run the monitored session itself, which may give this one up.
    const std::shared_ptr<CoordinatedSession> session = session_;
    if (status.ok()) {
      status = attempt(*session);
      if (status.ok()) policy_.Completed();
    }
    if (!IsPreemption(status)) return status;
    VIGIL_RETURN_IF_ERROR(GiveUp(status));
  }
}

absl::Status RecoverableSession::Run(LayerRun& run) {
  return Retry([&run](CoordinatedSession& session) { return session.Run(run); });
}

absl::Status RecoverableSession::RunStepFn(const LayerStepFn& step_fn) {
  return Retry([&step_fn](CoordinatedSession& session) { return session.RunStepFn(step_fn); });
}

// Any error but a preemption means: stop. It is not reported here: the next run or the close will.
absl::StatusOr<bool> RecoverableSession::CheckStop() {
  const Counted call(policy_);
  if (session_ == nullptr) return true;
  const absl::StatusOr<bool> stop = session_->CheckStop();
  if (stop.ok()) return *stop;
  if (!IsPreemption(stop.status())) return true;
  VIGIL_RETURN_IF_ERROR(GiveUp(stop.status()));
  VIGIL_RETURN_IF_ERROR(CreateSession());
  life_.SettleStop();
  return false;
}

absl::StatusOr<bool> RecoverableSession::ShouldStop() {
  while (true) {
    VIGIL_ASSIGN_OR_RETURN(const bool stop, CheckStop());
    if (stop || session_ == nullptr) return true;
    // The second look at the coordinator: meanwhile a task, or a hook of a new session, may have reported an error.
    // TensorFlow lets it out; otherwise it is seen to as if the first look had found it.
    absl::StatusOr<bool> late = session_->ShouldStop();
    if (late.ok() || !life_.behaviour.should_stop_recovers) return late;
  }
}

}  // namespace vigil
