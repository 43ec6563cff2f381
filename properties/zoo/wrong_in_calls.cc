// Hooks that do not return as they should, or feed what is not theirs.
#include <memory>
#include <stdexcept>

#include "vigil/core/base/code.h"
#include "vigil/core/env/notification.h"
#include "vigil/properties/verify/findings.h"
#include "vigil/properties/zoo/step_hook.h"
#include "vigil/properties/zoo/zoo.h"

namespace vigil {
namespace {

class ThrowsLate : public StepHook {
 public:
  using StepHook::StepHook;

 protected:
  absl::Status AfterStep(RunContext&, std::int64_t step) override {
    if (step >= kZooLastStep) throw std::runtime_error("the loss is too high");
    return absl::OkStatus();
  }
};

class ThrowsInEnd : public SessionRunHook {
 public:
  absl::Status End(Session*) override { throw std::logic_error("nothing to report"); }
};

class FailsInTheEnd : public StepHook {
 public:
  using StepHook::StepHook;

 protected:
  absl::Status AfterStep(RunContext&, std::int64_t step) override {
    return step >= kZooLastStep ? MakeStatus(Code::kInternal, "step 4 is too late") : absl::OkStatus();
  }
};

// Ends the training as an input would, by an error.
class PlaysTheInput : public StepHook {
 public:
  using StepHook::StepHook;

 protected:
  absl::Status AfterStep(RunContext&, std::int64_t step) override {
    return step >= kZooLastStep ? MakeStatus(Code::kOutOfRange, "enough") : absl::OkStatus();
  }
};

// Waits for somebody who never comes.
class WaitsForEver : public SessionRunHook {
 public:
  explicit WaitsForEver(const Env& env) : news_(*env.tasks, "news") {}
  absl::Status BeforeRun(RunContext&, RunArgs&) override {
    news_.Wait(kNever);
    return absl::OkStatus();
  }

 private:
  Notification news_;
};

class SleepsAnHour : public SessionRunHook {
 public:
  explicit SleepsAnHour(const Env& env) : env_(env) {}
  absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>&) override {
    env_.tasks->SleepUntil(DeadlineAfter(env_, std::chrono::hours(1)));
    return absl::OkStatus();
  }

 private:
  const Env env_;
};

// Waits until other workers have trained, and asks again and again.
class WaitsForOthers : public SessionRunHook {
 public:
  WaitsForOthers(const Env& env, Output step) : env_(env), step_(step) {}
  absl::Status BeforeRun(RunContext& context, RunArgs&) override {
    while (true) {
      const absl::StatusOr<Tensor> step = RunFetch(context.session(), step_);
      if (!step.ok() || step->scalar<std::int64_t>() >= 1000) return step.status();
      env_.tasks->SleepUntil(DeadlineAfter(env_, std::chrono::seconds(30)));
    }
  }

 private:
  const Env env_;
  const Output step_;
};

class NeedsSessionAtEnd : public SessionRunHook {
 public:
  explicit NeedsSessionAtEnd(Output step) : step_(step) {}
  absl::Status End(Session* session) override {
    if (session == nullptr) return MakeStatus(Code::kInternal, "no session");
    return RunFetch(*session, step_).status();
  }

 private:
  const Output step_;
};

class FeedsOverTheCaller : public SessionRunHook {
 public:
  explicit FeedsOverTheCaller(Output feedable) : feedable_(feedable) {}
  absl::Status BeforeRun(RunContext&, RunArgs& args) override {
    args.feeds = {{feedable_, Tensor::Scalar<std::int64_t>(3)}};
    return absl::OkStatus();
  }

 private:
  const Output feedable_;
};

class FeedsTwice : public SessionRunHook {
 public:
  explicit FeedsTwice(Output feedable) : feedable_(feedable) {}
  absl::Status BeforeRun(RunContext& context, RunArgs& args) override {
    if (!context.original_feeds().empty()) return absl::OkStatus();
    args.feeds.push_back({feedable_, Tensor::Scalar<std::int64_t>(1)});
    args.feeds.push_back({feedable_, Tensor::Scalar<std::int64_t>(2)});
    return absl::OkStatus();
  }

 private:
  const Output feedable_;
};

}  // namespace

std::vector<ZooHook> WrongInCalls() {
  return {
      {"throws_late", "throws at step 4", promise::kThrows,
       [](HookWorld& w) { return std::make_unique<ThrowsLate>(w.train_op()); }},
      {"throws_in_end", "throws in End", promise::kThrows, [](HookWorld&) { return std::make_unique<ThrowsInEnd>(); }},
      {"fails_in_the_end", "fails at step 4", promise::kFails,
       [](HookWorld& w) { return std::make_unique<FailsInTheEnd>(w.train_op()); }},
      {"plays_the_input", "ends the training by OUT_OF_RANGE", promise::kFails,
       [](HookWorld& w) { return std::make_unique<PlaysTheInput>(w.train_op()); }},
      {"waits_for_ever", "waits for a notification that nobody sends", promise::kBlocks,
       [](HookWorld& w) { return std::make_unique<WaitsForEver>(w.env()); }},
      {"sleeps_an_hour", "sleeps for an hour in each new session", promise::kBlocks,
       [](HookWorld& w) { return std::make_unique<SleepsAnHour>(w.env()); }},
      {"waits_for_others", "waits for a step that nobody makes", promise::kBlocks,
       [](HookWorld& w) { return std::make_unique<WaitsForOthers>(w.env(), w.global_step()); }},
      {"needs_session_at_end", "fails in End when the session is gone", promise::kEndNeedsSession,
       [](HookWorld& w) { return std::make_unique<NeedsSessionAtEnd>(w.global_step()); }},
      {"feeds_over_the_caller", "feeds what the caller feeds", promise::kFeeds,
       [](HookWorld& w) { return std::make_unique<FeedsOverTheCaller>(w.feedable()); }},
      {"feeds_twice", "feeds a tensor twice in one run", promise::kFeeds,
       [](HookWorld& w) { return std::make_unique<FeedsTwice>(w.feedable()); }},
  };
}

}  // namespace vigil
