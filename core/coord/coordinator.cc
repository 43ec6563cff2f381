#include "vigil/core/coord/coordinator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "vigil/core/base/check.h"
#include "vigil/core/env/call_guarded.h"

namespace vigil {
namespace {

bool AnyRunning(const std::vector<TaskPtr>& tasks) {
  return std::any_of(tasks.begin(), tasks.end(), [](const TaskPtr& task) { return !task->done(); });
}

bool IsAmong(const std::vector<TaskPtr>& tasks, const TaskPtr& task) {
  return std::find(tasks.begin(), tasks.end(), task) != tasks.end();
}

}  // namespace

Coordinator::Coordinator(const Env& env, CoordinatorOptions options)
    : env_(env),
      options_(std::move(options)),
      stop_(*env.tasks, "coordinator stop"),
      joins_(*env.tasks, "coordinator join"),
      mutex_(env.tasks->NewMutex("coordinator")) {}

bool Coordinator::IsClean(const absl::Status& error) const {
  return std::find(options_.clean_stop_codes.begin(), options_.clean_stop_codes.end(), CodeOf(error)) !=
         options_.clean_stop_codes.end();
}

void Coordinator::EmitDetail(CoordinatorDetail what, Code code, std::int32_t tasks) const {
  env_.Emit({.kind = EventKind::kCoordinatorDetail,
             .code = code,
             .call = static_cast<std::uint8_t>(what),
             .index = tasks,
             .session = options_.session});
}

absl::Status Coordinator::RequestStop(const absl::Status& error) {
  const bool dirty = !error.ok() && !IsClean(error);
  {
    MutexLock lock(*mutex_);
    // Of what was before a ClearStop. Asked here, where no other one can come.
    if (!joined_ && CalledByGivenUp()) return dirty ? error : absl::OkStatus();
    env_.Emit({.kind = EventKind::kCoordinatorRequestStop, .code = CodeOf(error), .session = options_.session});
    if (joined_ && dirty) return error;
    if (stop_requested_.load(std::memory_order_relaxed)) return absl::OkStatus();
    if (dirty) error_ = error;
    if (dirty) EmitDetail(CoordinatorDetail::kStored, CodeOf(error));
    stop_requested_.store(true, std::memory_order_release);
    // Under the mutex, as ClearStop: between the two a flag that says stop and a notification that does not would part
    // for good.
    stop_.Notify();
  }
  if (dirty) env_.log->Write(Severity::kInfo, fmt::format("Error reported to Coordinator: {}", MessageOf(error)));
  return absl::OkStatus();
}

void Coordinator::RequestStopOrLog(std::string_view task, const absl::Status& error) {
  const absl::Status handed_back = RequestStop(error);
  if (handed_back.ok()) return;
  env_.log->Write(Severity::kWarning,
                  fmt::format("{} failed after its coordinator had been joined: {}", task, MessageOf(handed_back)));
}

bool Coordinator::WaitForStop(Duration timeout) {
  return CalledByGivenUp() || stop_.Wait(DeadlineAfter(env_, timeout)) || CalledByGivenUp();
}

bool Coordinator::WaitForJoin(Duration timeout) { return joins_.Wait(DeadlineAfter(env_, timeout)); }

void Coordinator::ClearStop() {
  MutexLock lock(*mutex_);
  joined_ = false;
  error_ = absl::OkStatus();
  stop_requested_.store(false, std::memory_order_release);
  stop_.Clear();
  joins_.Clear();
  EmitDetail(CoordinatorDetail::kCleared, Code::kOk);
}

void Coordinator::MarkDiverged() {
  diverged_.store(true, std::memory_order_release);
  std::function<void()> tell;
  {
    const SpinGuard lock(diverged_lock_);
    std::swap(tell, on_diverged_);
  }
  if (tell != nullptr) tell();
}

void Coordinator::OnDiverged(std::function<void()> tell) {
  const SpinGuard lock(diverged_lock_);
  std::swap(on_diverged_, tell);  // the old one goes after the lock
}

absl::Status Coordinator::RequestedError() const {
  MutexLock lock(*mutex_);
  return error_;
}

bool Coordinator::joined() const {
  MutexLock lock(*mutex_);
  return joined_;
}

void Coordinator::Register(TaskPtr task) {
  MutexLock lock(*mutex_);
  registered_.push_back(std::move(task));
  registrations_.fetch_add(1);
}

std::uint64_t Coordinator::AddRegistered(std::vector<TaskPtr>& tasks) const {
  MutexLock lock(*mutex_);
  for (const TaskPtr& task : registered_) {
    if (!IsAmong(tasks, task)) tasks.push_back(task);
  }
  return registrations_.load();
}

absl::Status Coordinator::Join(const JoinOptions& options) {
  joins_.Notify();
  env_.Emit({.kind = EventKind::kCoordinatorJoin, .session = options_.session});
  env_.Emit({.kind = EventKind::kCoordinatorDetail,
             .call = static_cast<std::uint8_t>(CoordinatorDetail::kJoins),
             .has_value = true,
             .session = options_.session,
             .value = ToSeconds(options.stop_grace_period)});
  std::vector<std::uint64_t> members = Members();
  std::vector<TaskPtr> tasks = options.tasks;
  std::uint64_t known = AddRegistered(tasks);
  // Who has registered since. The mutex, where tasks may change, is for those times that somebody has.
  const bool late = options_.behaviour.join_late_tasks;
  const auto add_late = [&] {
    if (late && registrations_.load() != known) known = AddRegistered(tasks);
    return AnyRunning(tasks);
  };
  while ((AnyRunning(tasks) || add_late()) && !WaitForStop(std::chrono::seconds(1))) {
  }
  // TensorFlow sleeps in doubling steps, which adds up to the grace period and one millisecond; a negative one is none
  // at all.
  if (options.stop_grace_period >= Duration::zero()) {
    const Time deadline = DeadlineAfter(env_, options.stop_grace_period) + std::chrono::milliseconds(1);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tasks[i]->Join(deadline);
      if (i + 1 == tasks.size()) add_late();
    }
  }
  std::vector<std::string> stragglers;
  for (const TaskPtr& task : tasks) {
    if (!task->done()) stragglers.push_back(task->name());
  }
  absl::Status error;
  {
    MutexLock lock(*mutex_);
    joined_ = true;
    std::erase_if(registered_, [&](const TaskPtr& task) { return !late || IsAmong(tasks, task); });
    stragglers_ = stragglers;
    error = error_;
  }
  // Only now: until there has been a join, what a task reports is nobody's of before a ClearStop.
  if (options_.behaviour.given_up_stay_stopped) GiveUp(members);
  EmitDetail(CoordinatorDetail::kJoined, CodeOf(error), static_cast<std::int32_t>(stragglers.size()));
  if (!error.ok() || stragglers.empty()) return error;
  const std::string text =
      fmt::format("Coordinator stopped with threads still running: {}", fmt::join(stragglers, " "));
  if (!options.ignore_live_tasks) return UsageError(text);
  env_.log->Write(options.severity_of_ignored, text);
  return absl::OkStatus();
}

