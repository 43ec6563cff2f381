// Ports QueueRunnerTest of queue_runner_test.py. Its row on graphs other than the default one has no
// counterpart (a graph is passed); "not a session" and monitored sessions do not compile.
#include "vigil/core/coord/queue_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/coord/looper_thread.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/few_threads.h"

namespace vigil {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class QueueRunnerTest : public testing::Test {
 protected:
  QueueRunnerTest() { queue_ = ops::FifoQueue(b_, "queue", 10); }
  Env env() { return fake_.env(); }

  // An op that works `limit` times, then fails with OUT_OF_RANGE, and the variable that it counts in.
  struct Counter {
    Output value;
    NodeId op = kNoNode;
  };
  Counter CountUpTo(std::int64_t limit, const std::string& name = "count") {
    const ops::Variable v = ops::MakeVariable(b_, name, b_.Const(name + "_zero", Tensor::Scalar<std::int64_t>(0)));
    counters_.push_back(v.initializer);
    const Output up = b_.Op("CountUpTo", {v.ref}, {.name = name + "_up", .attrs = {{"limit", limit}}});
    return {v.ref, up.node};
  }
  // An op that always fails with INVALID_ARGUMENT.
  NodeId BadOp(const std::string& name) { return ops::Placeholder(b_, name, DType::kInt64).node; }

