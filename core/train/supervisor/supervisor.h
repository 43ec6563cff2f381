// tf.train.Supervisor: prepares a session, runs services beside it (summaries, step rate, checkpoints) and stops all of
// it together. Deprecated in TensorFlow in favour of monitored sessions; complete here.
//
//   auto supervisor = Supervisor::Create(env, graph, {.logdir = "/tmp/mydir"});
//   absl::Status end = (*supervisor)->ManagedSession({}, [&](const SessionPtr& session) -> absl::Status {
//     while (!(*supervisor)->ShouldStop()) VIGIL_RETURN_IF_ERROR(RunTarget(*session, train));
//     return absl::OkStatus();
//   });
//
// The chief restores or initialises the model and runs the services; others wait until the chief has done so. The
// pieces that it works with (saver, init_op, ...) are given, found or made in Create, which finalizes the graph for
// good.
// Thread safety: one task at a time, but for RequestStop, ShouldStop, StopOnError, WaitForStop and coord(): from any
// task. While the checkpoint service runs the saver is its own.
// Dropped while it runs something (without Stop) it takes the error path: its destructor stops the coordinator, joins
// for the grace period, closes the sessions it has made and the writer, and says in the log who is left (by
// TensorFlow's behaviour all run on).
// Ownership: env's seams must outlive the supervisor and whatever it started that is still running, the graph the
// supervisor.
// Source: supervisor.py; recorded in replays/tensorflow.
#ifndef VIGIL_CORE_TRAIN_SUPERVISOR_SUPERVISOR_H_
#define VIGIL_CORE_TRAIN_SUPERVISOR_SUPERVISOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/atomic.h"
#include "vigil/core/base/event.h"
#include "vigil/core/coord/coordinator.h"
#include "vigil/core/coord/looper_thread.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/io/trace_writer.h"
#include "vigil/core/summary/summary_writer.h"
#include "vigil/core/train/session_manager.h"
#include "vigil/core/train/supervisor/supervisor_model.h"
#include "vigil/core/train/supervisor/supervisor_options.h"

namespace vigil {

namespace proto {
class Summary;
}

class Supervisor {
 public:
  static absl::StatusOr<std::unique_ptr<Supervisor>> Create(const Env& env, Graph& graph,
                                                            SupervisorOptions options = {});
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Makes a session of a model that is ready: restored, initialised or waited for. Clears an earlier stop and reopens
  // the writer; the chief then writes the graph and starts the services; queue runners last. What fails closes the
  // session (not so under Behaviour::TensorFlow()).
  absl::StatusOr<SessionPtr> PrepareOrWaitForSession(const PrepareSessionOptions& options = {});

  // Prepares a session, calls `body` with it, stops, closes. An error of any of it (or of a service) stops the
  // supervisor and is what this returns; OUT_OF_RANGE is a clean end. Nothing is retried. Two oddities of TensorFlow's:
  // a prepare that fails with OUT_OF_RANGE, and a STOP_ITERATION that is not the body's own, come out as USAGE.
  absl::Status ManagedSession(const ManagedSessionOptions& options,
                              const std::function<absl::Status(const SessionPtr&)>& body);

  // Writes START and starts the services that the options ask for; each makes its first pass at once. nullopt (and a
  // warning) without a logdir. USAGE for others than the chief.
  absl::StatusOr<std::optional<std::vector<TaskPtr>>> StartStandardServices(const SessionPtr& session);
  // Starts these queue runners; nullopt: all of the graph. PrepareOrWaitForSession has done so with the latter.
  absl::StatusOr<std::vector<TaskPtr>> StartQueueRunners(
      const SessionPtr& session, const std::optional<std::vector<QueueRunnerPtr>>& queue_runners = std::nullopt);
  // A task of the supervisor's that calls `target` periodically; see LooperThread. Stop() joins it.
  std::shared_ptr<LooperThread> Loop(std::optional<Duration> timer_interval, LooperThread::Target target,
                                     std::string name = std::string(LooperThread::kDefaultName));

  // Writes a (serialized) summary; without a step at the session's current one. USAGE without a writer.
  absl::Status SummaryComputed(const SessionPtr& session, const std::string& summary,
                               std::optional<std::int64_t> global_step = std::nullopt);
  absl::Status SummaryComputed(const SessionPtr& session, const proto::Summary& summary,
                               std::optional<std::int64_t> global_step = std::nullopt);

