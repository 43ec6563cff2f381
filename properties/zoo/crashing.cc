// Hooks that end the process in which they are called, or take all of its time or memory.
#include <chrono>
#include <memory>
#include <stdexcept>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/properties/zoo/step_hook.h"
#include "vigil/properties/zoo/zoo.h"

namespace vigil {
namespace {

#if defined(VIGIL_SANITIZES_ADDRESS) || defined(VIGIL_SANITIZES_THREAD)
constexpr bool kUnderSanitizer = true;  // it tells of signals itself
#else
constexpr bool kUnderSanitizer = false;
#endif

// Remembers a value by an address, and looks before it has one.
class LooksAtNull : public StepHook {
 public:
  using StepHook::StepHook;

 protected:
  absl::Status AfterStep(RunContext& context, std::int64_t step) override {
    if (*best_ > step) context.RequestStop();
    return absl::OkStatus();
  }

 private:
  std::int64_t* volatile best_ = nullptr;
};

class ChecksTooMuch : public StepHook {
 public:
  using StepHook::StepHook;

 protected:
  absl::Status AfterStep(RunContext&, std::int64_t step) override {
    VIGIL_CHECK(step < kZooLastStep);
    return absl::OkStatus();
  }
};

// What is thrown where nothing may be.
class ThrowsPastEverybody : public SessionRunHook {
 public:
  absl::Status End(Session*) override {
    Report();
    return absl::OkStatus();
  }

 private:
  static void Fail() { throw std::runtime_error("nobody catches this"); }
  static void Report() noexcept { Fail(); }
};

// Calls nothing that could tell it that there is nothing to wait for.
class SpinsForEver : public SessionRunHook {
 public:
  absl::Status End(Session*) override {
    while (!done_) {
    }
    return absl::OkStatus();
  }

 private:
  volatile bool done_ = false;
};

// Asks for more each time, and touches nothing of it.
class TakesAllMemory : public StepHook {
 public:
  using StepHook::StepHook;

 protected:
  absl::Status AfterStep(RunContext&, std::int64_t) override {
    while (true) history_.emplace_back().reserve(std::size_t{64} << 20);
  }

 private:
  std::vector<std::vector<char>> history_;
};

}  // namespace

std::vector<ZooHook> Crashing() {
  std::vector<ZooHook> hooks = {
      {"looks_at_null", "reads through a null pointer after a run",
       kUnderSanitizer ? "crash.sanitizer" : "crash.signal_segv",
       [](HookWorld& w) { return std::make_unique<LooksAtNull>(w.train_op()); }},
      {"checks_too_much", "fails a CHECK at step 4", "crash.check_failed",
       [](HookWorld& w) { return std::make_unique<ChecksTooMuch>(w.train_op()); }},
      {"throws_past_everybody", "throws out of a noexcept function in End", "crash.uncaught_exception",
       [](HookWorld&) { return std::make_unique<ThrowsPastEverybody>(); }},
      {"spins_for_ever", "loops in End, and calls nothing", "crash.timeout",
       [](HookWorld&) { return std::make_unique<SpinsForEver>(); },
       VerifyOptions{.play_limit = std::chrono::seconds(2)}},
  };
  if (!kUnderSanitizer) {  // which need the address space themselves
    hooks.push_back({"takes_all_memory", "keeps asking for memory after a run", "crash.memory",
                     [](HookWorld& w) { return std::make_unique<TakesAllMemory>(w.train_op()); }});
  }
  return hooks;
}

}  // namespace vigil
