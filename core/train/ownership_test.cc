// What a monitored session leaves behind when it goes in ways that nobody planned: dropped, with tasks that do not end,
// with callbacks that throw; and what its recoveries cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

// Does what the test says when a session is created, before a run and after it, and counts the ends.
class Told : public SessionRunHook {
 public:
  absl::Status AfterCreateSession(const std::shared_ptr<Session>& session,
                                  const std::shared_ptr<Coordinator>& coord) override {
    last_session = session;
    if (created) created(session, coord);
    return absl::OkStatus();
  }
  absl::Status BeforeRun(RunContext&, RunArgs& args) override {
    args.fetches = wants;
    return std::exchange(before, absl::OkStatus());
  }
  absl::Status AfterRun(RunContext&, const RunValues& values) override {
    got = values.results.none() ? 0 : values.results.size();
    if (const auto once = std::exchange(after, nullptr)) once();
    return absl::OkStatus();
  }
  absl::Status End(Session*) override {
    ++ends;
    return absl::OkStatus();
  }

  std::function<void(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>&)> created;
  std::function<void()> after;  // once
  absl::Status before;          // once
  Fetches wants;
  std::size_t got = 0;
  int ends = 0;
  std::shared_ptr<Session> last_session;
};

class OwnershipTest : public testing::Test {
 protected:
  OwnershipTest() : graph_(std::make_unique<Graph>(BuiltinOps())) {
    Builder b(*graph_);
    step_ = *GetOrCreateGlobalStep(env(), b);
    one_ = b.Const("one", Tensor::Scalar<std::int64_t>(1));
    train_ = ops::AssignAdd(b, "train", step_, one_);
    EXPECT_TRUE(b.status().ok());
  }
  Env env() { return fake_.env(); }
  std::unique_ptr<MonitoredSession> Open(MonitoredSessionOptions options = {}) {
    options.hooks.push_back(hook_);
    auto made = MonitoredSession::Create(env(), *graph_, std::move(options));
    EXPECT_TRUE(made.ok()) << made.status();
    return *std::move(made);
  }
  // A task of each session that sleeps so long after a stop.
  void EachSessionHasATaskThatNeeds(Duration time) {
    hook_->created = [this, time](const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>& coord) {
      coord->Register(env().tasks->Spawn("slow", [this, time, coord] {
        coord->WaitForStop(Duration::max());
        env().tasks->SleepUntil(env().clock->Monotonic() + time);
      }));
    };
  }
  std::vector<std::string> Log(Severity severity) {
    std::vector<std::string> lines;
    for (const auto& line : fake_.log.lines()) {
      if (line.severity == severity) lines.push_back(line.text);
    }
    return lines;
  }

  fakes::FakeEnv fake_;
  std::unique_ptr<Graph> graph_;
  Output step_, one_, train_;
  std::shared_ptr<Told> hook_ = std::make_shared<Told>();
};

TEST_F(OwnershipTest, ADroppedSessionTakesTheErrorPath) {
  bool ended = false;
  hook_->created = [&](const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>& coord) {
    coord->Register(env().tasks->Spawn("mine", [&ended, coord] {
      coord->WaitForStop(Duration::max());
      ended = true;
    }));
  };
  ASSERT_TRUE(Open()->Run(train_).ok());
  EXPECT_TRUE(ended);
  EXPECT_TRUE(hook_->last_session->closed());
  EXPECT_EQ(hook_->ends, 0);
  EXPECT_FALSE(graph_->finalized());
  EXPECT_THAT(Log(Severity::kWarning), Contains(HasSubstr("destroyed without Close()")));
}

// As it was recorded: nobody stops the tasks. They work with what they hold.
TEST_F(OwnershipTest, ByTensorFlowsBehaviourTheTasksOfADroppedSessionRunOn) {
  absl::Status late = MakeStatus(Code::kUnknown, "has not run");
  hook_->created = [&](const std::shared_ptr<Session>& session, const std::shared_ptr<Coordinator>& coord) {
    coord->Register(env().tasks->Spawn("runs on", [this, &late, session, train = train_.node] {
      env().tasks->SleepUntil({1000s});
      late = RunTarget(*session, train);
    }));
  };
  Open({.behaviour = Behaviour::TensorFlow()}).reset();
  hook_ = nullptr;
  graph_ = nullptr;
  env().tasks->SleepUntil({1001s});
  EXPECT_TRUE(late.ok()) << late;
}

