// MonitoredSession and SingularMonitoredSession: sessions with hooks, and one of them with recovery.
//
//   auto session = MonitoredSession::Create(env, graph, {.hooks = {hook}});
//   absl::Status end = WithSession(**session, [&](MonitoredSession& s) -> absl::Status {
//     while (true) {
//       VIGIL_ASSIGN_OR_RETURN(const bool stop, s.ShouldStop());
//       if (stop) return absl::OkStatus();
//       VIGIL_RETURN_IF_ERROR(s.Run(train).status());
//     }
//   });
//
// Creation: Begin of every hook, then the scaffold is finalized, then a session is created, initialised or restored,
// queue runners are started, AfterCreateSession is called. Leaving the scope: End of every hook if the body returned
// OK, OUT_OF_RANGE or STOP_ITERATION that a run or RequestStop returned (the end of the input), then close. (A run with
// or without hooks: what the raw session of a step function returns does not count.) Any other error skips End and is
// returned. A session that is dropped without Close() or Exit() takes the error path: no End; stopped, joined for the
// grace period and closed by its destructor, which says so in the log (by TensorFlow's behaviour it is left open, and
// its tasks run on). Tasks that do not end in time are named there, and keep what they use of the session.
// Callbacks (hooks, listeners, step functions) may run the session, ask whether it should stop and save; they may not
// close it, nor run it while it is being made anew (USAGE), nor destroy it.
// Thread safety: one task at a time. Ownership: env's seams and the graph must outlive the session.
// Source: monitored_session.py; recorded in replays/tensorflow.
#ifndef VIGIL_CORE_TRAIN_MONITORED_SESSION_H_
#define VIGIL_CORE_TRAIN_MONITORED_SESSION_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/env/env.h"
#include "vigil/core/env/stop_request.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/train/coordinated_session.h"
#include "vigil/core/train/session_creator.h"
#include "vigil/core/train/session_layer.h"
#include "vigil/core/train/session_life.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

// What a step function gets.
class StepContext {
 public:
  StepContext(Session& session, const LayerRunFn& run) : session_(session), run_(run) {}
  // The raw session. Under Behaviour::TensorFlow() as it was when RunStepFn was called: after a recovery the old,
  // closed one. A run of it is no run of the monitored session: the end of the input that it meets is an error to the
  // scope, and End of the hooks is not called (not so under Behaviour::TensorFlow()). RunWithHooks and RunWithoutHooks
  // end cleanly.
  Session& session() const { return session_; }
  // A run with hooks. A preemption must be returned by the step function: then the whole function is called again.
  absl::StatusOr<RunResult> RunWithHooks(const Fetches& fetches, const Feeds& feeds = {},
                                         const RunOptions& options = {}) const;
  // To be returned: ends the iterations and leaves the scope cleanly. The next ShouldStop() is true (not so under
  // Behaviour::TensorFlow(), which sets no flag).
  absl::Status RequestStop();
  bool stop_requested() const { return stop_requested_; }

 private:
  bool stop_requested_ = false;
  Session& session_;
  const LayerRunFn& run_;
};
using StepFn = std::function<absl::Status(StepContext&)>;

class TraceWriter;

// What both kinds of monitored session have in common.
class MonitoredSessionBase {
 public:
  virtual ~MonitoredSessionBase();
  MonitoredSessionBase(const MonitoredSessionBase&) = delete;
  MonitoredSessionBase& operator=(const MonitoredSessionBase&) = delete;

  // One run: BeforeRun of every hook, the run of what all of them ask for, AfterRun of every hook; blocks until then.
  // A preemption anywhere in it makes a MonitoredSession recover and repeat it all.
  // Errors: what the raw run or a hook failed with, or, where that is only a consequence, what the coordinator holds.
  // ABORTED and UNAVAILABLE: of a SingularMonitoredSession only. OUT_OF_RANGE: the input has ended; pass it on.
  // DEADLINE_EXCEEDED: recovering was given up. USAGE: after should_stop, after Close, while the session is being made,
  // for names that the graph does not have, and where two feed the same tensor. After any error the session can be
  // asked ShouldStop and be left.
  absl::StatusOr<RunResult> Run(const Fetches& fetches, const Feeds& feeds = {}, const RunOptions& options = {});
  // The same into a result that is reused: allocates nothing once it has been warm.
  absl::Status RunInto(RunResult* result, const Fetches& fetches, const Feeds& feeds = {},
                       const RunOptions& options = {});
  // Calls `step_fn` with the raw session and a way to run with hooks; after a preemption that it returns it is called
  // again, from its beginning. Errors: what it returns (an exception is OTHER); else as Run.
  absl::Status RunStepFn(const StepFn& step_fn);
  // A run past the hooks, with recovery, also from what the coordinator's tasks report: for what is no training
  // (re-initialising an iterator, asking for a size).
  absl::StatusOr<RunResult> RunWithoutHooks(const Fetches& fetches, const Feeds& feeds = {},
                                            const RunOptions& options = {});
  // Whether the loop should end: a hook, the coordinator, a step function or a stop request wants it, or the session is
  // closed. May recover, and then blocks as a run. Errors: what the coordinator holds (a queue runner that failed).
  absl::StatusOr<bool> ShouldStop();
  // How many times a session was given up and created anew.
  int recoveries() const { return life_.recoveries; }
  // Tasks that did not end within the grace period when a session of this one was closed. They still ran then.
  const std::vector<std::string>& stragglers() const { return life_.stragglers; }

  // End of every hook, then stop, join for the grace period and close; each is done whatever went wrong before, and the
  // last error is returned. It is closed then, also if this fails. A second one is USAGE "Session is already closed.";
  // one from inside of a call of this session's (a hook, a step function) is USAGE and does nothing: ask for a stop
  // there.
  absl::Status Close();
  // Leaves the scope with what its body returned; what this returns is what the scope as a whole ended with.
  absl::Status Exit(const absl::Status& body);

