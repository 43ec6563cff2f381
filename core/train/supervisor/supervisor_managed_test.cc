// Ports the rows of supervisor_test.py on managed sessions: which errors come out of the scope, and what it leaves
// behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/io/summary.pb.h"
#include "vigil/core/train/supervisor/basic_train_loop.h"
#include "vigil/core/train/supervisor/testing.h"
#include "vigil/fakes/summary/scribe_writer.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

absl::Status Error(Code code, std::string_view text = "scenario") { return MakeStatus(code, text); }

class ManagedSessionTest : public SupervisorTest {
 protected:
  // Trains until somebody stops the supervisor, at most `steps`.
  absl::Status Train(const Supervisor& sv, Session& session, int steps) {
    for (int i = 0; i < steps && !sv.ShouldStop(); ++i) VIGIL_RETURN_IF_ERROR(RunTarget(session, train_.node));
    return absl::OkStatus();
  }
  // What comes out of a scope with that body.
  std::string End(Supervisor& sv, const std::function<absl::Status()>& body) {
    return Text(sv.ManagedSession({}, [&](const SessionPtr&) { return body(); }));
  }
};

TEST_F(ManagedSessionTest, ClosesItsSessionAndStops) {
  const auto sv = Make({});
  SessionPtr kept;
  EXPECT_EQ(Text(sv->ManagedSession({},
                                    [&](const SessionPtr& session) {
                                      kept = session;
                                      return Train(*sv, *session, 10);
                                    })),
            "OK");
  EXPECT_TRUE(kept->closed());
  EXPECT_TRUE(sv->ShouldStop());
}

TEST_F(ManagedSessionTest, UserError) {
  const auto sv = Make({});
  SessionPtr kept;
  EXPECT_EQ(Text(sv->ManagedSession({},
                                    [&](const SessionPtr& session) {
                                      kept = session;
                                      return Error(Code::kInternal);
                                    })),
            "INTERNAL: scenario");
  EXPECT_TRUE(kept->closed());
  EXPECT_TRUE(sv->ShouldStop());
}

TEST_F(ManagedSessionTest, WhichErrorsComeOut) {
  const auto sv = Make({});
  EXPECT_EQ(End(*sv, [] { return Error(Code::kOutOfRange); }), "OK");
  EXPECT_EQ(End(*sv, [] { return Error(Code::kStopIteration); }), "STOP_ITERATION: scenario");
  EXPECT_EQ(End(*sv, [] { return Error(Code::kAborted); }), "ABORTED: scenario");
  EXPECT_EQ(End(*sv, []() -> absl::Status { throw std::runtime_error("thrown"); }), "OTHER: thrown");
}

TEST_F(ManagedSessionTest, TheFirstReportDecides) {
  const auto sv = Make({});
  const auto report = [&](absl::Status error) { EXPECT_TRUE(sv->RequestStop(error).ok()); };
  // A report that comes first is what comes out, even if it is none.
  EXPECT_EQ(End(*sv, [&] { return report(Error(Code::kInternal)), Error(Code::kAborted); }), "INTERNAL: scenario");
  EXPECT_EQ(End(*sv, [&] { return report(Error(Code::kInternal)), absl::OkStatus(); }), "INTERNAL: scenario");
  EXPECT_EQ(End(*sv, [&] { return report(absl::OkStatus()), Error(Code::kAborted); }), "OK");
  EXPECT_EQ(End(*sv, [&] { return sv->StopOnError([] { return Error(Code::kInternal, "guarded"); }); }),
            "INTERNAL: guarded");
}

TEST_F(ManagedSessionTest, AnErrorAfterAStopInTheBodyComesOut) {
  const auto sv = Make({});
  const auto stop = [&] { EXPECT_TRUE(sv->Stop().ok()); };
  EXPECT_EQ(End(*sv, [&] { return stop(), Error(Code::kAborted); }), "ABORTED: scenario");
  EXPECT_EQ(End(*sv, [&] { return stop(), Error(Code::kOutOfRange); }), "OK");
  // What was reported before has priority.
  EXPECT_EQ(End(*sv,
                [&] {
                  EXPECT_TRUE(sv->RequestStop(Error(Code::kInternal)).ok());
                  EXPECT_EQ(CodeOf(sv->Stop()), Code::kInternal);
                  return Error(Code::kAborted);
                }),
            "INTERNAL: scenario");
}

TEST_F(ManagedSessionTest, AStopIterationThatIsNotTheBodysOwn) {
  const auto sv = Make({});
  const auto report = [&] { EXPECT_TRUE(sv->RequestStop(Error(Code::kStopIteration)).ok()); };
  EXPECT_THAT(End(*sv, [&] { return report(), absl::OkStatus(); }),
              StartsWith("USAGE: generator raised StopIteration"));
  // An equal one of the body's is another one.
  EXPECT_THAT(End(*sv, [&] { return report(), Error(Code::kStopIteration); }),
              StartsWith("USAGE: generator raised StopIteration"));
  // The very same is the body's.
  EXPECT_EQ(End(*sv, [&] { return report(), sv->Stop(); }), "STOP_ITERATION: scenario");
}