  // Stops services and coordinator and joins them; writes STOP and closes the writer whatever the join says, each time
  // it is called. The session stays open. Returns the error that somebody reported; USAGE for tasks that do not end. A
  // service, a loop or a queue runner of its coordinator, which it would wait for, may not call it (nor
  // ManagedSession): USAGE; RequestStop is for them.
  absl::Status Stop(const StopOptions& options = {});
  // These four: see Coordinator.
  absl::Status RequestStop(const absl::Status& error = absl::OkStatus()) { return coord_->RequestStop(error); }
  bool ShouldStop() const;
  absl::Status StopOnError(const std::function<absl::Status()>& body) { return coord_->StopOnError(body); }
  void WaitForStop() { coord_->WaitForStop(Duration::max()); }

  bool is_chief() const { return options_.is_chief; }
  const Env& env() const { return env_; }
  Graph& graph() const { return graph_; }
  const std::shared_ptr<Coordinator>& coord() const { return coord_; }
  const std::shared_ptr<SessionManager>& session_manager() const { return options_.session_manager; }
  std::optional<NodeId> init_op() const { return model_.init_op; }
  const Feeds& init_feed_dict() const { return options_.init_feed_dict; }
  std::optional<NodeId> local_init_op() const { return model_.local_init_op; }
  std::optional<Output> ready_op() const { return model_.ready_op; }
  std::optional<Output> ready_for_local_init_op() const { return model_.ready_for_local_init_op; }
  std::optional<Output> summary_op() const { return model_.summary_op; }
  std::optional<Output> global_step() const { return model_.global_step; }
  const SaverPtr& saver() const { return model_.saver; }
  // Of the chief; nullopt, "" and null for others.
  std::optional<Duration> save_summaries_secs() const;
  std::optional<Duration> save_model_secs() const;
  const std::string& logdir() const { return options_.logdir; }
  const std::string& save_path() const { return save_path_; }  // "<logdir>/<checkpoint_basename>"; "" without a logdir
  const SummaryWriterPtr& summary_writer() const { return summary_writer_; }

 private:
  Supervisor(const Env& env, Graph& graph, SupervisorOptions options, SupervisorModel model);
  absl::Status Init();
  Env WithTrace(Env env) const;
  void StartTrace(bool with_its_own_session_manager);
  // What the public methods of these names do between their events.
  absl::StatusOr<SessionPtr> Prepare(const PrepareSessionOptions& options);
  absl::Status Manage(const ManagedSessionOptions& options, const std::function<absl::Status(const SessionPtr&)>& body);
  absl::Status CallBody(const SessionPtr& session, const std::function<absl::Status(const SessionPtr&)>& body);
  absl::StatusOr<std::optional<std::vector<TaskPtr>>> StartServices(const SessionPtr& session);
  absl::StatusOr<std::vector<TaskPtr>> StartRunners(const SessionPtr& session,
                                                    const std::optional<std::vector<QueueRunnerPtr>>& queue_runners);
  absl::Status WriteSummary(const SessionPtr& session, const std::string& summary, std::optional<std::int64_t> step);
  absl::Status StopAll(const StopOptions& options);
  // `status` of a call on the writer.
  absl::Status Written(absl::Status status) const { return Failing(SupervisorMethod::kWriter, std::move(status)); }
  absl::Status Failing(SupervisorMethod method, absl::Status status) const;
  absl::StatusOr<SessionPtr> NewReadySession(const PrepareSessionOptions& options);
  absl::Status StartWhatRunsBeside(const SessionPtr& session, bool start_standard_services);
  absl::Status WriteGraph();
  void Drop();
  absl::Status RefuseInOwnTask(std::string_view what) const;
  absl::Status WatchSignals();
  // The last checkpoint of a chief that a signal has stopped.
  absl::Status SaveLast(Session& session);
  absl::Status LeaveManagedSession(const absl::Status& error, bool close_summary_writer);

  TraceWriter* const trace_;  // the process'; null: none
  const Env env_;
  Graph& graph_;
  SupervisorOptions options_;
  const SupervisorModel model_;
  const std::shared_ptr<Coordinator> coord_;
  std::string save_path_;
  SummaryWriterPtr summary_writer_;
  bool graph_added_to_summary_ = false;
  bool runs_ = false;                             // something that Stop would end
  std::vector<std::weak_ptr<Session>> sessions_;  // made since the last Stop
  const std::shared_ptr<Atomic<bool>> signalled_ = std::make_shared<Atomic<bool>>(false);
  std::unique_ptr<SignalWatch> watch_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_SUPERVISOR_SUPERVISOR_H_
