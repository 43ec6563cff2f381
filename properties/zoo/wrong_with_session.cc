// Hooks that do with a session, a context or a task what is not theirs to do.
#include <memory>
#include <utility>

#include "vigil/properties/verify/findings.h"
#include "vigil/properties/zoo/step_hook.h"
#include "vigil/properties/zoo/zoo.h"

namespace vigil {
namespace {

class TrainsTwice : public SessionRunHook {
 public:
  explicit TrainsTwice(Output train) : train_(train) {}
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    return RunTarget(context.session(), train_.node);
  }

 private:
  const Output train_;
};

// A first step, "to warm up".
class TrainsAtTheStart : public SessionRunHook {
 public:
  explicit TrainsAtTheStart(Output train) : train_(train) {}
  absl::Status AfterCreateSession(const std::shared_ptr<Session>& session,
                                  const std::shared_ptr<Coordinator>&) override {
    return RunFetch(*session, train_).status();
  }

 private:
  const Output train_;
};

// Asks the session for the loss after a run; the loss is computed after the train op.
class AsksForTheLoss : public SessionRunHook {
 public:
  explicit AsksForTheLoss(Output loss) : loss_(loss) {}
  absl::Status End(Session* session) override {
    return session == nullptr ? absl::OkStatus() : RunFetch(*session, loss_).status();
  }

 private:
  const Output loss_;
};

class ClosesTheSession : public StepHook {
 public:
  using StepHook::StepHook;

 protected:
  absl::Status AfterStep(RunContext& context, std::int64_t step) override {
    return step >= kZooLastStep ? context.session().Close() : absl::OkStatus();
  }
};

// Keeps the first session that it is given.
class KeepsFirstSession : public SessionRunHook {
 public:
  explicit KeepsFirstSession(Output step) : step_(step) {}
  absl::Status AfterCreateSession(const std::shared_ptr<Session>& session,
                                  const std::shared_ptr<Coordinator>&) override {
    if (session_ == nullptr) session_ = session;
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext&, const RunValues&) override {
    RunFetch(*session_, step_).IgnoreError();
    return absl::OkStatus();
  }

 private:
  const Output step_;
  std::shared_ptr<Session> session_;
};

// Reads the last step in its destructor, to print it.
class ReadsInDestructor : public SessionRunHook {
 public:
  explicit ReadsInDestructor(Output step) : step_(step) {}
  ~ReadsInDestructor() override {
    if (session_ != nullptr) RunFetch(*session_, step_).IgnoreError();
  }
  absl::Status AfterCreateSession(const std::shared_ptr<Session>& session,
                                  const std::shared_ptr<Coordinator>&) override {
    session_ = session;
    return absl::OkStatus();
  }

 private:
  const Output step_;
  std::shared_ptr<Session> session_;
};

// Keeps the context of the first run and asks it for a stop in a later one.
class KeepsContext : public StepHook {
 public:
  using StepHook::StepHook;

 protected:
  absl::Status AfterStep(RunContext& context, std::int64_t step) override {
    if (context_ == nullptr || step == kZooLastStep - 1) context_ = &context;
    if (step == kZooLastStep) context_->RequestStop();
    return absl::OkStatus();
  }

 private:
  RunContext* context_ = nullptr;
};

class ThawsTheGraph : public SessionRunHook {
 public:
  explicit ThawsTheGraph(Graph& graph) : graph_(graph) {}
  absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>&) override {
    graph_.Unfinalize();
    const absl::Status added = graph_.Add({.name = "late", .op = "NoOp"}).status();
    graph_.Finalize();
    return added;
  }

 private:
  Graph& graph_;
};

// Waits for its task in End, which an error skips.
class EndsTaskInEnd : public SessionRunHook {
 public:
  explicit EndsTaskInEnd(Env env) : env_(env) {}
  absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>&) override {
    *ended_ = false;
    env_.tasks->Spawn("heartbeat", [env = env_, ended = ended_] {
      while (!*ended) env.tasks->SleepUntil(DeadlineAfter(env, std::chrono::seconds(1)));
    });
    return absl::OkStatus();
  }
  absl::Status End(Session*) override {
    *ended_ = true;
    return absl::OkStatus();
  }

 private:
  const Env env_;
  const std::shared_ptr<bool> ended_ = std::make_shared<bool>(false);
};

// Tells the coordinator of its task, which hears of no stop.
class StartsDeafTask : public SessionRunHook {
 public:
  explicit StartsDeafTask(Env env) : env_(env) {}
  absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>& coord) override {
    coord->Register(
        env_.tasks->Spawn("deaf", [env = env_] { env.tasks->SleepUntil(DeadlineAfter(env, std::chrono::hours(1))); }));
    return absl::OkStatus();
  }

 private:
  const Env env_;
};

class StartsTaskAfterEnd : public SessionRunHook {
 public:
  explicit StartsTaskAfterEnd(Env env) : env_(env) {}
  ~StartsTaskAfterEnd() override {
    env_.tasks->Spawn("farewell", [] {});
  }

 private:
  const Env env_;
};

}  // namespace

std::vector<ZooHook> WrongWithSession() {
  return {
      {"trains_twice", "runs the train op after each run", promise::kTrainOp,
       [](HookWorld& w) { return std::make_unique<TrainsTwice>(w.train_op()); }},
      {"trains_at_the_start", "makes a training step of its own in each new session", promise::kTrainOp,
       [](HookWorld& w) { return std::make_unique<TrainsAtTheStart>(w.train_op()); }},
      {"asks_for_the_loss", "has the loss computed once more at the end, and the train op with it", promise::kTrainOp,
       [](HookWorld& w) { return std::make_unique<AsksForTheLoss>(w.loss()); }},
      {"closes_the_session",
       "closes the session to end the training",
       promise::kClosesSession,
       [](HookWorld& w) { return std::make_unique<ClosesTheSession>(w.train_op()); },
       {.may_fail = true}},
      {"keeps_first_session", "uses the first session for ever", promise::kOldSession,
       [](HookWorld& w) { return std::make_unique<KeepsFirstSession>(w.global_step()); }},
      {"reads_in_destructor", "runs the session in its destructor", promise::kAfterEnd,
       [](HookWorld& w) { return std::make_unique<ReadsInDestructor>(w.global_step()); }},
      {"starts_task_after_end", "starts a task in its destructor", promise::kAfterEnd,
       [](HookWorld& w) { return std::make_unique<StartsTaskAfterEnd>(w.env()); }},
      {"keeps_context", "asks the context of an earlier run for a stop", promise::kOldContext,
       [](HookWorld& w) { return std::make_unique<KeepsContext>(w.train_op()); }},
      {"stops_without_leave",
       "stops the training, which it has no leave to do",
       promise::kStop,
       [](HookWorld& w) { return std::make_unique<StopsAtStep>(w.train_op()); },
       {.may_request_stop = false}},
      {"thaws_the_graph", "adds a node to the finalized graph", promise::kGraph,
       [](HookWorld& w) { return std::make_unique<ThawsTheGraph>(w.graph()); }},
      {"ends_task_in_end", "ends its task in End, which an error skips", promise::kThread,
       [](HookWorld& w) { return std::make_unique<EndsTaskInEnd>(w.env()); }},
      {"starts_deaf_task", "has a task that hears of no stop", promise::kThread,
       [](HookWorld& w) { return std::make_unique<StartsDeafTask>(w.env()); }},
  };
}

}  // namespace vigil