TEST_F(ManagedSessionTest, APrepareThatFails) {
  const auto writer = std::make_shared<fakes::ScribeWriter>();
  Code code = Code::kInternal;
  const auto sv = Make({.summary_writer = {writer}, .init_fn = [&](Session&) { return Error(code); }});
  bool entered = false;
  const auto body = [&] { return entered = true, absl::OkStatus(); };
  EXPECT_EQ(End(*sv, body), "INTERNAL: scenario");
  EXPECT_THAT(writer->lines, ElementsAre("reopen", "session_log STOP", "close"));
  code = Code::kOutOfRange;
  EXPECT_EQ(End(*sv, body), "OUT_OF_RANGE: scenario");
  EXPECT_FALSE(entered);
  const auto theirs = Make({.init_fn = [&](Session&) { return Error(code); }, .behaviour = Behaviour::TensorFlow()});
  EXPECT_THAT(End(*theirs, body), StartsWith("USAGE: generator didn't yield"));
  code = Code::kStopIteration;
  EXPECT_THAT(End(*theirs, body), StartsWith("USAGE: generator raised StopIteration"));
  EXPECT_FALSE(entered);
}

TEST_F(ManagedSessionTest, AnErrorOfTheWriterTakesThePlaceOfTheBodys) {
  const auto writer = std::make_shared<fakes::ScribeWriter>();
  const auto sv = Make({.summary_writer = {writer}});
  writer->failing = "close";
  EXPECT_EQ(End(*sv, [] { return Error(Code::kInternal); }), "RESOURCE_EXHAUSTED: the disk is full");
}

TEST_F(ManagedSessionTest, StuckTasksAreReportedAfterTheGrace) {
  const auto sv = Make({.stop_grace_secs = std::chrono::seconds(5)});
  const auto stuck = [&] {
    sv->Loop(
        std::nullopt,
        [&] {
          SleepUntil(1000);
          return absl::OkStatus();
        },
        "stuck");
    fake_.tasks.RunReady();
    return absl::OkStatus();
  };
  EXPECT_EQ(End(*sv, stuck), "USAGE: Coordinator stopped with threads still running: stuck");
  EXPECT_EQ(Now(), 5.001);
}

TEST_F(ManagedSessionTest, DoNotKeepSummaryWriter) {
  const auto sv = Make({.logdir = kLogdir, .save_summaries_secs = {}, .save_model_secs = {}});
  for (const double begin : {0.0, 2.0}) {
    SleepUntil(begin);  // a file's name has the second
    EXPECT_EQ(Text(sv->ManagedSession({},
                                      [&](const SessionPtr& session) {
                                        VIGIL_RETURN_IF_ERROR(Train(*sv, *session, 1));
                                        return sv->SummaryComputed(session, proto::Summary(),
                                                                   static_cast<std::int64_t>(begin));
                                      })),
              "OK");
  }
  ASSERT_THAT(EventsFiles(), SizeIs(2));
  EXPECT_THAT(Events(EventsFiles()[0]),
              ElementsAre("version", "graph", "meta_graph", "START step=0", "summary step=0", "STOP step=0"));
  EXPECT_THAT(Events(EventsFiles()[1]),
              ElementsAre("version", "graph", "meta_graph", "START step=0", "summary step=2", "STOP step=0"));
}

TEST_F(ManagedSessionTest, KeepSummaryWriter) {
  const auto sv = Make({.logdir = kLogdir, .save_summaries_secs = {}, .save_model_secs = {}});
  for (const std::int64_t round : {1, 2}) {
    EXPECT_EQ(Text(sv->ManagedSession(
                  {.close_summary_writer = false},
                  [&](const SessionPtr& session) { return sv->SummaryComputed(session, proto::Summary(), round); })),
              "OK");
  }
  EXPECT_TRUE(sv->summary_writer()->Close().ok());
  ASSERT_THAT(EventsFiles(), SizeIs(1));
  EXPECT_THAT(Events(EventsFiles()[0]), ElementsAre("version", "graph", "meta_graph", "START step=0", "summary step=1",
                                                    "START step=0", "summary step=2"));
}

TEST_F(ManagedSessionTest, WithoutServicesNothingRunsBesideIt) {
  const auto sv = Make({.logdir = kLogdir, .save_summaries_secs = {}});
  EXPECT_EQ(
      Text(sv->ManagedSession({.start_standard_services = false}, [](const SessionPtr&) { return absl::OkStatus(); })),
      "OK");
  EXPECT_FALSE(Exists("model.ckpt-0.index"));
  EXPECT_THAT(Events(EventsFiles()[0]), ElementsAre("version", "graph", "meta_graph", "STOP step=0"));
}

