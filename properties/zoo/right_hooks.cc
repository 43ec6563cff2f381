// Hooks that keep every promise: what the wrong ones wanted, done right.
#include <fmt/format.h>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/properties/zoo/step_hook.h"
#include "vigil/properties/zoo/zoo.h"

namespace vigil {
namespace {

// Stops when the loss has not improved for three steps.
class StopsEarly : public SessionRunHook {
 public:
  StopsEarly(Output step, Output loss) : fetches_(Fetches::List({step, loss})) {}
  absl::Status Begin(BeginContext&) override {
    best_ = std::numeric_limits<float>::infinity();
    best_step_ = 0;
    return absl::OkStatus();
  }
  absl::Status BeforeRun(RunContext&, RunArgs& args) override {
    args.fetches = fetches_;
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    const std::int64_t step = values.results[0].scalar<std::int64_t>();
    const float loss = values.results[1].scalar<float>();
    if (loss < best_) {
      best_ = loss;
      best_step_ = step;
    } else if (step >= best_step_ + 3) {
      context.RequestStop();
    }
    return absl::OkStatus();
  }

 private:
  const Fetches fetches_;
  float best_ = 0;
  std::int64_t best_step_ = 0;
};

class StopsAtGoodLoss : public FetchingHook {
 public:
  using FetchingHook::FetchingHook;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    if (values.results.scalar<float>() <= 0.34F) context.RequestStop();
    return absl::OkStatus();
  }
};

// After an hour by Env's clock.
class StopsByTime : public SessionRunHook {
 public:
  explicit StopsByTime(const Env& env) : env_(env) {}
  absl::Status Begin(BeginContext&) override {
    end_ = env_.clock->Monotonic() + std::chrono::hours(1);
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    if (env_.clock->Monotonic() >= end_) context.RequestStop();
    return absl::OkStatus();
  }

 private:
  const Env env_;
  Time end_{};
};

class LogsEveryOther : public StepHook {
 public:
  LogsEveryOther(const Env& env, Output step) : StepHook(step), env_(env) {}

 protected:
  absl::Status AfterStep(RunContext&, std::int64_t step) override {
    if (step % 2 == 0) env_.log->Write(Severity::kInfo, fmt::format("step {}", step));
    return absl::OkStatus();
  }

 private:
  const Env env_;
};

// A task for each session, which ends with its coordinator.
class BeatsItsHeart : public SessionRunHook {
 public:
  explicit BeatsItsHeart(const Env& env) : env_(env) {}
  absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>& coord) override {
    coord->Register(env_.tasks->Spawn("heartbeat", [env = env_, coord] {
      while (!coord->WaitForStop(std::chrono::seconds(5))) env.log->Write(Severity::kInfo, "alive");
    }));
    return absl::OkStatus();
  }

 private:
  const Env env_;
};

// Writes the step of each clean end into its own folder.
class NotesTheEnd : public StepHook {
 public:
  NotesTheEnd(const Env& env, Output step) : StepHook(step), env_(env) {}
  absl::Status Begin(BeginContext&) override {
    step_ = 0;
    return absl::OkStatus();
  }
  absl::Status End(Session*) override {
    VIGIL_RETURN_IF_ERROR(env_.files->MakeDirectory("/notes"));
    return WriteAtomically(*env_.files, "/notes/end", fmt::format("{}\n", step_));
  }

 protected:
  absl::Status AfterStep(RunContext&, std::int64_t step) override {
    step_ = step;
    return absl::OkStatus();
  }

 private:
  const Env env_;
  std::int64_t step_ = 0;
};

// Feeds what is fed by nobody else.
class FeedsPolitely : public SessionRunHook {
 public:
  explicit FeedsPolitely(Output feedable) : feedable_(feedable) {}
  absl::Status BeforeRun(RunContext& context, RunArgs& args) override {
    for (const Feed& feed : context.original_feeds()) {
      if (feed.tensor == feedable_) return absl::OkStatus();
    }
    args.feeds = {{feedable_, Tensor::Scalar<std::int64_t>(2)}};
    return absl::OkStatus();
  }

 private:
  const Output feedable_;
};