TEST_F(OwnershipTest, ASessionThatAnExceptionDropsIsClosedByATaskOfItsOwn) {
  try {
    const auto session = Open();
    throw std::runtime_error("on the way");
  } catch (const std::runtime_error&) {
    fake_.tasks.RunReady();
  }
  EXPECT_TRUE(hook_->last_session->closed());
  EXPECT_EQ(hook_->ends, 0);
}

// The graph goes while a kernel works: what fails then is named by a node of the graph.
TEST_F(OwnershipTest, ARunThatIsStillInFlightMayOutliveTheGraph) {
  OpRegistry ops;
  ops.Register({.name = "Sleep", .output_types = Always({DType::kInt64}), .compute = [this](KernelContext&) {
                  env().tasks->SleepUntil({1000s});
                  return MakeStatus(Code::kInternal, "woke up");
                }});
  graph_ = std::make_unique<Graph>(ops);
  Builder b(*graph_);
  const Output sleep = b.Op("Sleep", {}, {.name = "sleeper_node"});
  absl::Status late;
  std::shared_ptr<Session> session = NewDirectSession(env(), *graph_);
  const auto task = env().tasks->Spawn("straggler", [&] { late = RunTarget(*session, sleep.node); });
  fake_.tasks.RunReady();
  EXPECT_TRUE(session->Close().ok());
  graph_ = nullptr;
  task->Join(kNever);
  EXPECT_THAT(std::string(MessageOf(late)), HasSubstr("sleeper_node"));
}

TEST_F(OwnershipTest, StragglersMayOutliveSessionAndGraph) {
  absl::Status late;
  hook_->created = [&](const std::shared_ptr<Session>& session, const std::shared_ptr<Coordinator>& coord) {
    coord->Register(env().tasks->Spawn("straggler", [this, &late, session] {
      env().tasks->SleepUntil({1000s});
      late = RunTarget(*session, train_.node);
    }));
  };
  Open().reset();
  hook_ = nullptr;
  graph_ = nullptr;
  EXPECT_THAT(Log(Severity::kError), Contains(HasSubstr("straggler")));
  env().tasks->SleepUntil({1001s});
  EXPECT_EQ(CodeOf(late), Code::kUsage);
}

TEST_F(OwnershipTest, CloseNamesWhoIsLeft) {
  EachSessionHasATaskThatNeeds(1000s);
  const auto session = Open({.stop_grace_period = 10s});
  EXPECT_TRUE(session->Close().ok());
  EXPECT_THAT(session->stragglers(), ElementsAre("slow"));
  EXPECT_THAT(Log(Severity::kError), Contains(HasSubstr("tasks of its coordinator still run: slow")));
}

TEST_F(OwnershipTest, AllSessionsTogetherHaveOneGracePeriod) {
  EachSessionHasATaskThatNeeds(1000s);
  const auto session = Open({.stop_grace_period = 10s});
  hook_->before = MakeStatus(Code::kAborted, "preempted");
  ASSERT_TRUE(session->Run(train_).ok());
  const Time used_up = fake_.clock.Monotonic();
  EXPECT_GE(ToSeconds(used_up.since_epoch), 10);
  EXPECT_TRUE(session->Close().ok());
  EXPECT_LT(fake_.clock.Monotonic() - used_up, 1s);
  EXPECT_THAT(session->stragglers(), ElementsAre("slow", "slow"));
}

TEST_F(OwnershipTest, TasksThatEndInTimeUseUpNoneOfTheGracePeriod) {
  EachSessionHasATaskThatNeeds(2s);
  const auto session = Open();
  for (int i = 0; i < 70; ++i) {
    hook_->before = MakeStatus(Code::kAborted, "preempted");
    ASSERT_TRUE(session->Run(train_).ok());
  }
  EachSessionHasATaskThatNeeds(100s);
  hook_->before = MakeStatus(Code::kAborted, "preempted");
  ASSERT_TRUE(session->Run(train_).ok());
  EXPECT_TRUE(session->Close().ok());
  EXPECT_THAT(session->stragglers(), IsEmpty());
}