  bool closed() const { return layer_ == nullptr; }
  // Null after close.
  const Graph* graph() const;

 protected:
  struct Settings {
    std::shared_ptr<SessionCreator> creator;
    std::vector<HookPtr> hooks;
    SessionLife life;
    QueueRunnerStarter start_queue_runners;
    bool recover = true;
    std::string trace_path;
    bool stop_on_sigterm = false;
  };
  MonitoredSessionBase(const Env& env, Graph& graph, Settings settings);
  absl::Status Init();
  const SessionPtr& raw() const { return creator_.session(); }

 private:
  Env WithTrace(Env env) const;
  void StartTrace(const std::string& path);
  absl::Status WatchSignals();
  absl::Status Construct();
  absl::Status TakeHooks();
  void ReleaseHooks();
  absl::Status CallBegin();
  absl::Status CallEnd();
  absl::Status CloseInternal(bool clean);
  absl::Status Leave(const absl::Status& body);
  // Without having been left.
  void Drop();
  // USAGE where `what` cannot be done from inside of a callback.
  absl::Status RefuseRun(std::string_view what) const;
  absl::Status RefuseClose() const;
  bool StopWanted() const { return life_.stop != nullptr && life_.stop->requested(); }
  // A call in progress: keeps the layers, whatever happens to the session meanwhile.
  class Call;
  bool IsCleanExit(const absl::Status& body) const;

  TraceWriter* const trace_;  // the process'; null: not traced
  const std::string trace_path_;
  const Env env_;
  Graph& graph_;
  const bool graph_was_finalized_;
  const bool recover_;
  const std::vector<HookPtr> hooks_;
  bool hooks_taken_ = false;
  SessionLife life_;
  CoordinatedSessionCreator creator_;
  std::shared_ptr<SessionLayer> layer_;  // null once closed
  int calls_ = 0;                        // in progress, one inside of the other
  const bool stop_on_sigterm_;
  std::unique_ptr<SignalWatch> watch_;
  RunOptions run_options_;  // of the run in progress; reused
};

struct MonitoredSessionOptions {
  std::shared_ptr<SessionCreator> session_creator;  // null: a ChiefSessionCreator with a default scaffold
  std::vector<HookPtr> hooks;
  Duration stop_grace_period = std::chrono::seconds(120);
  Behaviour behaviour = Behaviour::Default();
  QueueRunnerStarter start_queue_runners;  // null: StartQueueRunners
  // A file (best called x.trace) in which everything the session does is written down as it happens: `vigil replay`
  // plays it again. An existing file is kept, the new one gets a number. "" = none, at no cost. docs/traces.md
  std::string trace_path;
  // How long recovery may fail before it is given up (Behaviour::bounded_recovery); Duration::max() = never.
  Duration give_up_recovery_after = RecoveryPolicy::kGiveUpAfter;
  // Ends the training in good order, from any task: the run in progress is finished, ShouldStop() is true from then on,
  // waits (for a chief, before the next attempt of a recovery) end with CANCELLED. Runs are not refused.
  StopRequestPtr stop = nullptr;
  // SIGTERM is such a request; a second one ends the program at once. USAGE where the env has no signals.
  // docs/ending.md
  bool stop_on_sigterm = false;
};

// Recovers from ABORTED and UNAVAILABLE.
class MonitoredSession : public MonitoredSessionBase {
 public:
  // Begin of every hook, then a session that is ready. Blocks until then; of a preemption meanwhile it recovers.
  // Errors: what a hook's Begin or AfterCreateSession, the scaffold, or the session's creation failed with; USAGE for a
  // hook that is in an open session. Nothing is left open (by TensorFlow's behaviour a half-made session is).
  static absl::StatusOr<std::unique_ptr<MonitoredSession>> Create(const Env& env, Graph& graph,
                                                                  MonitoredSessionOptions options);

 private:
  using MonitoredSessionBase::MonitoredSessionBase;
};

struct SingularMonitoredSessionOptions {
  std::vector<HookPtr> hooks;
  std::shared_ptr<Scaffold> scaffold;  // null: a default one
  std::string master;
  SessionConfig config;
  std::string checkpoint_dir;
  Duration stop_grace_period = std::chrono::seconds(120);
  std::string checkpoint_filename_with_path;
  Behaviour behaviour = Behaviour::Default();
  std::shared_ptr<SessionFactory> factory;  // null: ClusterSessionFactory
  QueueRunnerStarter start_queue_runners;   // null: StartQueueRunners
  std::string trace_path;                   // as MonitoredSessionOptions', the next two also
  StopRequestPtr stop = nullptr;
  bool stop_on_sigterm = false;
};

// Recovers from nothing, is always the chief, and gives access to its raw session.
class SingularMonitoredSession : public MonitoredSessionBase {
 public:
  // As MonitoredSession's, but a preemption is the error.
  static absl::StatusOr<std::unique_ptr<SingularMonitoredSession>> Create(const Env& env, Graph& graph,
                                                                          SingularMonitoredSessionOptions options);
  // Null after close.
  Session* raw_session() const { return raw().get(); }

 private:
  using MonitoredSessionBase::MonitoredSessionBase;
};

// The with-block: runs `body` and leaves the scope with what it returned (or threw: OTHER). OK: the body ended well, or
// with the end of the input, and so did End of every hook and the close. Otherwise the body's error, or a later one.
template <typename S, typename Body>
absl::Status WithSession(S& session, Body&& body) {
  return session.Exit(CallGuarded([&]() -> absl::Status { return body(session); }));
}

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_MONITORED_SESSION_H_