// Reads the step of each new session and of the last one, if that is still there.
class ReadsTheStep : public SessionRunHook {
 public:
  explicit ReadsTheStep(Output step) : step_(step) {}
  absl::Status AfterCreateSession(const std::shared_ptr<Session>& session,
                                  const std::shared_ptr<Coordinator>&) override {
    return RunFetch(*session, step_).status();
  }
  absl::Status End(Session* session) override {
    return session == nullptr ? absl::OkStatus() : RunFetch(*session, step_).status();
  }

 private:
  const Output step_;
};

// Adds a node in the first Begin; a later one on the same graph finds it.
class AddsANode : public SessionRunHook {
 public:
  explicit AddsANode(Output loss) : loss_(loss) {}
  absl::Status Begin(BeginContext& context) override {
    if (const std::optional<Output> found = context.graph.FindOutput("watched_loss"); found.has_value()) {
      watched_ = *found;
      return absl::OkStatus();
    }
    Builder b(context.graph);
    watched_ = ops::Identity(b, "watched_loss", loss_);
    return b.status();
  }
  absl::Status BeforeRun(RunContext&, RunArgs& args) override {
    args.fetches = Fetches(watched_);
    return absl::OkStatus();
  }

 private:
  const Output loss_;
  Output watched_;
};

// Fails when the loss rises: that is what it is for.
class FailsOnRisingLoss : public FetchingHook {
 public:
  using FetchingHook::FetchingHook;
  absl::Status AfterRun(RunContext&, const RunValues& values) override {
    const float loss = values.results.scalar<float>();
    return loss > 2 ? MakeStatus(Code::kInternal, "the loss is above 2") : absl::OkStatus();
  }
};

// Takes samples of some runs, drawn from a stream of Env's.
class TakesSamples : public FetchingHook {
 public:
  TakesSamples(const Env& env, Output loss) : FetchingHook(loss), env_(env) {}
  absl::Status Begin(BeginContext&) override {
    samples_.clear();
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext&, const RunValues& values) override {
    if (env_.random->Draw("samples") % 4 == 0) samples_.push_back(values.results.scalar<float>());
    return absl::OkStatus();
  }

 private:
  const Env env_;
  std::vector<float> samples_;
};

}  // namespace

std::vector<ZooHook> RightHooks() {
  return {
      {"stops_at_step", "stops at step 4 or later", "",
       [](HookWorld& w) { return std::make_unique<StopsAtStep>(w.train_op()); }},
      {"stops_early", "stops when the loss has not improved for three steps", "",
       [](HookWorld& w) { return std::make_unique<StopsEarly>(w.train_op(), w.loss()); }},
      {"stops_at_good_loss", "stops when the loss is small enough", "",
       [](HookWorld& w) { return std::make_unique<StopsAtGoodLoss>(w.loss()); }},
      {"stops_by_time", "stops after an hour by Env's clock", "",
       [](HookWorld& w) { return std::make_unique<StopsByTime>(w.env()); }},
      {"logs_every_other",
       "logs every second step",
       "",
       [](HookWorld& w) { return std::make_unique<LogsEveryOther>(w.env(), w.train_op()); },
       {.may_request_stop = false}},
      {"beats_its_heart", "has a task that ends with the session", "",
       [](HookWorld& w) { return std::make_unique<BeatsItsHeart>(w.env()); }},
      {"notes_the_end",
       "writes a file into its own folder",
       "",
       [](HookWorld& w) { return std::make_unique<NotesTheEnd>(w.env(), w.train_op()); },
       {.may_write = {"/notes"}}},
      {"feeds_politely", "feeds unless the caller does", "",
       [](HookWorld& w) { return std::make_unique<FeedsPolitely>(w.feedable()); }},
      {"reads_the_step", "reads the step of each session", "",
       [](HookWorld& w) { return std::make_unique<ReadsTheStep>(w.global_step()); }},
      {"adds_a_node", "adds a node in Begin", "", [](HookWorld& w) { return std::make_unique<AddsANode>(w.loss()); }},
      {"fails_on_rising_loss",
       "fails if the loss rises above 2",
       "",
       [](HookWorld& w) { return std::make_unique<FailsOnRisingLoss>(w.loss()); },
       {.may_fail = true}},
      {"takes_samples", "draws from Env's random numbers", "",
       [](HookWorld& w) { return std::make_unique<TakesSamples>(w.env(), w.loss()); }},
  };
}

}  // namespace vigil
