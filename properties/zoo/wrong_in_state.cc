// Hooks that remember what they should forget, or forget what they should remember.
#include <memory>
#include <optional>

#include "vigil/properties/verify/findings.h"
#include "vigil/properties/zoo/step_hook.h"
#include "vigil/properties/zoo/zoo.h"

namespace vigil {
namespace {

// Stops after so many runs, of all sessions that it has ever seen.
class CountsForEver : public SessionRunHook {
 public:
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    if (++runs_ >= kZooLastStep) context.RequestStop();
    return absl::OkStatus();
  }

 private:
  std::int64_t runs_ = 0;
};

// Asks for a stop once in its life.
class StopsOnceInItsLife : public StepHook {
 public:
  using StepHook::StepHook;

 protected:
  absl::Status AfterStep(RunContext& context, std::int64_t step) override {
    if (stopped_ || step < kZooLastStep) return absl::OkStatus();
    stopped_ = true;
    context.RequestStop();
    return absl::OkStatus();
  }
  bool stopped_ = false;
};

// Asks for a stop once in a session of the caller: a recovery may swallow it.
class StopsOnce : public StopsOnceInItsLife {
 public:
  using StopsOnceInItsLife::StopsOnceInItsLife;
  absl::Status Begin(BeginContext&) override {
    stopped_ = false;
    return absl::OkStatus();
  }
};

// Stops when the loss has not improved for so many runs; forgets neither the best loss nor its patience.
class PatientForEver : public FetchingHook {
 public:
  using FetchingHook::FetchingHook;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    const float loss = values.results.scalar<float>();
    if (loss < best_) {
      best_ = loss;
      worse_ = 0;
    } else if (++worse_ >= 2) {
      context.RequestStop();
    }
    return absl::OkStatus();
  }

 private:
  float best_ = 1e9F;
  int worse_ = 0;
};

// Resets itself in End, which is called after clean ends only.
class ResetsInEnd : public SessionRunHook {
 public:
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    if (++runs_ >= kZooLastStep) context.RequestStop();
    return absl::OkStatus();
  }
  absl::Status End(Session*) override {
    runs_ = 0;
    return absl::OkStatus();
  }

 private:
  std::int64_t runs_ = 0;
};

// Takes the first step that it ever saw for the start of the training.
class RemembersFirstStep : public StepHook {
 public:
  using StepHook::StepHook;
  absl::Status Begin(BeginContext&) override {
    ++sessions_;
    return absl::OkStatus();
  }

 protected:
  absl::Status AfterStep(RunContext& context, std::int64_t step) override {
    if (step >= kZooLastStep * sessions_) context.RequestStop();
    return absl::OkStatus();
  }

 private:
  std::int64_t sessions_ = 0;
};

class CountsBeforeRuns : public SessionRunHook {
 public:
  absl::Status Begin(BeginContext&) override {
    runs_ = 0;
    return absl::OkStatus();
  }
  absl::Status BeforeRun(RunContext&, RunArgs&) override {
    ++runs_;
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    if (runs_ >= kZooLastStep) context.RequestStop();
    return absl::OkStatus();
  }

 private:
  std::int64_t runs_ = 0;
};

// Feeds the next of its values in each BeforeRun: one is lost with each failed run.
class FeedsTheNext : public SessionRunHook {
 public:
  explicit FeedsTheNext(Output feedable) : feedable_(feedable) {}
  absl::Status Begin(BeginContext&) override {
    next_ = 0;
    return absl::OkStatus();
  }
  absl::Status BeforeRun(RunContext&, RunArgs& args) override {
    args.feeds = {{feedable_, Tensor::Scalar<std::int64_t>(++next_)}};
    return absl::OkStatus();
  }

 private:
  const Output feedable_;
  std::int64_t next_ = 0;
};

// Begins to count anew with each session: with enough faults it never stops.
class CountsSinceCreation : public SessionRunHook {
 public:
  absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>&) override {
    runs_ = 0;
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    if (++runs_ >= kZooLastStep) context.RequestStop();
    return absl::OkStatus();
  }

 private:
  std::int64_t runs_ = 0;
};

