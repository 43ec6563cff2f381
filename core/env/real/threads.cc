#include "vigil/core/env/real/threads.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

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

// On a thread that nobody joins, from the start: pthread_detach, and so std::thread::detach, reads what the thread has
// left behind after it has let go of it (glibc bug 19951). Where the thread ends in that very moment that is memory
// which has gone, or another thread's.
template <typename Body>
void RunDetached(Body body) {
  auto owned = std::make_unique<Body>(std::move(body));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  const int error = pthread_create(
      &thread, &attributes,
      [](void* owner) -> void* {
        const std::unique_ptr<Body> own(static_cast<Body*>(owner));
        (*own)();
        return nullptr;
      },
      owned.get());
  pthread_attr_destroy(&attributes);
  if (error != 0) throw std::system_error(error, std::generic_category());
  owned.release();  // NOLINT(bugprone-unused-return-value): the thread's
}

}  // namespace

// What a thread and its handle share; either may go first.
struct Threads::Completion {
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
};

class Threads::Handle final : public Task {
 public:
  Handle(std::string name, std::shared_ptr<Completion> completion)
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

// Who has not ended. Shared with the threads, which may be the last to go.
class Threads::Roster {
 public:
  std::uint64_t Add(std::string_view name) {
    const std::lock_guard lock(mutex_);
    names_.emplace(++last_, name);
    return last_;
  }
  void Remove(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    names_.erase(number);
    left_.notify_all();
  }
  std::vector<std::string> Wait(Duration patience) {
    std::unique_lock lock(mutex_);
    left_.wait_for(lock, patience, [this] { return names_.empty(); });
    std::vector<std::string> names;
    for (const auto& [number, name] : names_) names.push_back(name);
    return names;
  }

 private:
  std::mutex mutex_;
  std::condition_variable left_;
  std::map<std::uint64_t, std::string> names_;
  std::uint64_t last_ = 0;
};

// What a thread does.
class Threads::Work {
 public:
  Work(std::shared_ptr<void> owner, std::shared_ptr<Roster> roster, std::string_view name, std::function<void()> body)
      : kept_(std::move(owner)), roster_(std::move(roster)), number_(roster_->Add(name)), body_(std::move(body)) {}
  // Leaves the roster also where no thread can be made.
  ~Work() { roster_->Remove(number_); }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  std::shared_ptr<Completion> completion() const { return completion_; }
  void Run() {
    try {
      body_();
    } catch (const TaskKilled&) {
      // Nothing here throws it; a body that does has ended.
    }
    body_ = nullptr;  // what it holds goes before anybody hears of the end
    const std::lock_guard lock(completion_->mutex);
    completion_->done = true;
    completion_->ended.notify_all();
  }

 private:
  const std::shared_ptr<void> kept_;  // goes last: it may be what the roster's owner lives in
  const std::shared_ptr<Roster> roster_;
  const std::uint64_t number_;
  const std::shared_ptr<Completion> completion_ = std::make_shared<Completion>();
  std::function<void()> body_;
};

// Threads that have done their work, and wait a moment for more: to wake one costs less than to make one. Shared with
// them.
class Threads::Idle {
 public:
  // false: there is none.
  bool Give(std::unique_ptr<Work>& work) {
    if (IsOfParent()) return false;
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return false;
    Seat* const seat = waiting_.back();  // the one whose memory is the warmest
    waiting_.pop_back();
    seat->work = std::move(work);
    seat->called.notify_one();
    return true;
  }
  // null: the thread may go.
  std::unique_ptr<Work> Next() {
    if (IsOfParent()) return nullptr;
    std::unique_lock lock(mutex_);
    if (closed_ || waiting_.size() >= kMost) return nullptr;
    Seat seat;
    waiting_.push_back(&seat);
    seat.called.wait_for(lock, kPatience, [&] { return seat.work != nullptr || closed_; });
    if (seat.work == nullptr) std::erase(waiting_, &seat);
    return std::move(seat.work);
  }
  void Close() {
    if (IsOfParent()) return;
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (Seat* const seat : waiting_) seat->called.notify_one();
  }

 private:
  static constexpr std::size_t kMost = 64;
  static constexpr std::chrono::seconds kPatience{1};

  struct Seat {
    std::condition_variable called;
    std::unique_ptr<Work> work;
  };

  // A process that was forked off has none of these threads, and what it sees of them is of a moment that is past.
  bool IsOfParent() const { return getpid() != process_; }

  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::vector<Seat*> waiting_;
  bool closed_ = false;
};

Threads::Threads() : running_(std::make_shared<Roster>()), idle_(std::make_shared<Idle>()) {}
Threads::~Threads() { idle_->Close(); }

std::vector<std::string> Threads::WaitForAll(Duration patience) { return running_->Wait(patience); }

std::unique_ptr<Task> Threads::Spawn(std::string_view name, std::function<void()> body) {
  auto work = std::make_unique<Work>(kept_.lock(), running_, name, std::move(body));
  auto task = std::make_unique<Handle>(std::string(name), work->completion());
  if (idle_->Give(work)) return task;
  RunDetached([idle = idle_, work = std::move(work)]() mutable {
    while (work != nullptr) {
      work->Run();
      work = nullptr;
      work = idle->Next();
    }
  });
  return task;
}

void Threads::SleepUntil(Time deadline) {
  while (deadline == kNever) std::this_thread::sleep_for(std::chrono::hours(24));
  std::this_thread::sleep_until(PointOf(deadline));
}

std::unique_ptr<Mutex> Threads::NewMutex(std::string_view) { return std::make_unique<ThreadMutex>(); }

std::unique_ptr<Condition> Threads::NewCondition(std::string_view) { return std::make_unique<ThreadCondition>(); }

// The system's number of the thread. The next task on it has the same.
std::uint64_t Threads::CurrentTask() { return static_cast<std::uint64_t>(gettid()); }

}  // namespace vigil
