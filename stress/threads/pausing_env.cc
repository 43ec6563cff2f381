#include "vigil/stress/threads/pausing_env.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <utility>

#include "vigil/core/base/splitmix64.h"
#include "vigil/core/env/forwarding.h"
#include "vigil/core/env/in_process_network.h"
#include "vigil/core/env/real/real_env.h"

namespace vigil::stress {
namespace {

constexpr int kOneInYields = 8;
constexpr int kOneInSleeps = 64;
constexpr std::uint64_t kLongestPauseUs = 100;
// Nothing waits so long, unless it waits for ever.
constexpr std::chrono::minutes kTooLong{2};

}  // namespace

// Nothing here orders what one thread does before what another does: that would hide races.
class Pauses {
 public:
  Pauses(const Env& real, std::uint64_t seed) : real_(real), draws_(seed) {}
  void Maybe() {
    const std::uint64_t drawn = draws_.Next();
    if (drawn % kOneInSleeps == 0) {
      count_.fetch_add(1, std::memory_order_relaxed);
      real_.tasks->SleepUntil(DeadlineAfter(real_, std::chrono::microseconds((drawn >> 32) % kLongestPauseUs)));
    } else if (drawn % kOneInYields == 0) {
      count_.fetch_add(1, std::memory_order_relaxed);
      sched_yield();
    }
  }
  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  const Env real_;
  Draws draws_;
  std::atomic<std::uint64_t> count_{0};
};

// Pauses before and after a call.
class Around {
 public:
  explicit Around(Pauses& pauses) : pauses_(pauses) { pauses_.Maybe(); }
  ~Around() { pauses_.Maybe(); }
  Around(const Around&) = delete;
  Around& operator=(const Around&) = delete;

 private:
  Pauses& pauses_;
};

class PausingMutex final : public Mutex {
 public:
  PausingMutex(Pauses& pauses, std::unique_ptr<Mutex> inner) : pauses_(pauses), inner_(std::move(inner)) {}
  void Lock() override {
    pauses_.Maybe();
    inner_->Lock();
  }
  // Whoever takes it next may destroy it.
  void Unlock() override {
    Pauses& pauses = pauses_;
    inner_->Unlock();
    pauses.Maybe();
  }
  Mutex& inner() { return *inner_; }

 private:
  Pauses& pauses_;
  const std::unique_ptr<Mutex> inner_;
};

class PausingCondition final : public Condition {
 public:
  PausingCondition(Pauses& pauses, std::unique_ptr<Condition> inner) : pauses_(pauses), inner_(std::move(inner)) {}
  bool Wait(Mutex& mutex, Time deadline) override {
    const bool notified = inner_->Wait(static_cast<PausingMutex&>(mutex).inner(), deadline);
    pauses_.Maybe();
    return notified;
  }
  // It may be the last that is done with the condition: whoever was waiting may destroy it from then on.
  void NotifyAll() override {
    pauses_.Maybe();
    inner_->NotifyAll();
  }

 private:
  Pauses& pauses_;
  const std::unique_ptr<Condition> inner_;
};

class PausingTasks final : public ForwardingTasks {
 public:
  PausingTasks(const Env& real, Pauses& pauses)
      : ForwardingTasks(*real.tasks),
        real_(real),
        pauses_(pauses),
        mutex_(real.tasks->NewMutex("running")),
        ended_(real.tasks->NewCondition("a task ends")) {}

  std::unique_ptr<Task> Spawn(std::string_view name, std::function<void()> body) override {
    const Around around(pauses_);
    std::uint64_t number = 0;
    {
      MutexLock lock(*mutex_);
      running_.emplace(number = ++last_, name);
    }
    return inner().Spawn(name, [this, number, body = std::move(body)]() mutable {
      pauses_.Maybe();
      body();
      body = nullptr;
      pauses_.Maybe();
      MutexLock lock(*mutex_);
      running_.erase(number);
      ended_->NotifyAll();
    });
  }
  std::unique_ptr<Mutex> NewMutex(std::string_view name) override {
    return std::make_unique<PausingMutex>(pauses_, inner().NewMutex(name));
  }
  std::unique_ptr<Condition> NewCondition(std::string_view name) override {
    return std::make_unique<PausingCondition>(pauses_, inner().NewCondition(name));
  }

  // The names of those that have not ended after a time that none needs.
  std::vector<std::string> WaitForAll() {
    const Time deadline = DeadlineAfter(real_, kTooLong);
    std::vector<std::string> names;
    MutexLock lock(*mutex_);
    while (!running_.empty() && ended_->Wait(*mutex_, deadline)) {
    }
    for (const auto& [number, name] : running_) names.push_back(name);
    return names;
  }

