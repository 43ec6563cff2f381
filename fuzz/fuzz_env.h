// The outside world of one input: files in memory, a clock that stands, tasks that run at once where they are started.
// Nothing waits: a deadline has passed as soon as somebody waits for it, and who would wait for ever is killed.
#ifndef VIGIL_FUZZ_FUZZ_ENV_H_
#define VIGIL_FUZZ_FUZZ_ENV_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "vigil/core/env/env.h"
#include "vigil/core/env/in_process_network.h"
#include "vigil/fakes/fake_seams.h"

namespace vigil::fuzz {

class ImmediateTasks final : public Tasks {
 public:
  std::unique_ptr<Task> Spawn(std::string_view name, std::function<void()> body) override {
    try {
      body();
    } catch (const TaskKilled&) {
    }
    return std::make_unique<Ended>(std::string(name));
  }
  void SleepUntil(Time) override { throw TaskKilled(); }
  std::unique_ptr<Mutex> NewMutex(std::string_view) override { return std::make_unique<Free>(); }
  std::unique_ptr<Condition> NewCondition(std::string_view) override { return std::make_unique<Impatient>(); }
  std::uint64_t CurrentTask() override { return 1; }

 private:
  class Ended final : public Task {
   public:
    explicit Ended(std::string name) : name_(std::move(name)) {}
    const std::string& name() const override { return name_; }
    bool done() const override { return true; }
    bool Join(Time) override { return true; }

   private:
    const std::string name_;
  };
  class Free final : public Mutex {
   public:
    void Lock() override {}
    void Unlock() override {}
  };
  class Impatient final : public Condition {
   public:
    bool Wait(Mutex&, Time deadline) override {
      if (deadline == kNever) throw TaskKilled();
      return false;
    }
    void NotifyAll() override {}
  };
};

class SilentLog final : public Log {
 public:
  void Write(Severity, std::string_view) override {}
};

class SilentSink final : public EventSink {
 public:
  void Emit(const Event&) override {}
};

struct FuzzEnv : fakes::FakeSeams<SilentLog, SilentSink> {
  ImmediateTasks tasks;
  InProcessNetwork network{tasks};

  Env env() { return With(tasks, network); }
};

}  // namespace vigil::fuzz

#endif  // VIGIL_FUZZ_FUZZ_ENV_H_
