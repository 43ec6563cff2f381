#include "vigil/core/coord/queue_runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "vigil/core/base/status_macros.h"

namespace vigil {

QueueRunner::QueueRunner(const Env& env, QueueRunnerOptions options)
    : env_(env), options_(std::move(options)), mutex_(env.tasks->NewMutex("queue runner")) {}

absl::StatusOr<std::shared_ptr<QueueRunner>> QueueRunner::Create(const Env& env, QueueRunnerOptions options) {
  if (options.queue_name.empty() || options.enqueue_ops.empty())
    return UsageError("Must provide queue and enqueue_ops.");
  if (options.queue_closed_codes.empty()) {
    return UsageError("queue_closed_codes must not be empty: name the codes that mean the end of the input.");
  }
  return std::shared_ptr<QueueRunner>(new QueueRunner(env, std::move(options)));
}

absl::StatusOr<std::vector<TaskPtr>> QueueRunner::CreateTasks(std::shared_ptr<Session> session,
                                                              std::shared_ptr<Coordinator> coord) {
  const int count = static_cast<int>(options_.enqueue_ops.size());
  {
    MutexLock lock(*mutex_);
    int& running = runs_per_session_[session->number()];
    if (running > 0) return std::vector<TaskPtr>();
    running = count;
  }
  std::vector<TaskPtr> tasks;
  const std::shared_ptr<QueueRunner> self = shared_from_this();
  for (const NodeId op : options_.enqueue_ops) {
    tasks.push_back(env_.tasks->Spawn(fmt::format("QueueRunnerThread-{}-{}", name(), session->graph().node(op).name),
                                      [self, session, coord, op] { self->Enqueue(*session, *coord, op); }));
  }
  tasks.push_back(env_.tasks->Spawn(fmt::format("QueueRunnerThread-{}-close_on_stop", name()),
                                    [self, session, coord] { self->CloseOnStop(*session, *coord); }));
  for (const TaskPtr& task : tasks) coord->Register(task);
  return tasks;
}

void QueueRunner::Enqueue(Session& session, Coordinator& coord, NodeId op) {
  bool decremented = false;
  const auto leave = [&](bool* was_last) {
    MutexLock lock(*mutex_);
    int& running = runs_per_session_[session.number()];
    *was_last = --running == 0;
    decremented = true;
  };
  bool last = false;
  while (!coord.ShouldStop()) {
    const absl::Status status = RunTarget(session, op);
    if (status.ok()) continue;
    const auto& closed = options_.queue_closed_codes;
    if (std::find(closed.begin(), closed.end(), CodeOf(status)) != closed.end()) {
      leave(&last);
      // Whatever close fails with, the input has ended; TensorFlow ignores it too.
      if (last && options_.close_op != kNoNode) RunTarget(session, options_.close_op).IgnoreError();
      return;
    }
    // Handed back after a join: nobody is left to be told.
    coord.RequestStop(status).IgnoreError();
    break;
  }
  if (!decremented) leave(&last);
}

void QueueRunner::CloseOnStop(Session& session, Coordinator& coord) {
  coord.WaitForStop(Duration::max());
  // Fails when the session has been closed meanwhile: then nobody waits for the queue any more.
  if (options_.cancel_op != kNoNode) RunTarget(session, options_.cancel_op).IgnoreError();
}

absl::Status StartQueueRunners(const std::shared_ptr<Session>& session, const std::shared_ptr<Coordinator>& coord) {
  for (const QueueRunnerPtr& runner : session->graph().Collection(kQueueRunners)) {
    VIGIL_RETURN_IF_ERROR(runner->CreateTasks(session, coord).status());
  }
  return absl::OkStatus();
}

}  // namespace vigil