// Feeds a warm-up value in the first run of each session, recovered or not.
class WarmsUpAgain : public SessionRunHook {
 public:
  explicit WarmsUpAgain(Output feedable) : feedable_(feedable) {}
  absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>&) override {
    warm_ = false;
    return absl::OkStatus();
  }
  absl::Status BeforeRun(RunContext&, RunArgs& args) override {
    if (!warm_) args.feeds = {{feedable_, Tensor::Scalar<std::int64_t>(1)}};
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext&, const RunValues&) override {
    warm_ = true;
    return absl::OkStatus();
  }

 private:
  const Output feedable_;
  bool warm_ = false;
};

// Takes a recovery for the end of the world.
class StopsWhenRecovered : public SessionRunHook {
 public:
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    if (context.recoveries() > 0) context.RequestStop();
    return absl::OkStatus();
  }
};

class StopsAtExactly : public StepHook {
 public:
  using StepHook::StepHook;

 protected:
  absl::Status AfterStep(RunContext& context, std::int64_t step) override {
    if (step == kZooLastStep) context.RequestStop();
    return absl::OkStatus();
  }
};

// All objects of the class share a counter.
class SharesACounter : public SessionRunHook {
 public:
  absl::Status BeforeRun(RunContext&, RunArgs&) override {
    ++Runs();
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    if (Runs() % 7 == 0) context.RequestStop();
    return absl::OkStatus();
  }

 private:
  static std::int64_t& Runs() {
    static constinit std::int64_t runs = 0;
    return runs;
  }
};

}  // namespace

std::vector<ZooHook> WrongInState() {
  return {
      {"counts_for_ever", "stops after four runs, counted over all sessions", promise::kState,
       [](HookWorld&) { return std::make_unique<CountsForEver>(); }},
      {"stops_once_in_its_life", "remembers for ever that it has asked for a stop", promise::kState,
       [](HookWorld& w) { return std::make_unique<StopsOnceInItsLife>(w.train_op()); }},
      {"patient_for_ever", "compares with the best loss of an earlier session", promise::kState,
       [](HookWorld& w) { return std::make_unique<PatientForEver>(w.loss()); }},
      {"resets_in_end", "resets itself in End, which an error skips", promise::kState,
       [](HookWorld&) { return std::make_unique<ResetsInEnd>(); }},
      {"remembers_first_step", "lets each further session train longer", promise::kState,
       [](HookWorld& w) { return std::make_unique<RemembersFirstStep>(w.train_op()); }},
      {"stops_once", "asks for a stop once, which a recovery may swallow", promise::kStopLost,
       [](HookWorld& w) { return std::make_unique<StopsOnce>(w.train_op()); }},
      {"counts_before_runs", "counts runs before they happen", promise::kRepeat,
       [](HookWorld&) { return std::make_unique<CountsBeforeRuns>(); }},
      {"feeds_the_next",
       "takes the next value from its list in each BeforeRun",
       promise::kRepeat,
       [](HookWorld& w) { return std::make_unique<FeedsTheNext>(w.feedable()); },
       {.may_feed = true}},
      {"counts_since_creation", "counts anew with each session", promise::kRecovery,
       [](HookWorld&) { return std::make_unique<CountsSinceCreation>(); }},
      {"warms_up_again",
       "takes a recovery for a new training",
       promise::kRecovery,
       [](HookWorld& w) { return std::make_unique<WarmsUpAgain>(w.feedable()); },
       {.may_feed = true}},
      {"stops_when_recovered", "ends the training after a recovery", promise::kRecovery,
       [](HookWorld&) { return std::make_unique<StopsWhenRecovered>(); }},
      {"stops_at_exactly", "stops at step 4 and at no other", promise::kSkippedSteps,
       [](HookWorld& w) { return std::make_unique<StopsAtExactly>(w.train_op()); }},
      {"shares_a_counter", "has a static counter", promise::kNotRepeatable,
       [](HookWorld&) { return std::make_unique<SharesACounter>(); }},
  };
}

}  // namespace vigil