TEST_F(OwnershipTest, AGracePeriodForEverIsWaitedFor) {
  EachSessionHasATaskThatNeeds(5000s);
  const auto session = Open({.stop_grace_period = Duration::max()});
  EXPECT_TRUE(session->Close().ok());
  EXPECT_THAT(session->stragglers(), IsEmpty());
}

TEST_F(OwnershipTest, TheLongestTimeoutOfARunIsNone) {
  const auto session = Open();
  EXPECT_TRUE(session->Run(train_, {}, RunOptions{.timeout_in_ms = INT64_MAX}).ok());
  EXPECT_TRUE(session->Close().ok());
}

TEST_F(OwnershipTest, IdleTimeIsNoFailing) {
  const auto session = Open();
  ASSERT_TRUE(session->Run(train_).ok());
  fake_.clock.Advance(31min);  // an evaluation
  hook_->before = MakeStatus(Code::kUnavailable, "gone for a moment");
  EXPECT_TRUE(session->Run(train_).ok());
  // A recovery by ShouldStop completes no run; the time after it is the caller's all the same.
  std::shared_ptr<Coordinator> coord;
  hook_->created = [&](const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>& given) { coord = given; };
  hook_->before = MakeStatus(Code::kUnavailable, "gone for a moment");
  ASSERT_TRUE(session->Run(train_).ok());
  coord->RequestStop(MakeStatus(Code::kUnavailable, "a task has lost its server")).IgnoreError();
  EXPECT_FALSE(*session->ShouldStop());
  fake_.clock.Advance(31min);
  hook_->before = MakeStatus(Code::kUnavailable, "gone for a moment");
  EXPECT_TRUE(session->Run(train_).ok());
  EXPECT_TRUE(session->Close().ok());
}

TEST_F(OwnershipTest, HowLongRecoveryMayFailIsAnOption) {
  class Failing : public SessionRunHook {
    absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>&) override {
      return MakeStatus(Code::kUnavailable, "the server is gone");
    }
  };
  const auto made = MonitoredSession::Create(env(), *graph_,
                                             {.hooks = {std::make_shared<Failing>()}, .give_up_recovery_after = 5min});
  EXPECT_EQ(CodeOf(made.status()), Code::kDeadlineExceeded);
  EXPECT_THAT(std::string(MessageOf(made.status())), HasSubstr("no run was completed for 5 minutes"));
  EXPECT_EQ(fake_.clock.Monotonic().since_epoch, 5min);
}

TEST_F(OwnershipTest, WhatStartsQueueRunnersMayThrow) {
  Builder b(*graph_);
  const ops::Queue queue = ops::FifoQueue(b, "queue", 2);
  const NodeId enqueue = ops::EnqueueMany(b, "enqueue", queue, b.Const("some", Tensor::Vector<std::int64_t>({1})));
  ASSERT_TRUE(b.status().ok()) << b.status();
  graph_->AddToCollection(kQueueRunners,
                          *QueueRunner::Create(env(), {.queue_name = "queue", .enqueue_ops = {enqueue}}));
  const auto made =
      MonitoredSession::Create(env(), *graph_, {.start_queue_runners = [](const auto&, const auto&) -> absl::Status {
                                 throw std::runtime_error("no threads");
                               }});
  EXPECT_EQ(CodeOf(made.status()), Code::kOther);
  EXPECT_EQ(MessageOf(made.status()), "no threads");
}

TEST_F(OwnershipTest, ARunInsideOfAfterRunLeavesTheRequestsOfTheOuterOne) {
  const auto first = std::make_shared<Told>();
  hook_->wants = Fetches::List({step_, one_});
  std::unique_ptr<MonitoredSession> session = Open({.hooks = {first}});
  std::size_t inner = 0;
  first->after = [&] {
    EXPECT_TRUE(session->Run(train_, {}, RunOptions{.timeout_in_ms = 7}).ok());
    inner = std::exchange(hook_->got, 0);
  };
  ASSERT_TRUE(session->Run(train_).ok());
  EXPECT_EQ(inner, 2u);
  EXPECT_EQ(hook_->got, 2u);
  EXPECT_TRUE(session->Close().ok());
}

}  // namespace
}  // namespace vigil
