// The layer that survives preemption: on ABORTED or UNAVAILABLE it closes the session, makes a new one and repeats the
// call.
//
// Under Behaviour::TensorFlow() without limit and without pause, and what was asked of the old session (a stop request
// of a hook, for example) is forgotten with it; otherwise see recovery_policy.h and SessionLife. See session_layer.h.
#ifndef VIGIL_CORE_TRAIN_RECOVERABLE_SESSION_H_
#define VIGIL_CORE_TRAIN_RECOVERABLE_SESSION_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/train/coordinated_session.h"
#include "vigil/core/train/recovery_policy.h"
#include "vigil/core/train/session_layer.h"

namespace vigil {

class RecoverableSession : public SessionLayer {
 public:
  // `creator` and `life` must outlive this object. Makes the first session.
  static absl::StatusOr<std::unique_ptr<RecoverableSession>> Create(const Env& env, CoordinatedSessionCreator& creator,
                                                                    SessionLife& life);

  absl::Status Run(LayerRun& run) override;
  absl::Status RunStepFn(const LayerStepFn& step_fn) override;
  absl::StatusOr<bool> ShouldStop() override;
  // Swallows preemption errors.
  absl::Status Close() override;

 private:
  RecoverableSession(const Env& env, CoordinatedSessionCreator& creator, SessionLife& life)
      : env_(env), creator_(creator), life_(life), policy_(env, life.give_up_recovery_after, life.stop) {}
  // Until one is created or the creation fails with something else than a preemption.
  absl::Status CreateSession();
  // Counts the recovery and tells about it. `session` = the one that is given up, 0 if it was being created.
  void NoteRecovery(const absl::Status& why, std::int64_t session);
  // Gives the session up because of `why`; an error means that giving up failed, and comes out of the call.
  absl::Status GiveUp(const absl::Status& why);
  // Calls `attempt` with a session, again after each preemption.
  template <typename Attempt>
  absl::Status Retry(Attempt attempt);
  // Tells the policy of a call while it lives.
  class Counted;
  absl::StatusOr<bool> CheckStop();

  const Env env_;
  CoordinatedSessionCreator& creator_;
  SessionLife& life_;
  RecoveryPolicy policy_;
  std::shared_ptr<CoordinatedSession> session_;  // shared with the calls in progress
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_RECOVERABLE_SESSION_H_