  QueueRunnerPtr Runner(const QueueRunnerOptions& options) {
    EXPECT_TRUE(b_.status().ok()) << b_.status();
    auto runner = QueueRunner::Create(env(), options);
    EXPECT_TRUE(runner.ok()) << runner.status();
    return std::move(runner).value();
  }
  QueueRunnerPtr Runner(std::vector<NodeId> enqueue_ops) {
    return Runner({.queue_name = "queue", .enqueue_ops = std::move(enqueue_ops)});
  }
  // A session with all counters at 0.
  std::shared_ptr<Session> NewSession() {
    std::shared_ptr<Session> session = NewDirectSession(env(), graph_);
    for (const NodeId initializer : counters_) EXPECT_TRUE(RunTarget(*session, initializer).ok());
    return session;
  }
  std::vector<TaskPtr> Start(const QueueRunnerPtr& runner, const std::shared_ptr<Session>& session) {
    auto tasks = runner->CreateTasks(session, coord_);
    EXPECT_TRUE(tasks.ok()) << tasks.status();
    return std::move(tasks).value();
  }
  static void Join(const std::vector<TaskPtr>& tasks) {
    for (const TaskPtr& task : tasks) EXPECT_TRUE(task->Join({seconds(1000)})) << task->name();
  }
  static std::int64_t Value(Session& session, Output of) {
    const absl::StatusOr<Tensor> value = RunFetch(session, of);
    return value.ok() ? value->scalar<std::int64_t>() : -1;
  }
  static std::vector<std::string> Names(const std::vector<TaskPtr>& tasks) {
    std::vector<std::string> names;
    for (const TaskPtr& task : tasks) names.push_back(task->name());
    return names;
  }

  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  Builder b_{graph_};
  ops::Queue queue_;
  std::vector<NodeId> counters_;
  std::shared_ptr<Coordinator> coord_;  // null: none
};

// testBasic
TEST_F(QueueRunnerTest, RunsItsOpUntilTheInputEnds) {
  const Counter count = CountUpTo(3);
  const QueueRunnerPtr runner = Runner({count.op});
  const std::shared_ptr<Session> session = NewSession();
  const std::vector<TaskPtr> tasks = Start(runner, session);
  EXPECT_THAT(Names(tasks), ElementsAre("QueueRunnerThread-queue-count_up"));
  Join(tasks);
  EXPECT_EQ(Value(*session, count.value), 3);
  EXPECT_THAT(runner->errors_raised(), IsEmpty());
}

TEST_F(QueueRunnerTest, TellsHowItGoes) {
  const Counter count = CountUpTo(3);
  const QueueRunnerPtr runner =
      Runner({.queue_name = "queue", .enqueue_ops = {count.op}, .close_op = queue_.close, .cancel_op = queue_.cancel});
  Join(Start(runner, NewSession()));
  std::vector<std::uint8_t> told;
  for (const Event& event : fake_.events.events()) {
    if (event.kind == EventKind::kQueueDetail) told.push_back(event.call);
  }
  const auto of = [](QueueDetail what) { return static_cast<std::uint8_t>(what); };
  EXPECT_THAT(told, ElementsAre(of(QueueDetail::kStarted), of(QueueDetail::kEnqueueEnded), of(QueueDetail::kCloses)));
}

// testTwoOps
TEST_F(QueueRunnerTest, RunsSeveralOpsInTasksOfTheirOwn) {
  const Counter three = CountUpTo(3, "three");
  const Counter thirty = CountUpTo(30, "thirty");
  const QueueRunnerPtr runner = Runner({three.op, thirty.op});
  const std::shared_ptr<Session> session = NewSession();
  const std::vector<TaskPtr> tasks = Start(runner, session);
  EXPECT_THAT(Names(tasks), ElementsAre("QueueRunnerThread-queue-three_up", "QueueRunnerThread-queue-thirty_up"));
  Join(tasks);
  EXPECT_EQ(Value(*session, three.value), 3);
  EXPECT_EQ(Value(*session, thirty.value), 30);
  EXPECT_THAT(runner->errors_raised(), IsEmpty());
}

// testExceptionsCaptured
TEST_F(QueueRunnerTest, WithoutACoordinatorErrorsAreKeptAndLogged) {
  const QueueRunnerPtr runner = Runner({BadOp("bad"), BadOp("worse")});
  Join(Start(runner, NewSession()));
  const std::vector<absl::Status> errors = runner->errors_raised();
  ASSERT_THAT(errors, SizeIs(2));
  EXPECT_EQ(CodeOf(errors[0]), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(errors[1]), Code::kInvalidArgument);
  EXPECT_EQ(fake_.log.lines()[0].severity, Severity::kError);
  EXPECT_THAT(fake_.log.lines()[0].text, testing::HasSubstr("Exception in QueueRunner: "));
}

// testRealDequeueEnqueue
TEST_F(QueueRunnerTest, TheEndOfOneQueueClosesTheNext) {
  const Output two = b_.Const("two", Tensor::Vector<std::int64_t>({10, 20}));
  const NodeId fill = ops::EnqueueMany(b_, "fill", queue_, two);
  const ops::Queue target = ops::FifoQueue(b_, "target", 10);
  const Output item = ops::Dequeue(b_, "item", queue_);
  const Output one_item = b_.Op("Pack", {item}, {.name = "one_item"});
  const NodeId move = ops::EnqueueMany(b_, "move", target, one_item);
  const Output out = ops::Dequeue(b_, "out", target);
  const QueueRunnerPtr runner = Runner({.queue_name = "target", .enqueue_ops = {move}, .close_op = target.close});
  const std::shared_ptr<Session> session = NewSession();
  ASSERT_TRUE(RunTarget(*session, fill).ok());
  ASSERT_TRUE(RunTarget(*session, queue_.close).ok());
  Join(Start(runner, session));
  EXPECT_THAT(runner->errors_raised(), IsEmpty());
  EXPECT_EQ(Value(*session, out), 10);
  EXPECT_EQ(Value(*session, out), 20);
  EXPECT_EQ(CodeOf(RunFetch(*session, out).status()), Code::kOutOfRange) << "closed, so nobody waits for more";
}

TEST_F(QueueRunnerTest, OnlyTheLastTaskClosesTheQueue) {
  const Counter first = CountUpTo(1, "first");
  const NodeId fill = ops::EnqueueMany(b_, "fill", queue_, b_.Const("items", Tensor::Vector<std::int64_t>({1, 2, 3})));
  const QueueRunnerPtr runner =
      Runner({.queue_name = "queue", .enqueue_ops = {first.op, fill}, .close_op = queue_.close});
  const std::shared_ptr<Session> session = NewSession();
  const std::vector<TaskPtr> tasks = Start(runner, session);
  fake_.tasks.RunReady();  // one has met its end, the other waits for room
  EXPECT_TRUE(tasks[0]->done());
  EXPECT_FALSE(tasks[1]->done());
  const Output out = ops::Dequeue(b_, "out", queue_);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Value(*session, out), i % 3 + 1) << "the queue is not closed";
  ASSERT_TRUE(session->Close().ok());
  Join(tasks);
}

