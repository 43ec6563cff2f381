// tf.train.QueueRunner: tasks that keep a queue filled until the input ends or the coordinator stops.
//
// One task for each enqueue op, and one that cancels the queue when the coordinator stops (so joining the coordinator
// blocks until somebody asks for a stop, even after the input has ended). When the last enqueue task meets the end of
// its input it closes the queue, so that readers see OUT_OF_RANGE after the last element. Any other error stops the
// coordinator, and the queue stays open.
// Thread safety: safe from any task. Ownership: tasks share runner, session and coordinator.
// Source: queue_runner_impl.py.
#ifndef VIGIL_CORE_COORD_QUEUE_RUNNER_H_
#define VIGIL_CORE_COORD_QUEUE_RUNNER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/event.h"
#include "vigil/core/coord/coordinator.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/session/session.h"

namespace vigil {

struct QueueRunnerOptions {
  std::string queue_name;
  std::vector<NodeId> enqueue_ops;  // one task each; the same op may be there several times
  NodeId close_op = kNoNode;        // none: the queue is not closed at the end of the input
  NodeId cancel_op = kNoNode;       // none: a stop ends no enqueue that waits for room
  // Run at a stop as well, before the cancel op: of the two one may fail for a lost server. What of the two is lost
  // (ABORTED, UNAVAILABLE, DEADLINE_EXCEEDED) is tried again until somebody joins, for half an hour at most
  // (Behaviour::bounded_waits of the coordinator).
  NodeId wake_op = kNoNode;
  std::vector<Code> queue_closed_codes = {Code::kOutOfRange};  // an enqueue that fails so has met the end of the input
};

class QueueRunner : public std::enable_shared_from_this<QueueRunner> {
 public:
  // USAGE "Must provide queue and enqueue_ops." and for an empty list of closed codes.
  static absl::StatusOr<std::shared_ptr<QueueRunner>> Create(const Env& env, QueueRunnerOptions options);

  // Starts the tasks and registers them with the coordinator; none if this session has running ones already. Forgets
  // the errors raised before. Without a coordinator (null) there is no task that cancels, and an error other than the
  // end of the input is logged, kept and ends its task only. RESOURCE_EXHAUSTED where the system has no thread left:
  // those that were started are registered, and end as always.
  absl::StatusOr<std::vector<TaskPtr>> CreateTasks(std::shared_ptr<Session> session,
                                                   std::shared_ptr<Coordinator> coord);

  // What tasks without a coordinator failed with, since the last CreateTasks that started some.
  std::vector<absl::Status> errors_raised() const;

  const std::string& name() const { return options_.queue_name; }  // the queue's
  const QueueRunnerOptions& options() const { return options_; }

 private:
  QueueRunner(const Env& env, QueueRunnerOptions options);
  void Enqueue(Session& session, Coordinator* coord, NodeId op);
  // Counts tasks that end (or never began); whether they were the session's last.
  bool Leave(const Session& session, int tasks = 1);
  void Report(Coordinator* coord, const absl::Status& error);
  void EmitDetail(const Session& session, QueueDetail what, Event detail = {.kind = EventKind::kQueueDetail}) const;
  void CloseOnStop(Session& session, Coordinator& coord);

  const Env env_;
  const QueueRunnerOptions options_;
  const std::unique_ptr<Mutex> mutex_;
  // Guarded by *mutex_.
  std::map<std::int64_t, int> runs_per_session_;  // running enqueue tasks by session number
  std::vector<absl::Status> errors_raised_;
};

using QueueRunnerPtr = std::shared_ptr<QueueRunner>;
inline constexpr CollectionKey<QueueRunnerPtr> kQueueRunners{"queue_runners"};

// Starts every queue runner of the session's graph: all their tasks. USAGE without a session. A monitored session has
// started them itself, and is no Session: passing one does not compile.
absl::StatusOr<std::vector<TaskPtr>> StartQueueRunners(const std::shared_ptr<Session>& session,
                                                       const std::shared_ptr<Coordinator>& coord);

}  // namespace vigil

#endif  // VIGIL_CORE_COORD_QUEUE_RUNNER_H_
