#include "vigil/fakes/fake_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <utility>

#include "vigil/core/base/check.h"

namespace vigil::fakes {

struct FakeTasks::Job {
  std::string name;
  std::uint64_t number = 0;
  std::function<void()> body;
  std::unique_ptr<Condition> turn;  // real
  std::unique_ptr<Task> thread;     // real; null for the test itself
  std::string waits_for;
  Queue* queue = nullptr;  // it waits there; null: nowhere, or for time only
  Time deadline = kNever;
  bool blocked = false;
  bool timed_out = false;
  bool killed = false;
  bool done = false;
  Queue joiners;
};

class FakeMutex final : public Mutex {
 public:
  FakeMutex(FakeTasks& tasks, std::string_view name) : tasks_(tasks), name_(fmt::format("mutex \"{}\"", name)) {}

  void Lock() override {
    while (locked_) {
      if (tasks_.KilledCall()) return;
      VIGIL_CHECK(holder_ != tasks_.running_);  // locked twice by one task
      tasks_.Block(name_, &waiters_, kNever);
    }
    locked_ = true;
    holder_ = tasks_.running_;
  }
  void Unlock() override {
    if (!locked_ || holder_ != tasks_.running_) {
      VIGIL_CHECK(tasks_.running_->killed);  // unlocked by another than its holder
      return;
    }
    locked_ = false;
    tasks_.WakeAll(waiters_);
  }

 private:
  FakeTasks& tasks_;
  const std::string name_;
  bool locked_ = false;
  const FakeTasks::Job* holder_ = nullptr;
  FakeTasks::Queue waiters_;
};

class FakeCondition final : public Condition {
 public:
  FakeCondition(FakeTasks& tasks, std::string_view name)
      : tasks_(tasks), name_(fmt::format("condition \"{}\"", name)) {}

  bool Wait(Mutex& mutex, Time deadline) override {
    if (tasks_.KilledCall()) return false;
    mutex.Unlock();
    const bool notified = tasks_.Block(name_, &waiters_, deadline);
    mutex.Lock();
    return notified;
  }
  void NotifyAll() override { tasks_.WakeAll(waiters_); }

 private:
  FakeTasks& tasks_;
  const std::string name_;
  FakeTasks::Queue waiters_;
};

class FakeTask final : public Task {
 public:
  FakeTask(FakeTasks& tasks, std::shared_ptr<FakeTasks::Job> job) : tasks_(tasks), job_(std::move(job)) {}
  const std::string& name() const override { return job_->name; }
  bool done() const override { return job_->done; }
  bool Join(Time deadline) override {
    if (job_->done || tasks_.KilledCall()) return job_->done;
    tasks_.Block("the end of " + job_->name, &job_->joiners, deadline);
    return job_->done;
  }