// testRespectCoordShouldStop
TEST_F(QueueRunnerTest, AfterAStopNothingIsRun) {
  const Counter count = CountUpTo(3);
  const QueueRunnerPtr runner = Runner({count.op});
  coord_ = std::make_shared<Coordinator>(env());
  EXPECT_TRUE(coord_->RequestStop().ok());
  const std::shared_ptr<Session> session = NewSession();
  const std::vector<TaskPtr> tasks = Start(runner, session);
  EXPECT_THAT(Names(tasks),
              UnorderedElementsAre("QueueRunnerThread-queue-count_up", "QueueRunnerThread-queue-close_on_stop"));
  EXPECT_TRUE(coord_->Join().ok());
  EXPECT_EQ(Value(*session, count.value), 0);
}

// testRequestStopOnException
TEST_F(QueueRunnerTest, AnErrorStopsTheCoordinator) {
  const QueueRunnerPtr runner = Runner({BadOp("bad")});
  coord_ = std::make_shared<Coordinator>(env());
  Start(runner, NewSession());
  EXPECT_EQ(CodeOf(coord_->Join()), Code::kInvalidArgument);
  EXPECT_THAT(runner->errors_raised(), IsEmpty()) << "it was told to the coordinator";
}

// Nobody else is left to be told.
TEST_F(QueueRunnerTest, TheErrorOfATaskThatAJoinGaveUpOnIsLogged) {
  const NodeId fill = ops::EnqueueMany(b_, "fill", queue_, b_.Const("items", Tensor::Vector<std::int64_t>({1, 2, 3})));
  const QueueRunnerPtr runner =
      Runner({.queue_name = "queue", .enqueue_ops = {fill}, .queue_closed_codes = {Code::kOutOfRange}});
  coord_ = std::make_shared<Coordinator>(env());
  const std::shared_ptr<Session> session = NewSession();
  const std::vector<TaskPtr> tasks = Start(runner, session);
  fake_.tasks.RunReady();
  EXPECT_TRUE(coord_->RequestStop().ok());
  EXPECT_TRUE(coord_->Join({.stop_grace_period = seconds(1), .ignore_live_tasks = true}).ok());
  EXPECT_TRUE(session->Close().ok());
  Join(tasks);
  EXPECT_EQ(fake_.log.lines().back().severity, Severity::kWarning);
  EXPECT_THAT(fake_.log.lines().back().text,
              testing::StartsWith("The queue runner 'queue' failed after its coordinator had been joined: "));
}

// testGracePeriod
TEST_F(QueueRunnerTest, AStopFreesATaskThatWaitsForRoom) {
  const NodeId fill = ops::EnqueueMany(b_, "fill", queue_, b_.Const("items", Tensor::Vector<std::int64_t>({1, 2, 3})));
  const QueueRunnerPtr runner =
      Runner({.queue_name = "queue", .enqueue_ops = {fill}, .close_op = queue_.close, .cancel_op = queue_.cancel});
  coord_ = std::make_shared<Coordinator>(env());
  Start(runner, NewSession());
  fake_.tasks.RunReady();
  EXPECT_TRUE(coord_->RequestStop().ok());
  EXPECT_TRUE(coord_->Join({.stop_grace_period = seconds(1)}).ok());
}

TEST_F(QueueRunnerTest, JoiningWaitsForAStopEvenWhenTheInputHasEnded) {
  const Counter count = CountUpTo(3);
  coord_ = std::make_shared<Coordinator>(env());
  Start(Runner({count.op}), NewSession());
  const TaskPtr stopper = env().tasks->Spawn("stopper", [this] {
    env().tasks->SleepUntil({seconds(500)});
    EXPECT_TRUE(coord_->RequestStop().ok());
  });
  EXPECT_TRUE(coord_->Join().ok());
  EXPECT_EQ(ToSeconds(fake_.clock.Monotonic().since_epoch), 500);
}

