// tf.train.SessionRunHook: extends the runs of a monitored session.
//
// The order that a session keeps (source: session_run_hook.py; recorded): Begin once, while the graph may still change;
// AfterCreateSession for every session, the graph is frozen; for each run BeforeRun, the run, AfterRun only if it
// succeeded; End only when the session is left cleanly (no error, OUT_OF_RANGE or STOP_ITERATION). Hooks are called in
// list order in each phase. An error returned by a method fails the phase; an exception thrown by one counts as an
// error of code OTHER.
// Thread safety: called from the task that uses the session only. Ownership: shared with the session.
#ifndef VIGIL_CORE_TRAIN_SESSION_RUN_HOOK_H_
#define VIGIL_CORE_TRAIN_SESSION_RUN_HOOK_H_

#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "vigil/core/coord/coordinator.h"
#include "vigil/core/env/env.h"
#include "vigil/core/env/stop_request.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/session/session.h"
#include "vigil/core/train/fetches.h"

namespace vigil {

// What Begin gets: the graph may be changed and handles to fetch be resolved here.
struct BeginContext {
  const Env& env;
  Graph& graph;
};

// What a hook adds to a run (SessionRunArgs). Empty when BeforeRun is called; its storage is reused.
struct RunArgs {
  Fetches fetches;
  Feeds feeds;
  std::optional<RunOptions> options;
  bool empty() const { return fetches.empty() && feeds.empty() && !options.has_value(); }
  void Clear() {
    fetches = Fetches();
    feeds.clear();
    options.reset();
  }
};

// The run being made (SessionRunContext): what the caller asked for, the raw session, and a way to ask for a stop.
class RunContext {
 public:
  RunContext(const Fetches& fetches, const Feeds& feeds, Session& session, int recoveries = 0)
      : original_fetches_(fetches), original_feeds_(feeds), session_(session), recoveries_(recoveries) {}
  const Fetches& original_fetches() const { return original_fetches_; }
  const Feeds& original_feeds() const { return original_feeds_; }
  Session& session() const { return session_; }
  // How many times the monitored session has recovered so far.
  int recoveries() const { return recoveries_; }
  // After this run no further one: should_stop() will be true. Lost if this run or a later AfterRun fails, unless
  // Behaviour::stop_survives_recovery.
  void RequestStop() {
    if (!stop_requested_) stopped_by_ = current_hook_;
    stop_requested_ = true;
  }
  bool stop_requested() const { return stop_requested_; }
  // Somebody outside of the session (a signal) wants the training to end: hooks that wait give up waiting, and let the
  // run be made.
  bool stop_wanted() const { return stop_ != nullptr && stop_->requested(); }

  // For the session: whose turn it is, and whose it was when the stop was requested.
  void set_stop(const StopRequest* stop) { stop_ = stop; }
  void set_current_hook(std::size_t hook) { current_hook_ = hook; }
  std::size_t stopped_by() const { return stopped_by_; }

 private:
  const Fetches& original_fetches_;
  const Feeds& original_feeds_;
  Session& session_;
  const int recoveries_;
  const StopRequest* stop_ = nullptr;
  bool stop_requested_ = false;
  std::size_t current_hook_ = 0;
  std::size_t stopped_by_ = 0;
};

// What AfterRun gets (SessionRunValues).
struct RunValues {
  FetchedValues results;  // none if the hook fetched nothing
  const RunOptions& options;
  const RunMetadata& metadata;
};

class SessionRunHook {
 public:
  virtual ~SessionRunHook() = default;
  SessionRunHook() = default;
  SessionRunHook(const SessionRunHook&) = delete;
  SessionRunHook& operator=(const SessionRunHook&) = delete;
  // For events and reports; "" is fine.
  virtual std::string_view name() const { return ""; }

  // Once a session object, before anything else; an error is that of its creation.
  virtual absl::Status Begin(BeginContext&) { return absl::OkStatus(); }
  // For each raw session, also after a recovery: what the hook keeps of the one before is worth nothing. May run it.
  // An error fails the creation; ABORTED and UNAVAILABLE make the next attempt.
  virtual absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>&) {
    return absl::OkStatus();
  }
  // Fills in what it wants to be fetched and fed beside the caller's. USAGE of the run where another hook or the caller
  // feeds the same tensor. An error fails the run, which then is not made; hooks after this one are not asked.
  virtual absl::Status BeforeRun(RunContext&, RunArgs&) { return absl::OkStatus(); }
  // Of a hook that fetched something, before the AfterRun of any hook, so that what it finds out (the loss is NaN) is
  // known to all of them. It only looks: nothing of the run can be changed any more. Behaviour::nan_stop_saves_nothing
  // only.
  virtual void Inspect(const FetchedValues&) {}
  // After a run that succeeded, with the values of what it asked for: valid during the call. An error fails the run,
  // though its effects stay; hooks after this one are not called. A run that is repeated after a recovery is another
  // one, with its own BeforeRun.
  virtual absl::Status AfterRun(RunContext&, const RunValues&) { return absl::OkStatus(); }
  // At a clean end only, before the close. An error is that of the close; hooks after this one are not called.
  // Null: the session was closed before the scope was left.
  virtual absl::Status End(Session*) { return absl::OkStatus(); }

 private:
  friend class MonitoredSessionBase;
  bool in_open_session_ = false;
};

using HookPtr = std::shared_ptr<SessionRunHook>;

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_SESSION_RUN_HOOK_H_
