// How turns change. A task that blocks puts itself into the list of what it waits for and into the heap of timers, and
// picks who runs next on its own stack (PickNext), so that there is one switch a turn and none if it is itself again.
// Whoever makes something happen takes the waiting ones out of both (Wake) and appends them to runnable_. Only when
// that is empty does time move, to the earliest timer. A task is in one list at most by its link `ready`, and each
// change of turn is hashed: two runs with one hash have taken the same course.
#include "vigil/sim/kernel/scheduler.h"

#include <fmt/format.h>

#include <array>
#include <exception>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/env/tasks.h"

namespace vigil::sim {
namespace {

// So much less likely does a task stand still at a spin lock than at a call: there are many of them. With a fifth of
// that chance no race of two spin locks was found by 4,000 jobs (variable.two_change_at_once).
constexpr double kSpinsToACall = 2;

}  // namespace

void Scheduler::Die(const std::string& message) {
  fmt::print(stderr, "vigil: {}\n", message);
  std::abort();
}

Scheduler::Scheduler(const SchedulerOptions& options, Choices& choices, RunningHash& hash)
    : options_(options), choices_(choices), hash_(hash), runnable_(&TaskState::ready) {
  VIGIL_CHECK(options.stacks != nullptr);
}

Scheduler::~Scheduler() { VIGIL_CHECK(runnable_.empty() && timers_.empty()); }

TaskState& Scheduler::Spawn(TaskIdentity& identity, TaskGroup& process, std::function<void()> body) {
  VIGIL_CHECK(!identity.in_use);
  identity.in_use = true;
  auto* const task = new TaskState(*this, identity);
  task->body = std::move(body);
  task->group = &process;
  task->ends = NewObject();
  process.PushBack(*task);
  MakeReady(*task);
  return *task;
}

void Scheduler::SetTimer(Timer& timer, Duration at) {
  VIGIL_CHECK(timer.fire != nullptr);
  timers_.Add(timer, at);
}

void Scheduler::ClearTimer(Timer& timer) {
  if (timer.set()) timers_.Remove(timer);
}

void Scheduler::Pause(TaskGroup& process) {
  if (std::exchange(process.paused, true)) return;
  for (TaskState* task = runnable_.first; task != nullptr;) {
    TaskState* const next = task->ready.next;
    if (task->group == &process) {
      runnable_.Remove(*task);
      process.held.PushBack(*task);
    }
    task = next;
  }
}

void Scheduler::Resume(TaskGroup& process) {
  process.paused = false;
  while (!process.held.empty()) Wake(*process.held.first);
}

bool Scheduler::Block(const Wait& wait, TaskList* list, Duration deadline) {
  VIGIL_CHECK(current_ != nullptr);   // a blocking call outside of every task
  VIGIL_CHECK(spin_locks_held == 0);  // whoever came next would wait for that one for ever
  TaskState& self = *current_;
  VIGIL_CHECK(self.ready.list == nullptr && !self.set());  // who runs waits for nothing
  self.wait = wait;
  self.deadline = deadline;
  self.timed_out = false;
  if (deadline <= now_) {
    self.timed_out = true;
    MakeReady(self);
  } else {
    if (list != nullptr) list->PushBack(self);
    if (deadline != kNever.since_epoch) {
      timers_.Add(self, deadline);
      TouchTimers(self.group->memory, deadline, Access::kRead);
    }
  }
  TaskState* const next = PickNext();
  if (next != &self) SwitchTo(next);
  self.wait.kind = WaitKind::kNone;
  // A lock is taken, and given back, in destructors too.
  if (self.killed && wait.kind != WaitKind::kMutex && wait.kind != WaitKind::kStall) KilledCall();
  return !self.timed_out;
}

bool Scheduler::MayPreempt() const {
  return current_ != nullptr && !current_->killed && current_->undisturbed == 0 && !stopping_ &&
         kill_requests_.empty() && spin_locks_held == 0;
}

void Scheduler::PreemptionPoint() {
  if (options_.preempt == Preempt::kNowhere || !MayPreempt()) return;
  if (Stalls(options_.stalls, "stall", &TaskIdentity::stall)) return;
  GiveWay("preempt", &TaskIdentity::preempt, false);
}

// The object is the process's memory as far as it is shared so: which of them it was cannot be told. Nobody comes
// between while a mutex is held: a timer's callback, which cannot wait, may want it.
void Scheduler::AfterShared() noexcept {
  if (current_ == nullptr) return;
  if (options_.steps != nullptr) Touch(NamedObject("spins", {}, current_->group->memory), Access::kWrite);
  if (options_.preempt != Preempt::kAtSpins || current_->mutexes_held > 0 || !MayPreempt()) return;
  if (Stalls(options_.stalls / kSpinsToACall, "spin_stall", &TaskIdentity::spin_stall)) return;
  GiveWay("spin", &TaskIdentity::spin, true);
}

void Scheduler::GiveWay(std::string_view point, Choices::Key* TaskIdentity::*key_of_task, bool at_spin) {
  if (runnable_.empty() && options_.steps == nullptr) return;
  TaskState& self = *current_;
  // Ready again, and first among the labels: staying is the calm choice.
  TaskState* const next = runnable_.empty() ? &self : ChooseNext(point, key_of_task, true);
  if (!BeginStep(*next) || next == &self) return;
  runnable_.Remove(*next);
  MakeReady(self);
  hash_.AddSwitch(next->identity->id);
  ++switches_;
  if (at_spin) self.wait.kind = WaitKind::kPreempted;
  SwitchTo(next);
  self.wait.kind = WaitKind::kNone;
}

bool Scheduler::Stalls(double chance, std::string_view point, Choices::Key* TaskIdentity::*key_of_task) {
  if (chance <= 0) return false;
  constexpr std::array<std::string_view, 2> kWhether = {"goes on", "stands still"};
  constexpr std::array<std::string_view, 4> kLabels = {"1ms", "10ms", "100ms", "1s"};
  constexpr std::array<std::chrono::milliseconds, kLabels.size()> kTimes = {
      std::chrono::milliseconds(1), std::chrono::milliseconds(10), std::chrono::milliseconds(100),
      std::chrono::milliseconds(1000)};
  TaskIdentity& task = *current_->identity;
  Choices::Key*& whether = task.*key_of_task;
  if (whether == nullptr) whether = &choices_.KeyOf(task.label, point);
  if (task.stall_for == nullptr) task.stall_for = &choices_.KeyOf(task.label, "stall_for");
  if (!choices_.ChooseByChance(*whether, chance, kWhether)) return false;
  const Duration lasts = kTimes[choices_.Choose(*task.stall_for, kLabels)];
  Block({WaitKind::kStall, "", nullptr}, nullptr, now_ + lasts);
  return true;
}

void Scheduler::Wake(TaskState& task) {
  if (task.ready.list != nullptr) task.ready.list->Remove(task);
  if (task.set()) timers_.Remove(task);
  MakeReady(task);
}

void Scheduler::WakeAll(TaskList& list) {
  while (!list.empty()) Wake(*list.first);
}

StopReason Scheduler::Run() {
  VIGIL_CHECK(current_ == nullptr && !thread_);
  thread_.emplace();
  TurnTaker* const before = std::exchange(Turns::taker, static_cast<TurnTaker*>(this));
  stopping_ = false;
  stop_reason_ = StopReason::kIdle;
  while (true) {
    TaskState* const next = requester_ != nullptr ? std::exchange(requester_, nullptr) : PickNext();
    // A timer's callback may have asked for a kill.
    if (next == nullptr && kill_requests_.empty()) break;
    if (next != nullptr) SwitchTo(next);
    UnwindRequested();
  }
  Turns::taker = before;
  thread_.reset();
  return stop_reason_;
}

void Scheduler::Stop(StopReason reason, std::string limit_text) {
  if (stopping_) return;
  TouchEverything();
  for (const TaskState* task = runnable_.first; options_.steps != nullptr && task != nullptr; task = task->ready.next) {
    options_.steps->Ended(task->identity->label);
  }
  stopping_ = true;
  stop_reason_ = reason;
  limit_text_ = std::move(limit_text);
}

void Scheduler::StopNow(StopReason reason, std::string limit_text) {
  Stop(reason, std::move(limit_text));
  if (current_ != nullptr) current_->killed = true;
}

Fiber& Scheduler::TaskBody(void* argument) noexcept {
  auto& task = *static_cast<TaskState*>(argument);
  try {
    task.body();
  } catch (const TaskKilled&) {
    // The end of its process; what is left is to go.
  } catch (const std::exception& error) {
    Die(fmt::format("task {} ended by an exception: {}", task.identity->label, error.what()));
  }
  task.leaving = true;
  task.body = nullptr;
  return task.scheduler.Finish(task);
}

TaskState* Scheduler::PickNext() {
  while (true) {
    if (stopping_ || !kill_requests_.empty()) return nullptr;
    if (options_.interrupt != nullptr && options_.interrupt->load(std::memory_order_relaxed)) {
      Stop(StopReason::kInterrupted);
      return nullptr;
    }
    if (options_.max_switches != 0 && switches_ >= options_.max_switches) {
      Stop(StopReason::kLimit, fmt::format("{} switches", switches_));
      return nullptr;
    }
    if (due_) {
      FireDue();
      continue;
    }
    if (!runnable_.empty()) break;
    if (!JumpToNextTimer()) return nullptr;
  }
  TaskState* const next =
      runnable_.size == 1 ? runnable_.first : ChooseNext("schedule", &TaskIdentity::schedule, false);
  VIGIL_CHECK(!next->group->paused);
  if (!BeginStep(*next)) return nullptr;
  runnable_.Remove(*next);
  hash_.AddSwitch(next->identity->id);
  ++switches_;
  return next;
}

void Scheduler::MakeReady(TaskState& task) {
  VIGIL_CHECK(!task.done);
  TaskGroup& process = *task.group;
  (process.paused ? process.held : runnable_).PushBack(task);
  if (options_.steps != nullptr && &task != current_) options_.steps->Woke(task.identity->label);
}

TaskState* Scheduler::ChooseNext(std::string_view point, Choices::Key* TaskIdentity::*key_of_task, bool stays) {
  candidates_.clear();
  labels_.clear();
  const auto add = [this](TaskState* task) {
    candidates_.push_back(task);
    labels_.push_back(task->identity->label);
  };
  if (stays) add(current_);
  for (TaskState* task = runnable_.first; task != nullptr; task = task->ready.next) add(task);

  Choices::Key* key = nullptr;
  if (current_ == nullptr) {
    if (outside_key_ == nullptr) outside_key_ = &choices_.KeyOf(kOutsideLabel, point);
    key = outside_key_;
  } else {
    Choices::Key*& known = current_->identity->*key_of_task;
    if (known == nullptr) known = &choices_.KeyOf(current_->identity->label, point);
    key = known;
  }
  if (options_.steps != nullptr) OfferSteps();
  return candidates_[choices_.Choose(*key, labels_)];
}

void Scheduler::OfferSteps() {
  blockers_.clear();
  for (const TaskState* const task : candidates_) blockers_.push_back(task->Blocker());
  options_.steps->Offers(blockers_, next_object_);
}

bool Scheduler::BeginStep(TaskState& task) {
  if (options_.steps == nullptr) return true;
  options_.steps->StepBegins(task.identity->label, task.Blocker().empty() ? task.group->memory : 0);
  if (options_.steps->Enough()) Stop(StopReason::kInterrupted);
  return !stopping_;
}

void Scheduler::TouchEnded(const TaskGroup& process) {
  if (options_.steps == nullptr) return;
  Touch(process.memory, Access::kWrite);
  for (const TaskState* task = process.first; task != nullptr; task = task->peers.next) {
    if (task != current_ && task->ready.list == &runnable_) options_.steps->Ended(task->identity->label);
  }
}

void Scheduler::TouchTimers(ObjectId whose, Duration at, Access access) {
  if (options_.steps != nullptr)
    Touch(NamedObject("timers", {}, whose + static_cast<std::uint64_t>(at.count())), access);
}

bool Scheduler::JumpToNextTimer() {
  if (options_.steps != nullptr) options_.steps->TimePasses();
  if (timers_.empty()) return false;
  const Duration at = timers_.next_time();
  if (options_.max_virtual.count() != 0 && at > options_.max_virtual) {
    Stop(StopReason::kLimit, fmt::format("{} s of virtual time", ToSeconds(options_.max_virtual)));
    return false;
  }
  if (at > now_) {
    now_ = at;
    hash_.AddTime(now_);
  }
  due_ = true;
  FireDue();
  return true;
}

void Scheduler::FireDue() {
  VIGIL_CHECK(!firing_);  // a timer's callback may not block
  while (!timers_.empty() && timers_.next_time() <= now_) {
    Timer& timer = timers_.next();
    if (timer.fire == nullptr) {
      auto& task = static_cast<TaskState&>(timer);
      task.timed_out = true;
      Wake(task);
      continue;
    }
    timers_.Remove(timer);
    // On the stack of the task that gives way, but not as that task.
    TaskState* const giving_way = std::exchange(current_, nullptr);
    firing_ = true;
    timer.fire(timer);
    firing_ = false;
    current_ = giving_way;
    if (stopping_ || !kill_requests_.empty()) return;
  }
  due_ = false;
}

void Scheduler::SwitchTo(TaskState* next) {
  TaskState* const self = current_;
  Fiber& from = self == nullptr ? thread_->main() : *self->fiber;
  VIGIL_CHECK(next != self && (next == nullptr || !next->done));
  VIGIL_CHECK(spin_locks_held == 0);  // of who leaves
  Fiber& to = next == nullptr ? thread_->main() : FiberOf(*next);
  current_ = next;
  thread_->Switch(from, to);
  current_ = self;
}

Fiber& Scheduler::FiberOf(TaskState& task) {
  if (task.fiber == nullptr) {
    task.fiber = &options_.stacks->Acquire(&Scheduler::TaskBody, &task);
    task.fiber->set_owner(task.identity->label);
  }
  return *task.fiber;
}

Fiber& Scheduler::Finish(TaskState& task) {
  VIGIL_CHECK(current_ == &task && task.ready.list == nullptr && !task.set());
  options_.stacks->Release(*task.fiber);
  SetDone(task);
  TaskState* const next = unwinding_ ? nullptr : PickNext();
  current_ = next;
  task.Unreference();
  return next == nullptr ? thread_->main() : FiberOf(*next);
}

void Scheduler::SetDone(TaskState& task) {
  VIGIL_CHECK(!std::exchange(task.done, true));
  task.fiber = nullptr;
  task.identity->in_use = false;
  Touch(task.ends, Access::kWrite);
  Touch(task.identity->names, Access::kRead);
  task.peers.list->Remove(task);
  WakeAll(task.joiners);
}

}  // namespace vigil::sim