// Runs of one node get lost for a while, with that code.
class LosesRuns final : public Session {
 public:
  LosesRuns(const Env& env, std::shared_ptr<Session> inner, NodeId of, Code code)
      : env_(env), inner_(std::move(inner)), of_(of), code_(code) {}
  std::int64_t number() const override { return inner_->number(); }
  const Graph& graph() const override { return inner_->graph(); }
  bool closed() const override { return inner_->closed(); }
  absl::Status Run(const RunCall& call, std::vector<Tensor>* fetched) override {
    if (std::ranges::find(call.spec.targets, of_) == call.spec.targets.end()) return inner_->Run(call, fetched);
    at.push_back(static_cast<int>(ToSeconds(env_.clock->Monotonic().since_epoch)));
    if (static_cast<int>(at.size()) <= lost) return MakeStatus(code_, "lost");
    return inner_->Run(call, fetched);
  }
  absl::Status Close() override { return inner_->Close(); }
  int lost = 3;
  std::vector<int> at;  // in seconds

 private:
  const Env env_;
  const std::shared_ptr<Session> inner_;
  const NodeId of_;
  const Code code_;
};

// Who waits for the queue stands in a run, and does not come to join.
TEST_F(QueueRunnerTest, ACancelThatGotLostIsTriedAgain) {
  const NodeId fill = ops::EnqueueMany(b_, "fill", queue_, b_.Const("items", Tensor::Vector<std::int64_t>({1, 2, 3})));
  for (const Code code : {Code::kUnavailable, Code::kAborted, Code::kDeadlineExceeded}) {
    const auto start = static_cast<int>(ToSeconds(fake_.clock.Monotonic().since_epoch));
    const QueueRunnerPtr runner =
        Runner({.queue_name = "queue", .enqueue_ops = {fill}, .close_op = queue_.close, .cancel_op = queue_.cancel});
    coord_ = std::make_shared<Coordinator>(env());
    const auto session = std::make_shared<LosesRuns>(env(), NewSession(), queue_.cancel, code);
    const std::vector<TaskPtr> tasks = Start(runner, session);
    fake_.tasks.RunReady();
    EXPECT_TRUE(coord_->RequestStop().ok());
    Join(tasks);
    EXPECT_THAT(session->at, ElementsAre(start, start + 1, start + 3, start + 7)) << CodeName(code);
  }
}

// However long it has trained before, and also after a stop that was joined and cleared.
TEST_F(QueueRunnerTest, ACancelThatGotLostIsTriedAgainAtALateStopAndAtASecondOne) {
  const NodeId fill = ops::EnqueueMany(b_, "fill", queue_, b_.Const("items", Tensor::Vector<std::int64_t>({1, 2, 3})));
  const QueueRunnerPtr runner =
      Runner({.queue_name = "queue", .enqueue_ops = {fill}, .close_op = queue_.close, .cancel_op = queue_.cancel});
  coord_ = std::make_shared<Coordinator>(env());
  for (const int trained : {3600, 0}) {
    const auto session = std::make_shared<LosesRuns>(env(), NewSession(), queue_.cancel, Code::kUnavailable);
    const std::vector<TaskPtr> tasks = Start(runner, session);
    env().tasks->SleepUntil(DeadlineAfter(env(), seconds(trained)));
    fake_.tasks.RunReady();
    const auto stop = static_cast<int>(ToSeconds(fake_.clock.Monotonic().since_epoch));
    EXPECT_TRUE(coord_->RequestStop().ok());
    for (const TaskPtr& task : tasks) EXPECT_TRUE(task->Join(DeadlineAfter(env(), seconds(100))));
    EXPECT_THAT(session->at, ElementsAre(stop, stop + 1, stop + 3, stop + 7)) << trained;
    EXPECT_TRUE(coord_->Join({.stop_grace_period = seconds(0), .ignore_live_tasks = true}).ok());
    coord_->ClearStop();
  }
}

