// The layer that ties a hooked session to its coordinator. See session_layer.h.
//
// The idea: when a run fails because something else failed first (a queue's task was aborted, so the queue was
// cancelled), the error that matters is the one the coordinator holds. A preemption is passed on as it is; any other
// error of a run gives way to a preemption that the coordinator holds, and to nothing else.
#ifndef VIGIL_CORE_TRAIN_COORDINATED_SESSION_H_
#define VIGIL_CORE_TRAIN_COORDINATED_SESSION_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/coord/coordinator.h"
#include "vigil/core/train/hooked_session.h"
#include "vigil/core/train/session_creator.h"
#include "vigil/core/train/session_layer.h"
#include "vigil/core/train/session_life.h"

namespace vigil {

class CoordinatedSession : public SessionLayer {
 public:
  // `hooks` and `life` must outlive this object.
  CoordinatedSession(const Env& env, SessionPtr session, const std::vector<HookPtr>& hooks,
                     std::shared_ptr<Coordinator> coord, SessionLife& life);

  absl::Status Run(LayerRun& run) override;
  absl::Status RunStepFn(const LayerStepFn& step_fn) override;
  absl::StatusOr<bool> ShouldStop() override;
  // Requests a stop, joins up to the grace period, closes the raw session whatever the join says; the join's error is
  // returned.
  absl::Status Close() override;

  // Whether its coordinator was asked to stop without an error.
  bool stopped_by_coordinator() const { return coord_->ShouldStop() && coord_->RequestedError().ok(); }
  // The coordinator's part of ShouldStop: its stored error, else whether it was asked to stop.
  absl::StatusOr<bool> CheckStop() const;

 private:
  HookedSession hooked_;
  const Env env_;
  const SessionPtr session_;
  const std::shared_ptr<Coordinator> coord_;
  SessionLife& life_;
  bool closed_ = false;
};

// What a run has failed with; or the preemption that a task of its coordinator has reported, if there is one: the queue
// that the task has filled is closed then, and OUT_OF_RANGE is no end of the input.
absl::Status RootCauseOf(const absl::Status& status, const Coordinator& coord);

// Requests a stop, joins for what is left of the grace period, closes the session whatever the join says; the join's
// error. Tasks that have not ended by then are named in the log (an error, but under Behaviour::TensorFlow()) and kept
// in life.stragglers; only they use up the grace period.
absl::Status StopJoinAndClose(const Env& env, Coordinator& coord, Session& session, SessionLife& life);

using QueueRunnerStarter =
    std::function<absl::Status(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>&)>;

// Makes coordinated sessions: raw session, coordinator, queue runners, AfterCreateSession of every hook. The unit of
// recovery.
class CoordinatedSessionCreator {
 public:
  // `hooks` and `life` must outlive this object.
  CoordinatedSessionCreator(const Env& env, std::shared_ptr<SessionCreator> creator, const std::vector<HookPtr>& hooks,
                            SessionLife& life, QueueRunnerStarter start_queue_runners);
  // Errors: of the creator, the start of the queue runners, or a hook; what was made until then is stopped and closed
  // (not so under Behaviour::TensorFlow()).
  absl::StatusOr<std::unique_ptr<CoordinatedSession>> Create();

  // The raw session of the last creation that got so far, also if a later part of it failed; null after Forget().
  const SessionPtr& session() const { return session_; }
  const std::shared_ptr<Coordinator>& coordinator() const { return coord_; }
  // The session is closed and nobody's business any more.
  void Forget();
  SessionCreator& creator() { return *creator_; }
  // How long the creator has waited for others so far.
  Duration time_waited() const { return creator_->time_waited(); }

 private:
  absl::Status StartQueueRunners();
  absl::Status CallAfterCreateSession();

  const Env env_;
  const std::shared_ptr<SessionCreator> creator_;
  const std::vector<HookPtr>& hooks_;
  SessionLife& life_;
  QueueRunnerStarter start_queue_runners_;
  SessionPtr session_;
  std::shared_ptr<Coordinator> coord_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_COORDINATED_SESSION_H_