 private:
  FakeTasks& tasks_;
  const std::shared_ptr<FakeTasks::Job> job_;
};

FakeTasks::FakeTasks(Tasks& threads, ManualClock& clock)
    : threads_(threads), clock_(clock), mutex_(threads.NewMutex("turns")) {
  running_ = jobs_.emplace_back(std::make_shared<Job>()).get();
  running_->name = "the test";
  running_->turn = threads_.NewCondition("turn of the test");
}

FakeTasks::~FakeTasks() { EndAll(); }

void FakeTasks::EndAll() {
  VIGIL_CHECK(running_ == jobs_.front().get());
  ending_ = true;
  for (std::size_t i = jobs_.size(); i-- > 1;) Kill(*jobs_[i]);
  for (const auto& job : jobs_) {
    if (job->thread != nullptr) job->thread->Join(kNever);
  }
  jobs_.resize(1);
}

std::unique_ptr<Task> FakeTasks::Spawn(std::string_view name, std::function<void()> body) {
  auto job = std::make_shared<Job>();
  job->name = std::string(name);
  auto handle = std::make_unique<FakeTask>(*this, job);
  if (running_->killed || ending_) {
    job->done = true;
    return handle;
  }
  std::erase_if(jobs_, [](const auto& old) { return old->done && old->thread->Join(kNever); });
  job->body = std::move(body);
  job->number = ++spawned_;
  job->turn = threads_.NewCondition(name);
  jobs_.push_back(job);
  ready_.push_back(job.get());
  job->thread = threads_.Spawn(name, [this, job] { RunJob(job); });
  return handle;
}

void FakeTasks::SleepUntil(Time deadline) {
  if (!KilledCall()) Block("time to pass", nullptr, deadline);
}

std::unique_ptr<Mutex> FakeTasks::NewMutex(std::string_view name) { return std::make_unique<FakeMutex>(*this, name); }

std::unique_ptr<Condition> FakeTasks::NewCondition(std::string_view name) {
  return std::make_unique<FakeCondition>(*this, name);
}

std::uint64_t FakeTasks::CurrentTask() { return running_->number; }

void FakeTasks::RunReady() {
  WakeDue();
  while (!ready_.empty()) {
    ready_.push_back(running_);
    GiveTurnTo(PickNext());
    WakeDue();
  }
}

bool FakeTasks::Block(const std::string& what, Queue* queue, Time deadline) {
  Job& self = *running_;
  self.waits_for = what;
  self.queue = queue;
  self.deadline = deadline;
  self.timed_out = false;
  self.blocked = true;
  if (queue != nullptr) queue->push_back(&self);
  GiveTurnTo(PickNext());
  if (self.killed) KilledCall();
  return !self.timed_out;
}

bool FakeTasks::KilledCall() const {
  if (!running_->killed) return false;
  if (std::uncaught_exceptions() > 0) return true;
  throw TaskKilled{};
}

void FakeTasks::Wake(Job& job) {
  if (job.queue != nullptr) job.queue->remove(&job);
  job.queue = nullptr;
  job.blocked = false;
  ready_.push_back(&job);
}

void FakeTasks::WakeAll(Queue& queue) {
  while (!queue.empty()) Wake(*queue.front());
}

void FakeTasks::WakeDue() {
  std::vector<Job*> due;
  for (const auto& job : jobs_) {
    if (job->blocked && job->deadline <= clock_.Monotonic()) due.push_back(job.get());
  }
  std::stable_sort(due.begin(), due.end(), [](const Job* a, const Job* b) { return a->deadline < b->deadline; });
  for (Job* const job : due) {
    job->timed_out = true;
    Wake(*job);
  }
}

FakeTasks::Job& FakeTasks::PickNext() {
  WakeDue();
  if (ready_.empty()) {
    Time earliest = kNever;
    for (const auto& job : jobs_) {
      if (job->blocked) earliest = std::min(earliest, job->deadline);
    }
    if (earliest == kNever) Deadlock();
    clock_.Advance(earliest - clock_.Monotonic());
    WakeDue();
  }
  Job& next = *ready_.front();
  ready_.pop_front();
  return next;
}

void FakeTasks::GiveTurnTo(Job& next) {
  Job& self = *running_;
  if (&next == &self) return;
  MutexLock lock(*mutex_);
  running_ = &next;
  next.turn->NotifyAll();
  if (!self.done) WaitForTurn(self);
}

void FakeTasks::WaitForTurn(Job& self) {
  while (running_ != &self) self.turn->Wait(*mutex_, kNever);
}

void FakeTasks::RunJob(const std::shared_ptr<Job>& job) {
  {
    MutexLock lock(*mutex_);
    WaitForTurn(*job);
  }
  try {
    if (!job->killed) job->body();
  } catch (const TaskKilled&) {
    // The end of its process.
  }
  job->body = nullptr;
  job->done = true;
  WakeAll(job->joiners);
  GiveTurnTo(ending_ ? *jobs_.front() : PickNext());
}

void FakeTasks::Kill(Job& job) {
  if (job.done) return;
  job.killed = true;
  if (job.queue != nullptr) job.queue->remove(&job);
  job.queue = nullptr;
  job.blocked = false;
  ready_.remove(&job);
  GiveTurnTo(job);
}

void FakeTasks::Deadlock() const {
  std::string text = "deadlock: nobody can run and nobody waits for a time";
  for (const auto& job : jobs_) {
    if (job->blocked) text += fmt::format("\n  {} waits for {}", job->name, job->waits_for);
  }
  fmt::print(stderr, "{}\n", text);
  std::abort();
}

}  // namespace vigil::fakes