// `elements` numbers come out of a queue that feeds, through another one if `second`, what `next` takes.
class QueuesTest : public ManagedSessionTest {
 protected:
  Output Input(const std::string& name, Output values) {
    const ops::Queue queue = ops::FifoQueue(b_, name, 32);
    const NodeId enqueue = ops::EnqueueMany(b_, name + "/enqueue", queue, values);
    const auto runner = QueueRunner::Create(
        env(), {.queue_name = name, .enqueue_ops = {enqueue}, .close_op = queue.close, .cancel_op = queue.cancel});
    EXPECT_TRUE(runner.ok()) << runner.status();
    graph_.AddToCollection(kQueueRunners, *runner);
    return ops::Dequeue(b_, name + "/dequeue", queue);
  }
  void Build(bool second) {
    const Output range = b_.Const("range", Tensor::Vector(std::vector<std::int64_t>{0, 1, 2}));
    next_ = Input("one", ops::LimitEpochs(b_, "epochs", range, 1));
    if (!second) return;
    // EnqueueMany takes a vector: each number of the first queue becomes one of the second.
    next_ = Input("two", b_.Op("Pack", {next_}, {.name = "many"}));
  }
  // The numbers that the body got before its input ended; then what the scope ended with.
  std::string Drain(const absl::Status& after_two = absl::OkStatus()) {
    const auto sv = Make({});
    std::string got;
    const absl::Status end = sv->ManagedSession({}, [&](const SessionPtr& session) -> absl::Status {
      while (!sv->ShouldStop()) {
        VIGIL_ASSIGN_OR_RETURN(const Tensor next, RunFetch(*session, next_));
        got += std::to_string(next.scalar<std::int64_t>());
        if (got.size() == 2) VIGIL_RETURN_IF_ERROR(after_two);
      }
      return absl::OkStatus();
    });
    return got + " " + Text(end);
  }
  Output next_;
};

TEST_F(QueuesTest, EndOfInputOneQueue) {
  Build(false);
  EXPECT_EQ(Drain(), "012 OK");
}

TEST_F(QueuesTest, EndOfInputTwoQueues) {
  Build(true);
  EXPECT_EQ(Drain(), "012 OK");
}

TEST_F(QueuesTest, MainErrorTwoQueues) {
  Build(true);
  EXPECT_EQ(Drain(Error(Code::kInternal, "main")), "01 INTERNAL: main");
}

TEST_F(QueuesTest, QueueRunnersThatAreNotCollected) {
  Build(false);
  const std::vector<QueueRunnerPtr> mine = graph_.Collection(kQueueRunners);
  graph_.ClearCollection(kQueueRunners.name);
  const auto sv = Make({});
  const SessionPtr session = Prepare(*sv);
  const auto none = sv->StartQueueRunners(session);
  ASSERT_TRUE(none.ok());
  EXPECT_THAT(*none, IsEmpty());
  const auto tasks = sv->StartQueueRunners(session, mine);
  ASSERT_TRUE(tasks.ok());
  EXPECT_THAT(*tasks, SizeIs(2));
  EXPECT_EQ(Value(*session, next_), "0");
  EXPECT_TRUE(sv->Stop({.tasks = *tasks}).ok());
  EXPECT_THAT(Text(sv->StartQueueRunners(nullptr, mine).status()), HasSubstr("There is no session"));
}

class BasicTrainLoopTest : public ManagedSessionTest {};

TEST_F(BasicTrainLoopTest, TrainsUntilSomebodyStops) {
  const auto sv = Make({});
  int steps = 0;
  EXPECT_TRUE(BasicTrainLoop(*sv, [&](Session& session) {
                if (++steps == 3) {
                  EXPECT_TRUE(sv->RequestStop().ok());
                }
                return RunTarget(session, train_.node);
              }).ok());
  EXPECT_EQ(steps, 3);
}

TEST_F(BasicTrainLoopTest, OnlyAbortedBeginsAnew) {
  const auto factory = std::make_shared<TestFactory>(env());
  const auto sv = Make({.factory = factory});
  int steps = 0;
  const absl::Status end =
      BasicTrainLoop(*sv, [&](Session&) { return Error(++steps < 4 ? Code::kAborted : Code::kUnavailable); });
  EXPECT_EQ(CodeOf(end), Code::kUnavailable);
  EXPECT_EQ(factory->created, 4);
}

TEST_F(BasicTrainLoopTest, AStepThatThrowsEndsIt) {
  const auto sv = Make({});
  EXPECT_EQ(Text(BasicTrainLoop(*sv, [](Session&) -> absl::Status { throw std::runtime_error("thrown"); })),
            "OTHER: thrown");
  EXPECT_EQ(CodeOf(BasicTrainLoop(
                *sv, [](Session&) { return absl::OkStatus(); }, "gopher://x:1")),
            Code::kNotFound);
}

}  // namespace
}  // namespace vigil
