// The arguments of Supervisor::Stop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/train/supervisor/testing.h"
#include "vigil/fakes/summary/scribe_writer.h"

namespace vigil {
namespace {

using std::chrono::seconds;
using testing::Contains;
using testing::Not;
using testing::StartsWith;

class SupervisorStopTest : public SupervisorTest {
 protected:
  TaskPtr Sleeper(double secs) {
    return env().tasks->Spawn("sleeper", [this, secs] { SleepUntil(secs); });
  }
  // Of the log.
  std::vector<std::string> Errors() {
    std::vector<std::string> errors;
    for (const auto& line : fake_.log.lines()) {
      if (line.severity == Severity::kError) errors.push_back(line.text);
    }
    return errors;
  }
};

TEST_F(SupervisorStopTest, JoinsTheTasksThatItIsGiven) {
  const auto sv = Make({.stop_grace_secs = seconds(5)});
  const SessionPtr session = Prepare(*sv);
  const TaskPtr task = Sleeper(3);
  EXPECT_EQ(Text(sv->Stop({.tasks = {task}})), "OK");
  EXPECT_TRUE(task->done());
  EXPECT_EQ(Now(), 3);
}

TEST_F(SupervisorStopTest, LiveTasksMayBeIgnored) {
  const auto sv = Make({.stop_grace_secs = seconds(5)});
  const SessionPtr session = Prepare(*sv);
  EXPECT_EQ(Text(sv->Stop({.tasks = {Sleeper(1000)}})),
            "USAGE: Coordinator stopped with threads still running: sleeper");
  const auto other = Make({.stop_grace_secs = seconds(5)});
  EXPECT_EQ(Text(other->Stop({.tasks = {Sleeper(1000)}, .ignore_live_tasks = true})), "OK");
}

TEST_F(SupervisorStopTest, TheWriterMayStayOpen) {
  const auto sv = Make({.logdir = kLogdir, .save_summaries_secs = {}, .save_model_secs = {}});
  const SessionPtr session = Prepare(*sv);
  EXPECT_EQ(Text(sv->Stop({.close_summary_writer = false})), "OK");
  EXPECT_EQ(Text(sv->summary_writer()->Flush()), "OK");
  ASSERT_EQ(EventsFiles().size(), 1u);
  EXPECT_THAT(Events(EventsFiles()[0]), Not(Contains(StartsWith("STOP"))));
  EXPECT_EQ(Text(sv->Stop()), "OK");
  EXPECT_THAT(Events(EventsFiles()[0]), Contains(StartsWith("STOP")));
}

TEST_F(SupervisorStopTest, ADroppedSupervisorStopsWhatItStarted) {
  bool stopped = false;
  SessionPtr session;
  TaskPtr task;
  {
    const auto sv = Make({.logdir = kLogdir, .stop_grace_secs = seconds(5)});
    session = Prepare(*sv);
    task = sv->Loop(
                 seconds(1), [] { return absl::OkStatus(); }, "mine")
               ->task();
    sv->coord()->Register(env().tasks->Spawn("stuck", [this] { SleepUntil(1000); }));
    stopped = sv->ShouldStop();
  }
  EXPECT_FALSE(stopped);
  EXPECT_TRUE(task->done());
  EXPECT_TRUE(session->closed());
  EXPECT_EQ(Now(), 5.001);
  EXPECT_THAT(Errors(), Contains(testing::HasSubstr("stuck")));
}

TEST_F(SupervisorStopTest, WhoHasStoppedItDropsItInSilence) {
  {
    const auto sv = Make({.logdir = kLogdir});
    Prepare(*sv);
    EXPECT_TRUE(sv->Stop().ok());
    fake_.log.Clear();
  }
  EXPECT_THAT(fake_.log.lines(), testing::IsEmpty());
}

TEST_F(SupervisorStopTest, ADroppedSupervisorStopsItsServices) {
  SessionPtr session;
  {
    const auto sv = Make({.logdir = kLogdir});
    session = Prepare(*sv);
  }
  EXPECT_TRUE(session->closed());
}

TEST_F(SupervisorStopTest, ADroppedSupervisorStopsItsQueueRunners) {
  const ops::Queue queue = ops::FifoQueue(b_, "queue", 2);
  const NodeId enqueue =
      ops::EnqueueMany(b_, "enqueue", queue, b_.Const("some", Tensor::Vector<std::int64_t>({1, 2, 3})));
  const auto runner = QueueRunner::Create(
      env(), {.queue_name = "queue", .enqueue_ops = {enqueue}, .close_op = queue.close, .cancel_op = queue.cancel});
  ASSERT_TRUE(runner.ok()) << runner.status();
  SessionPtr session;
  std::vector<TaskPtr> tasks;
  {
    const auto sv = Make({});  // without a directory there are no services
    session = Prepare(*sv);
    const auto started = sv->StartQueueRunners(session, std::vector<QueueRunnerPtr>{*runner});
    ASSERT_TRUE(started.ok()) << started.status();
    tasks = *started;
  }
  EXPECT_TRUE(session->closed());
  for (const TaskPtr& task : tasks) EXPECT_TRUE(task->done()) << task->name();
}

TEST_F(SupervisorStopTest, WithoutSignalsNoneStopsIt) {
  Env without = env();
  without.signals = nullptr;
  Graph graph(BuiltinOps());
  const absl::Status end = Supervisor::Create(without, graph, {.stop_on_sigterm = true}).status();
  EXPECT_EQ(CodeOf(end), Code::kUsage) << end;
  EXPECT_EQ(MessageOf(end), "stop_on_sigterm needs an Env with signals, such as that of a RealEnv.");
}

TEST_F(SupervisorStopTest, ASignalStopsItAndTheChiefSavesOnceMore) {
  const auto sv = Make({.logdir = kLogdir, .save_summaries_secs = {}, .save_model_secs = {}, .stop_on_sigterm = true});
  int runs = 0;
  const absl::Status end = sv->ManagedSession({}, [&](const SessionPtr& session) -> absl::Status {
    while (!sv->ShouldStop()) {
      VIGIL_RETURN_IF_ERROR(RunTarget(*session, train_.node));
      if (++runs == 3) fake_.signals.Raise();
    }
    return absl::OkStatus();
  });
  EXPECT_EQ(Text(end), "OK");
  EXPECT_EQ(runs, 3);
  EXPECT_TRUE(Exists("model.ckpt-3.index"));
  EXPECT_THAT(fake_.log.lines(), Contains(testing::Field(&fakes::CapturingLog::Line::text,
                                                         StartsWith("Saving a last checkpoint to path "))));
}

// Nobody is there any more who could be told.
TEST_F(SupervisorStopTest, WhatADroppedSupervisorFailsWithIsInTheLog) {
  const auto drop = [this](bool fails) {
    fake_.log.Clear();
    {
      const auto sv = Make({.stop_grace_secs = seconds(5)});
      Prepare(*sv);
      sv->Loop(
          seconds(1), [] { return absl::OkStatus(); }, "mine");
      if (fails) sv->RequestStop(MakeStatus(Code::kInternal, "it broke")).IgnoreError();
    }
    return Errors();
  };
  EXPECT_THAT(drop(true), testing::ElementsAre("The supervisor failed: it broke"));
  EXPECT_THAT(drop(false), testing::IsEmpty());
}

TEST_F(SupervisorStopTest, AWriterThatADroppedSupervisorCannotCloseIsInTheLog) {
  const auto writer = std::make_shared<fakes::ScribeWriter>();
  {
    const auto sv = Make({.logdir = kLogdir, .summary_writer = SummaryWriterPtr(writer)});
    Prepare(*sv);
    writer->failing = "close";
    fake_.log.Clear();
  }
  EXPECT_THAT(Errors(), testing::ElementsAre(StartsWith("The supervisor failed: ")));
}

TEST_F(SupervisorStopTest, AStopEndsTheWaitForAChief) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  const Output never = b.Const("uninitialized", Tensor::Vector<std::string>({"w"}));
  const auto sv =
      Supervisor::Create(env(), graph, {.ready_op = never, .is_chief = false, .stop_on_sigterm = true}).value();
  const auto other = env().tasks->Spawn("other", [&] {
    SleepUntil(100);
    sv->RequestStop().IgnoreError();
  });
  const absl::Status end = sv->ManagedSession({}, [](const SessionPtr&) { return absl::OkStatus(); });
  EXPECT_EQ(CodeOf(end), Code::kCancelled) << end;
  EXPECT_EQ(Now(), 100);
}

TEST_F(SupervisorStopTest, WithoutSignalsTheWaitForAChiefEndsAtTheNextLook) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  const Output never = b.Const("uninitialized", Tensor::Vector<std::string>({"w"}));
  const auto sv = Supervisor::Create(env(), graph, {.ready_op = never, .is_chief = false}).value();
  const auto other = env().tasks->Spawn("other", [&] {
    SleepUntil(100);
    sv->RequestStop().IgnoreError();
  });
  EXPECT_EQ(CodeOf(sv->PrepareOrWaitForSession().status()), Code::kCancelled);
  EXPECT_LE(Now(), 130);
}

}  // namespace
}  // namespace vigil
