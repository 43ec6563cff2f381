#include "vigil/core/env/real/threads.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace vigil {
namespace {

std::chrono::steady_clock::time_point PointOf(Time time) {
  return std::chrono::steady_clock::time_point(time.since_epoch);
}

// False = the deadline passed.
bool WaitUntil(std::condition_variable& condition, std::unique_lock<std::mutex>& lock, Time deadline) {
  if (deadline == kNever) {
    condition.wait(lock);
    return true;
  }
  return condition.wait_until(lock, PointOf(deadline)) == std::cv_status::no_timeout;
}

class ThreadMutex final : public Mutex {
 public:
  void Lock() override { mutex_.lock(); }
  void Unlock() override { mutex_.unlock(); }
  std::mutex& native() { return mutex_; }

 private:
  std::mutex mutex_;
};

class ThreadCondition final : public Condition {
 public:
  bool Wait(Mutex& mutex, Time deadline) override {
    std::unique_lock lock(static_cast<ThreadMutex&>(mutex).native(), std::adopt_lock);
    const bool notified = WaitUntil(condition_, lock, deadline);
    lock.release();  // the caller's again
    return notified;
  }
  void NotifyAll() override { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

// What a thread and its handle share; either may go first.
struct Completion {
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
};

class ThreadTask final : public Task {
 public:
  ThreadTask(std::string name, std::shared_ptr<Completion> completion)
      : name_(std::move(name)), completion_(std::move(completion)) {}
  const std::string& name() const override { return name_; }
  bool done() const override {
    const std::lock_guard lock(completion_->mutex);
    return completion_->done;
  }
  bool Join(Time deadline) override {
    std::unique_lock lock(completion_->mutex);
    while (!completion_->done) {
      if (!WaitUntil(completion_->ended, lock, deadline)) return completion_->done;
    }
    return true;
  }

 private:
  const std::string name_;
  const std::shared_ptr<Completion> completion_;
};

}  // namespace

std::unique_ptr<Task> Threads::Spawn(std::string_view name, std::function<void()> body) {
  auto completion = std::make_shared<Completion>();
  std::thread([completion, body = std::move(body)]() mutable {
    try {
      body();
    } catch (const TaskKilled&) {
      // Nothing here throws it; a body that does has ended.
    }
    body = nullptr;  // what it holds goes before anybody hears of the end
    const std::lock_guard lock(completion->mutex);
    completion->done = true;
    completion->ended.notify_all();
  }).detach();
  return std::make_unique<ThreadTask>(std::string(name), std::move(completion));
}

void Threads::SleepUntil(Time deadline) {
  while (deadline == kNever) std::this_thread::sleep_for(std::chrono::hours(24));
  std::this_thread::sleep_until(PointOf(deadline));
}

std::unique_ptr<Mutex> Threads::NewMutex(std::string_view) { return std::make_unique<ThreadMutex>(); }

std::unique_ptr<Condition> Threads::NewCondition(std::string_view) { return std::make_unique<ThreadCondition>(); }

// The system's number of the thread.
std::uint64_t Threads::CurrentTask() { return static_cast<std::uint64_t>(gettid()); }

}  // namespace vigil