TEST_F(QueueRunnerTest, ACancelThatGotLostIsNotTriedAgainInVain) {
  const NodeId fill = ops::EnqueueMany(b_, "fill", queue_, b_.Const("items", Tensor::Vector<std::int64_t>({1, 2, 3})));
  struct Case {
    Behaviour behaviour;
    Code code;
    bool joined;
  };
  for (const Case& c :
       {Case{Behaviour::Default(), Code::kUnavailable, true}, Case{Behaviour::Default(), Code::kCancelled, false},
        Case{Behaviour::TensorFlow(), Code::kUnavailable, false}}) {
    const QueueRunnerPtr runner = Runner({.queue_name = "queue", .enqueue_ops = {fill}, .cancel_op = queue_.cancel});
    coord_ = std::make_shared<Coordinator>(env(), CoordinatorOptions{.behaviour = c.behaviour});
    const auto session = std::make_shared<LosesRuns>(env(), NewSession(), queue_.cancel, c.code);
    Start(runner, session);
    fake_.tasks.RunReady();
    EXPECT_TRUE(coord_->RequestStop().ok());
    if (c.joined) {
      EXPECT_TRUE(coord_->Join({.stop_grace_period = seconds(0), .ignore_live_tasks = true}).ok());
    }
    env().tasks->SleepUntil(DeadlineAfter(env(), seconds(100)));
    EXPECT_THAT(session->at, SizeIs(1));
    EXPECT_TRUE(session->Close().ok());
    fake_.tasks.RunReady();
  }
}

// As TensorFlow says it of a prepared run.
TEST_F(QueueRunnerTest, ASessionThatIsClosedBeforeATaskRunsIsReportedAsCancelled) {
  const QueueRunnerPtr runner = Runner({CountUpTo(3).op});
  coord_ = std::make_shared<Coordinator>(env());
  const std::shared_ptr<Session> session = NewSession();
  Start(runner, session);
  EXPECT_TRUE(session->Close().ok());
  const absl::Status joined = coord_->Join();
  EXPECT_EQ(CodeOf(joined), Code::kCancelled);
  EXPECT_EQ(MessageOf(joined), "Session has been closed.");
}

// testMultipleSessions
TEST_F(QueueRunnerTest, EachSessionHasTasksOfItsOwn) {
  const Counter count = CountUpTo(3);
  const QueueRunnerPtr runner = Runner({count.op});
  const std::shared_ptr<Session> first = NewSession();
  const std::shared_ptr<Session> second = NewSession();
  const std::vector<TaskPtr> of_first = Start(runner, first);
  const std::vector<TaskPtr> of_second = Start(runner, second);
  EXPECT_THAT(of_first, SizeIs(1));
  EXPECT_THAT(of_second, SizeIs(1));
  Join(of_first), Join(of_second);
  EXPECT_EQ(Value(*first, count.value), 3);
  EXPECT_EQ(Value(*second, count.value), 3);
}

// testIgnoreMultiStarts
TEST_F(QueueRunnerTest, ASecondStartWhileTasksRunStartsNone) {
  const QueueRunnerPtr runner = Runner({CountUpTo(3).op});
  coord_ = std::make_shared<Coordinator>(env());
  const std::shared_ptr<Session> session = NewSession();
  EXPECT_THAT(Start(runner, session), SizeIs(2));
  EXPECT_THAT(Start(runner, session), IsEmpty());
  EXPECT_TRUE(coord_->RequestStop().ok());
  EXPECT_TRUE(coord_->Join().ok());
}

// testThreads
TEST_F(QueueRunnerTest, AStartAfterTheEndForgetsOldErrors) {
  const Counter count = CountUpTo(3);
  const QueueRunnerPtr runner = Runner({count.op, BadOp("bad")});
  const std::shared_ptr<Session> session = NewSession();
  for (int i = 0; i < 2; ++i) {
    const std::vector<TaskPtr> tasks = Start(runner, session);
    EXPECT_THAT(tasks, SizeIs(2));
    Join(tasks);
    EXPECT_THAT(runner->errors_raised(), SizeIs(1));
  }
}

// testName
TEST_F(QueueRunnerTest, HasTheNameOfItsQueueAndStandsInItsCollection) {
  const ops::Queue queue = ops::FifoQueue(b_, "scope/queue", 10);
  const QueueRunnerPtr runner =
      Runner({.queue_name = graph_.node(queue.handle.node).name, .enqueue_ops = {BadOp("op")}});
  EXPECT_EQ(runner->name(), "scope/queue");
  graph_.AddToCollection(kQueueRunners, runner);
  EXPECT_THAT(graph_.Collection(kQueueRunners), ElementsAre(runner));
}