std::vector<std::string> Coordinator::stragglers() const {
  MutexLock lock(*mutex_);
  return stragglers_;
}

Coordinator::Member::Member(Coordinator& coord) : coord_(coord), task_(coord.env_.tasks->CurrentTask()) {
  SpinGuard lock(coord_.members_lock_);
  coord_.members_.push_back({.number = ++coord_.last_member_, .task = task_, .given_up = false});
}

Coordinator::Member::~Member() {
  SpinGuard lock(coord_.members_lock_);
  const auto it = std::ranges::find(coord_.members_, task_, &Membership::task);
  VIGIL_CHECK(it != coord_.members_.end());
  if (it->given_up) coord_.given_up_.fetch_sub(1);
  coord_.members_.erase(it);
}

bool Coordinator::CalledByMember() const {
  const std::uint64_t caller = env_.tasks->CurrentTask();
  SpinGuard lock(members_lock_);
  return std::ranges::find(members_, caller, &Membership::task) != members_.end();
}

bool Coordinator::CalledByGivenUp() const {
  if (given_up_.load() == 0) return false;
  const std::uint64_t caller = env_.tasks->CurrentTask();
  SpinGuard lock(members_lock_);
  const auto it = std::ranges::find(members_, caller, &Membership::task);
  return it != members_.end() && it->given_up;
}

std::vector<std::uint64_t> Coordinator::Members() const {
  std::vector<std::uint64_t> members;
  SpinGuard lock(members_lock_);
  for (const Membership& member : members_) members.push_back(member.number);
  return members;
}

void Coordinator::GiveUp(const std::vector<std::uint64_t>& members) {
  const std::uint64_t caller = env_.tasks->CurrentTask();
  SpinGuard lock(members_lock_);
  for (Membership& member : members_) {
    const bool was_there = std::ranges::find(members, member.number) != members.end();
    if (member.given_up || member.task == caller || !was_there) continue;
    member.given_up = true;
    given_up_.fetch_add(1);
  }
}

absl::Status Coordinator::StopOnError(const std::function<absl::Status()>& body) {
  const absl::Status error = CallGuarded(body);
  return error.ok() ? error : RequestStop(error);
}

}  // namespace vigil
