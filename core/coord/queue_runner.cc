#include "vigil/core/coord/queue_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/call_guarded.h"

namespace vigil {
namespace {

// How often the ops that end a queue's waits are tried again when they get lost.
constexpr Duration kFirstPause = std::chrono::seconds(1);
constexpr Duration kLongestPause = std::chrono::seconds(60);
constexpr Duration kTriedFor = std::chrono::minutes(30);

}  // namespace

QueueRunner::QueueRunner(const Env& env, QueueRunnerOptions options)
    : env_(env), options_(std::move(options)), mutex_(env.tasks->NewMutex("queue runner")) {}

absl::StatusOr<std::shared_ptr<QueueRunner>> QueueRunner::Create(const Env& env, QueueRunnerOptions options) {
  if (options.queue_name.empty() || options.enqueue_ops.empty())
    return UsageError("Must provide queue and enqueue_ops.");
  if (std::ranges::find(options.enqueue_ops, kNoNode) != options.enqueue_ops.end()) {
    return UsageError(fmt::format("An enqueue op of the queue runner '{}' is no node of a graph.", options.queue_name));
  }
  if (options.queue_closed_codes.empty()) {
    return UsageError("queue_closed_codes must not be empty: name the codes that mean the end of the input.");
  }
  return std::shared_ptr<QueueRunner>(new QueueRunner(env, std::move(options)));
}

absl::StatusOr<std::vector<TaskPtr>> QueueRunner::CreateTasks(std::shared_ptr<Session> session,
                                                              std::shared_ptr<Coordinator> coord) {
  {
    MutexLock lock(*mutex_);
    int& running = runs_per_session_[session->number()];
    if (running > 0) return std::vector<TaskPtr>();
    running = static_cast<int>(options_.enqueue_ops.size());
    errors_raised_.clear();
  }
  EmitDetail(*session, QueueDetail::kStarted,
             {.kind = EventKind::kQueueDetail,
              .closed = coord != nullptr && options_.cancel_op != kNoNode,
              .index = static_cast<std::int32_t>(options_.enqueue_ops.size()),
              .value = options_.close_op != kNoNode ? 1.0 : 0.0});
  std::vector<TaskPtr> tasks;
  const std::shared_ptr<QueueRunner> self = shared_from_this();
  absl::Status status;
  const auto spawn = [&](std::string_view what, std::function<void()> body) {
    absl::StatusOr<std::unique_ptr<Task>> task =
        TrySpawn(*env_.tasks, fmt::format("QueueRunnerThread-{}-{}", name(), what), std::move(body));
    status = task.status();
    if (status.ok()) tasks.push_back(*std::move(task));
    return status.ok();
  };
  int started = 0;
  for (const NodeId op : options_.enqueue_ops) {
    if (!spawn(session->graph().node(op).name,
               [self, session, coord, op] { self->Enqueue(*session, coord.get(), op); })) {
      // Or they would count as running for ever.
      Leave(*session, static_cast<int>(options_.enqueue_ops.size()) - started);
      break;
    }
    ++started;
  }
  if (coord == nullptr) {
    if (!status.ok()) return status;
    return tasks;
  }
  if (status.ok()) spawn("close_on_stop", [self, session, coord] { self->CloseOnStop(*session, *coord); });
  for (const TaskPtr& task : tasks) coord->Register(task);
  if (!status.ok()) return status;
  return tasks;
}

void QueueRunner::EmitDetail(const Session& session, QueueDetail what, Event detail) const {
  detail.call = static_cast<std::uint8_t>(what);
  detail.session = session.number();
  detail.subject = name();
  env_.Emit(detail);
}

bool QueueRunner::Leave(const Session& session, int tasks) {
  MutexLock lock(*mutex_);
  return (runs_per_session_[session.number()] -= tasks) == 0;
}

void QueueRunner::Report(Coordinator* coord, const absl::Status& error) {
  if (coord != nullptr) {
    coord->RequestStopOrLog(fmt::format("The queue runner '{}'", name()), error);
    return;
  }
  env_.log->Write(Severity::kError, fmt::format("Exception in QueueRunner: {}", MessageOf(error)));
  MutexLock lock(*mutex_);
  errors_raised_.push_back(error);
}

void QueueRunner::Enqueue(Session& session, Coordinator* coord, NodeId op) {
  std::optional<Coordinator::Member> member;
  if (coord != nullptr) member.emplace(*coord);
  const std::vector<Code>& closed = options_.queue_closed_codes;
  absl::Status status;
  while (status.ok() && (coord == nullptr || !coord->ShouldStop())) status = RunTarget(session, op);
  // TensorFlow's run is a prepared one.
  if (CodeOf(status) == Code::kUsage && session.closed()) status = ClosedMeanwhile();
  const bool ended = !status.ok() && std::ranges::find(closed, CodeOf(status)) != closed.end();
  if (!status.ok() && !ended) Report(coord, status);
  const bool last = Leave(session);
  EmitDetail(session, QueueDetail::kEnqueueEnded,
             {.kind = EventKind::kQueueDetail, .code = CodeOf(status), .closed = ended, .index = last ? 0 : 1});
  // Whatever close fails with, the input has ended; TensorFlow ignores it too.
  if (!ended || !last || options_.close_op == kNoNode) return;
  EmitDetail(session, QueueDetail::kCloses);
  RunTarget(session, options_.close_op).IgnoreError();
}

void QueueRunner::CloseOnStop(Session& session, Coordinator& coord) {
  const Coordinator::Member member(coord);
  coord.WaitForStop(Duration::max());
  bool wakes = options_.wake_op != kNoNode;
  bool cancels = options_.cancel_op != kNoNode;
  const auto is_lost = [&session](NodeId op) {
    const absl::Status status = RunTarget(session, op);
    return IsPreemption(status) || CodeOf(status) == Code::kDeadlineExceeded;
  };
  const Time give_up = DeadlineAfter(env_, kTriedFor);
  // They fail when the session has been closed meanwhile: then nobody waits for the queue any more. If they got lost,
  // somebody may still stand in a run that they were to end, and would never come to join.
  for (Duration pause = kFirstPause;; pause = std::min(pause + pause, kLongestPause)) {
    wakes = wakes && is_lost(options_.wake_op);
    if (cancels) {
      EmitDetail(session, QueueDetail::kCancels);
      cancels = is_lost(options_.cancel_op);
    }
    if ((!wakes && !cancels) || !coord.behaviour().bounded_waits || env_.clock->Monotonic() >= give_up) return;
    if (coord.WaitForJoin(pause)) return;
  }
}

std::vector<absl::Status> QueueRunner::errors_raised() const {
  MutexLock lock(*mutex_);
  return errors_raised_;
}

absl::StatusOr<std::vector<TaskPtr>> StartQueueRunners(const std::shared_ptr<Session>& session,
                                                       const std::shared_ptr<Coordinator>& coord) {
  if (session == nullptr) {
    return UsageError("Cannot start queue runners: No default session is registered. Pass the session explicitly.");
  }
  std::vector<TaskPtr> all;
  for (const QueueRunnerPtr& runner : session->graph().Collection(kQueueRunners)) {
    VIGIL_ASSIGN_OR_RETURN(const std::vector<TaskPtr> tasks, runner->CreateTasks(session, coord));
    all.insert(all.end(), tasks.begin(), tasks.end());
  }
  return all;
}

}  // namespace vigil