// testStartQueueRunners
TEST_F(QueueRunnerTest, AllRunnersOfAGraphAreStarted) {
  const Counter a = CountUpTo(2, "a");
  const Counter b = CountUpTo(5, "b");
  graph_.AddToCollection(kQueueRunners, Runner({a.op}));
  graph_.AddToCollection(kQueueRunners, Runner({b.op}));
  const std::shared_ptr<Session> session = NewSession();
  const absl::StatusOr<std::vector<TaskPtr>> tasks = StartQueueRunners(session, nullptr);
  ASSERT_TRUE(tasks.ok()) << tasks.status();
  EXPECT_THAT(*tasks, SizeIs(2));
  Join(*tasks);
  EXPECT_EQ(Value(*session, a.value), 2);
  EXPECT_EQ(Value(*session, b.value), 5);
}

// testStartQueueRunnersRaisesIfNotASession
TEST_F(QueueRunnerTest, WithoutASessionNothingCanBeStarted) {
  const absl::Status status = StartQueueRunners(nullptr, nullptr).status();
  EXPECT_EQ(CodeOf(status), Code::kUsage);
  EXPECT_THAT(std::string(MessageOf(status)), testing::HasSubstr("Cannot start queue runners: No default session"));
}

TEST_F(QueueRunnerTest, ConstructorChecks) {
  const NodeId op = BadOp("op");
  const auto refusal = [this](const QueueRunnerOptions& options) {
    return std::string(MessageOf(QueueRunner::Create(env(), options).status()));
  };
  EXPECT_EQ(refusal({.queue_name = "queue"}), "Must provide queue and enqueue_ops.");
  EXPECT_EQ(refusal({.enqueue_ops = {op}}), "Must provide queue and enqueue_ops.");
  EXPECT_THAT(refusal({.queue_name = "queue", .enqueue_ops = {op}, .queue_closed_codes = {}}),
              testing::HasSubstr("queue_closed_codes must not be empty"));
}

TEST_F(QueueRunnerTest, OtherCodesMayMeanTheEndOfTheInput) {
  const QueueRunnerPtr runner = Runner({.queue_name = "queue",
                                        .enqueue_ops = {BadOp("bad")},
                                        .queue_closed_codes = {Code::kCancelled, Code::kInvalidArgument}});
  Join(Start(runner, NewSession()));
  EXPECT_THAT(runner->errors_raised(), IsEmpty());
}

TEST_F(QueueRunnerTest, ARunnerWhoseTasksCannotBeStartedIsAnErrorAndCanBeStartedLater) {
  const Counter first = CountUpTo(3, "first");
  const Counter second = CountUpTo(3, "second");
  fakes::FewThreads few(*env().tasks, 1);
  Env poor = env();
  poor.tasks = &few;
  const auto runner = QueueRunner::Create(poor, {.queue_name = "queue", .enqueue_ops = {first.op, second.op}}).value();
  const auto session = NewSession();
  const auto coord = std::make_shared<Coordinator>(env());
  const absl::StatusOr<std::vector<TaskPtr>> started = runner->CreateTasks(session, coord);
  EXPECT_EQ(CodeOf(started.status()), Code::kResourceExhausted);
  EXPECT_THAT(std::string(MessageOf(started.status())), testing::HasSubstr("QueueRunnerThread-queue-second"));
  EXPECT_TRUE(coord->RequestStop().ok());
  EXPECT_TRUE(coord->Join().ok()) << "the one that was started is registered";
  std::vector<std::int64_t> others;
  for (const Event& event : fake_.events.events()) {
    const bool ended = event.kind == EventKind::kQueueDetail;
    if (ended && event.call == static_cast<std::uint8_t>(QueueDetail::kEnqueueEnded)) others.push_back(event.index);
  }
  EXPECT_THAT(others, ElementsAre(0)) << "the one that was started is the last";
  few.left = 10;
  EXPECT_THAT(*runner->CreateTasks(session, nullptr), SizeIs(2)) << "none counts as running";
}

TEST_F(QueueRunnerTest, ALooperWhoseTaskCannotBeStartedStopsItsCoordinator) {
  fakes::FewThreads none(*env().tasks, 0);
  Env poor = env();
  poor.tasks = &none;
  const auto coord = std::make_shared<Coordinator>(env());
  const auto looper = LooperThread::Loop(
      poor, coord, seconds(1), [] { return absl::OkStatus(); }, "mine");
  EXPECT_TRUE(looper->task()->done());
  EXPECT_EQ(CodeOf(coord->Join()), Code::kResourceExhausted);
}

}  // namespace
}  // namespace vigil
