#include "vigil/core/checkpoint/save_queue.h"

#include <fmt/format.h>

#include <deque>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/env/call_guarded.h"

namespace vigil {
namespace {

constexpr int kMostPendingSaves = 2;

}  // namespace

struct SaveQueue::State {
  struct Job {
    std::string what;
    std::function<absl::Status()> make;
    std::shared_ptr<PendingSave> pending;
  };

  explicit State(const Env& environment)
      : env(environment),
        mutex(env.tasks->NewMutex("saves beside the training")),
        changed(env.tasks->NewCondition("saves beside the training")) {}

  bool WaitUntilIdle(Time deadline) {
    MutexLock lock(*mutex);
    while (working) {
      if (!changed->Wait(*mutex, deadline)) return !working;
    }
    return true;
  }
  void WorkUntilEmpty();

  const Env env;
  const std::unique_ptr<Mutex> mutex;
  const std::unique_ptr<Condition> changed;
  // Guarded by *mutex.
  std::deque<Job> waiting;
  int unfinished = 0;    // those in `waiting` and the one that is being made
  bool working = false;  // a task is there, or about to start
};

void SaveQueue::State::WorkUntilEmpty() {
  while (true) {
    Job job;
    {
      MutexLock lock(*mutex);
      if (waiting.empty()) {
        working = false;
        changed->NotifyAll();
        return;
      }
      job = std::move(waiting.front());
      waiting.pop_front();
    }
    absl::Status status = CallGuarded(job.make);
    job.make = nullptr;  // the copy of the model goes before anybody hears of the end
    if (!status.ok()) {
      status = WithMessage(
          status, fmt::format("The save of {} beside the training has failed: {}", job.what, MessageOf(status)));
      env.log->Write(Severity::kError, std::string(MessageOf(status)));
    }
    job.pending->status_ = std::move(status);
    job.pending->done_.store(true, std::memory_order_release);
    MutexLock lock(*mutex);
    --unfinished;
    changed->NotifyAll();
  }
}

// What the task is made of. One that never gets to its end, since its process was killed, leaves nothing in the queue:
// what waits there may hold what holds the queue.
class SaveQueue::Worker {
 public:
  Worker(std::shared_ptr<State> state, std::shared_ptr<const void> owner)
      : state_(std::move(state)), owner_(std::move(owner)) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    if (!ended_) state_->waiting.clear();  // nobody else of this process looks any more
  }
  void Run() {
    state_->WorkUntilEmpty();
    ended_ = true;
  }

 private:
  const std::shared_ptr<State> state_;
  const std::shared_ptr<const void> owner_;
  bool ended_ = false;
};

SaveQueue::SaveQueue(const Env& env) : state_(std::make_shared<State>(env)) {}

void SaveQueue::WaitForRoom() {
  MutexLock lock(*state_->mutex);
  while (state_->unfinished >= kMostPendingSaves) state_->changed->Wait(*state_->mutex, kNever);
}

PendingSavePtr SaveQueue::Add(std::string what, std::function<absl::Status()> make, std::shared_ptr<const void> owner) {
  auto pending = std::make_shared<PendingSave>();
  const std::string name = "save " + what;
  {
    MutexLock lock(*state_->mutex);
    state_->waiting.push_back({std::move(what), std::move(make), pending});
    ++state_->unfinished;
    if (std::exchange(state_->working, true)) return pending;
  }
  const auto worker = std::make_shared<Worker>(state_, std::move(owner));
  const absl::Status started = TrySpawn(*state_->env.tasks, name, [worker] { worker->Run(); }).status();
  if (started.ok()) return pending;
  state_->env.log->Write(Severity::kWarning, fmt::format("{} The training waits for the save.", MessageOf(started)));
  worker->Run();
  return pending;
}

bool SaveQueue::WaitUntilIdle(Time deadline) { return state_->WaitUntilIdle(deadline); }

std::shared_ptr<Task> SaveQueue::AsTask(std::string name) const {
  class Saving : public Task {
   public:
    Saving(std::shared_ptr<State> state, std::string name) : state_(std::move(state)), name_(std::move(name)) {}
    const std::string& name() const override { return name_; }
    bool done() const override {
      MutexLock lock(*state_->mutex);
      return !state_->working;
    }
    bool Join(Time deadline) override { return state_->WaitUntilIdle(deadline); }

   private:
    const std::shared_ptr<State> state_;
    const std::string name_;
  };
  return std::make_shared<Saving>(state_, std::move(name));
}

}  // namespace vigil
