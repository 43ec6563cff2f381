// tf.train.SessionManager: makes raw sessions whose model is ready: restored from a checkpoint, initialised, or waited
// for.
//
// In a cluster (master "grpc://...") Prepare first looks whether the model is alive on the servers and joins it, or
// restores what is missing last (Behaviour::join_live_model), and sessions do not wait for ever for a server
// (bounded_waits). What has diverged, or has an init_fn that has not come to its end, is not joined
// (checkpoint/model_mark.h). Prepare: restore if there is something to restore, else init_op and init_fn; then local
// init, then readiness. A failure closes the half-made session (not so under Behaviour::TensorFlow()). Recover: like
// Prepare without initialising. Wait: poll until another task (the chief) has made the model ready.
// Thread safety: one task at a time. Errors: USAGE for contradictory arguments and for a model that does not get ready,
// DEADLINE_EXCEEDED from Wait, CANCELLED from whatever waits when a stop is requested, else what the session's calls
// fail with.
// Source: session_manager.py.
#ifndef VIGIL_CORE_TRAIN_SESSION_MANAGER_H_
#define VIGIL_CORE_TRAIN_SESSION_MANAGER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/env/env.h"
#include "vigil/core/env/stop_request.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/session/session.h"
#include "vigil/core/train/fetches.h"
#include "vigil/core/train/readiness.h"

namespace vigil {

using SessionPtr = std::shared_ptr<Session>;

// Waits until the deadline; true: a stop was requested before it.
using StopWait = std::function<bool(Time deadline)>;

struct SessionManagerOptions {
  std::optional<NodeId> local_init_op;
  std::optional<Output> ready_op;
  std::optional<Output> ready_for_local_init_op;  // needs local_init_op
  Duration recovery_wait = std::chrono::seconds(30);
  std::optional<RunOptions> local_init_run_options;
  Behaviour behaviour = Behaviour::Default();
  StopWait stop_wait = nullptr;  // null: sleeps
  // For so long a creation in a cluster that somebody did not answer is tried again (Behaviour::bounded_waits). 0: not
  // at all, for those whose caller makes their sessions anew.
  Duration keeps_creating{0};
};

// What Prepare and Recover restore from: at most one of directory and file; nothing without a saver.
struct RestoreOptions {
  SaverPtr saver;
  std::string checkpoint_dir;
  std::string checkpoint_filename_with_path;
  bool wait_for_checkpoint = false;
  Duration max_wait = std::chrono::seconds(7200);
};

struct InitOptions {
  std::optional<NodeId> init_op;
  Feeds init_feed_dict;
  std::function<absl::Status(Session&)> init_fn;  // emits kInitFn when it returns
};

struct SessionTarget {
  std::string master;
  SessionConfig config;
};

class SessionManager {
 public:
  // USAGE "If you pass a ready_for_local_init_op you must also pass a local_init_op, ready_for_local_init_op ..."
  static absl::StatusOr<std::unique_ptr<SessionManager>> Create(const Env& env, const Graph& graph,
                                                                std::shared_ptr<SessionFactory> factory,
                                                                SessionManagerOptions options);

  // A ready session; blocks until then, with wait_for_checkpoint up to restore.max_wait for a checkpoint.
  // USAGE: both a directory and a file; nothing to restore and no op that initialises; not ready in the end.
  absl::StatusOr<SessionPtr> Prepare(const SessionTarget& target, const RestoreOptions& restore,
                                     const InitOptions& init);
  struct Recovered {
    SessionPtr session;
    bool initialized = false;
  };
  // A session in any case; `initialized` = it is ready, by a restore. Errors: as Prepare, but not being ready is none.
  absl::StatusOr<Recovered> Recover(const SessionTarget& target, const RestoreOptions& restore);
  // A ready session; looks after 1, 2, 4, ... seconds, at last every recovery_wait, each time with a session made anew.
  // DEADLINE_EXCEEDED: the model did not get ready within max_wait (nullopt = for ever). What it sleeps between looks
  // at a model that is not ready is added to `slept` (may be null).
  absl::StatusOr<SessionPtr> WaitForSession(const SessionTarget& target, std::optional<Duration> max_wait,
                                            Duration* slept = nullptr);

 private:
  SessionManager(const Env& env, const Graph& graph, std::shared_ptr<SessionFactory> factory,
                 SessionManagerOptions options);
  SessionConfig ConfigFor(const SessionTarget& target) const;
  // UNAVAILABLE if somebody has not answered for as long as is waited for all.
  absl::StatusOr<SessionPtr> NewSession(const SessionTarget& target);
  // CANCELLED if a stop is requested meanwhile.
  absl::Status Pause(Duration duration, std::string_view waiting_for) const;
  // True = the model was alive already, and the session is ready. Else `missing` is what is not initialised, as far as
  // somebody asked.
  absl::StatusOr<bool> JoinLiveModel(const SessionTarget& target, Session& session, const RestoreOptions& restore,
                                     std::vector<std::string>* missing);
  bool MayJoin(const SessionTarget& target, const RestoreOptions& restore) const;
  void MarkInitializing(const std::string& directory) const;
  void ClearMarks(const std::string& directory) const;  // a model is ready that was made here
  // True = restored; what is `missing` is last.
  absl::StatusOr<bool> RestoreCheckpoint(Session& session, const RestoreOptions& restore,
                                         const std::vector<std::string>& missing);
  absl::Status MakeReady(const SessionTarget& target, Session& session, const RestoreOptions& restore,
                         const InitOptions& init, const std::vector<std::string>& missing);
  absl::StatusOr<bool> RecoverModel(Session& session, const RestoreOptions& restore);
  absl::StatusOr<bool> LookWhetherReady(Session& session);
  // Closes what could not be made ready, if Behaviour says so.
  void CloseUnready(Session& session) const;
  absl::StatusOr<Readiness> Ready(const std::optional<Output>& op, Session& session, std::string_view what);
  absl::StatusOr<Readiness> TryLocalInit(Session& session);
  absl::Status Initialize(Session& session, const InitOptions& init);
  absl::Status NotReadyError(std::string_view for_what, bool restored, const InitOptions& init,
                             const std::string& why) const;

  const Env env_;
  const Graph& graph_;
  const std::shared_ptr<SessionFactory> factory_;
  const SessionManagerOptions options_;
};

// Emits kSleep, then sleeps: the one place where the session layer sleeps. True: `stop` (may be null) was requested
// meanwhile.
bool SleepFor(const Env& env, Duration duration, StopRequest* stop = nullptr);

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_SESSION_MANAGER_H_