 private:
  const Env real_;
  Pauses& pauses_;
  const std::unique_ptr<Mutex> mutex_;
  const std::unique_ptr<Condition> ended_;
  // Guarded by *mutex_.
  std::map<std::uint64_t, std::string> running_;
  std::uint64_t last_ = 0;
};

class PausingFile final : public ForwardingFile {
 public:
  PausingFile(Pauses& pauses, std::unique_ptr<File> inner) : ForwardingFile(std::move(inner)), pauses_(pauses) {}
  absl::Status Append(std::string_view data) override {
    const Around around(pauses_);
    return ForwardingFile::Append(data);
  }
  absl::StatusOr<std::string> Read(std::uint64_t offset, std::uint64_t size) override {
    const Around around(pauses_);
    return ForwardingFile::Read(offset, size);
  }
  absl::Status Sync() override {
    const Around around(pauses_);
    return absl::OkStatus();  // nobody cuts the power here
  }
  absl::Status Close() override {
    const Around around(pauses_);
    return ForwardingFile::Close();
  }

 private:
  Pauses& pauses_;
};

class PausingFiles final : public ForwardingFiles {
 public:
  PausingFiles(Files& inner, Pauses& pauses) : ForwardingFiles(inner), pauses_(pauses) {}
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    const Around around(pauses_);
    absl::StatusOr<std::unique_ptr<File>> file = inner().Open(path, mode);
    if (!file.ok()) return file;
    return std::make_unique<PausingFile>(pauses_, *std::move(file));
  }
  absl::Status Rename(const std::string& from, const std::string& to) override {
    const Around around(pauses_);
    return inner().Rename(from, to);
  }
  absl::Status Remove(const std::string& path) override {
    const Around around(pauses_);
    return inner().Remove(path);
  }
  absl::StatusOr<FileInfo> Stat(const std::string& path) override {
    const Around around(pauses_);
    return inner().Stat(path);
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override {
    const Around around(pauses_);
    return inner().List(directory);
  }
  absl::Status MakeDirectory(const std::string& path) override {
    const Around around(pauses_);
    return inner().MakeDirectory(path);
  }
  absl::Status SyncDirectory(const std::string&) override {
    const Around around(pauses_);
    return absl::OkStatus();
  }

 private:
  Pauses& pauses_;
};

class PausingClock final : public Clock {
 public:
  PausingClock(Clock& inner, Pauses& pauses) : inner_(inner), pauses_(pauses) {}
  Time Now() override {
    pauses_.Maybe();
    return inner_.Now();
  }
  Time Monotonic() override {
    pauses_.Maybe();
    return inner_.Monotonic();
  }

 private:
  Clock& inner_;
  Pauses& pauses_;
};

std::uint64_t Draws::Next() { return SplitMixAt(seed_, drawn_.fetch_add(1, std::memory_order_relaxed)); }

std::uint64_t SeedOfTests() { return static_cast<std::uint64_t>(GTEST_FLAG_GET(random_seed)) + 1; }

struct PausingEnv::Seams {
  explicit Seams(std::uint64_t seed)
      : real({.seed = seed, .log_to_stderr = false}),
        pauses(real.env(), seed),
        tasks(real.env(), pauses),
        files(*real.env().files, pauses),
        clock(*real.env().clock, pauses),
        network(tasks),
        draws(~seed) {}

  RealEnv real;
  Pauses pauses;
  PausingTasks tasks;
  PausingFiles files;
  PausingClock clock;
  InProcessNetwork network;
  Draws draws;
};

PausingEnv::PausingEnv(std::uint64_t seed) : seams_(std::make_shared<Seams>(seed)) {
  fmt::print("seed {}: repeat it with --gtest_random_seed={}\n", seed, seed - 1);
}

PausingEnv::~PausingEnv() {
  seams_->real.env().process->End();
  const std::vector<std::string> left = seams_->tasks.WaitForAll();
  if (left.empty()) return;
  ADD_FAILURE() << fmt::format("still running: {}", fmt::join(left, ", "));
  new std::shared_ptr<Seams>(seams_);  // they use it for good
}

Env PausingEnv::env() const {
  Env env = seams_->real.env();
  env.clock = &seams_->clock;
  env.tasks = &seams_->tasks;
  env.files = &seams_->files;
  env.network = &seams_->network;
  return env;
}

Draws& PausingEnv::draws() { return seams_->draws; }

std::uint64_t PausingEnv::pauses() const { return seams_->pauses.count(); }

void PausingEnv::InParallel(int n, const std::function<void(int)>& body) const {
  std::vector<std::unique_ptr<Task>> tasks;
  for (int i = 0; i < n; ++i) tasks.push_back(env().tasks->Spawn("parallel", [&body, i] { body(i); }));
  for (const auto& task : tasks) task->Join(kNever);
}

}  // namespace vigil::stress
