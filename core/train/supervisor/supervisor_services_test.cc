// Ports the rows of supervisor_test.py on the standard services, and what supervisor.py says of each service's loop.
#include "vigil/core/train/supervisor/supervisor_services.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/core/train/supervisor/testing.h"
#include "vigil/fakes/summary/scribe_writer.h"

namespace vigil {
namespace {

using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class ServicesTest : public SupervisorTest {
 protected:
  ServicesTest() { ops::ScalarSummary(b_, "c", "c", b_.Const("c_value", Tensor::Scalar<float>(3))); }
  // Its writer is `writer_`.
  std::unique_ptr<Supervisor> MakeWithScribe(SupervisorOptions options) {
    options.summary_writer = {writer_};
    return Make(std::move(options));
  }
  void Train(Session& session, int steps) {
    for (int i = 0; i < steps; ++i) EXPECT_TRUE(RunTarget(session, train_.node).ok());
  }
  std::vector<std::string> LogLines(std::string_view having) {
    std::vector<std::string> out;
    for (const auto& line : fake_.log.lines()) {
      if (line.text.find(having) != std::string::npos) out.push_back(line.text);
    }
    return out;
  }
  static std::vector<std::string> Names(const std::vector<TaskPtr>& tasks) {
    std::vector<std::string> names;
    for (const TaskPtr& task : tasks) names.push_back(task->name());
    return names;
  }

  const std::shared_ptr<fakes::ScribeWriter> writer_ = std::make_shared<fakes::ScribeWriter>();
};

TEST_F(ServicesTest, StandardServicesWithGlobalStep) {
  const NodeId jump = ops::Assign(b_, "jump", step_, b_.Const("there", Tensor::Scalar<std::int64_t>(123))).node;
  const auto sv = Make({.logdir = kLogdir, .init_fn = [&](Session& session) { return RunTarget(session, jump); }});
  const SessionPtr session = Prepare(*sv);
  SleepUntil(1);  // each service has made its first pass
  EXPECT_TRUE(sv->Stop().ok());
  EXPECT_TRUE(Exists("model.ckpt-123.index"));
  ASSERT_THAT(EventsFiles(), SizeIs(1));
  const std::vector<std::string> events = Events(EventsFiles()[0]);
  // No time has passed at the first pass of the step counter.
  EXPECT_THAT(events,
              UnorderedElementsAre("version", "graph", "meta_graph", "START step=123", "summary step=123 c=3",
                                   "summary step=123 global_step/sec=inf", "CHECKPOINT step=123", "STOP step=0"));
  EXPECT_EQ(events[3], "START step=123");
  EXPECT_EQ(events.back(), "STOP step=0");
}

TEST_F(ServicesTest, StandardServicesWithoutGlobalStep) {
  const auto sv = Make({.logdir = kLogdir, .global_step = std::nullopt});
  const SessionPtr session = Prepare(*sv);
  SleepUntil(1);
  EXPECT_TRUE(sv->Stop().ok());
  EXPECT_TRUE(Exists("model.ckpt.index"));
  EXPECT_THAT(Events(EventsFiles()[0]),
              ElementsAre("version", "graph", "meta_graph", "summary step=0 c=3", "STOP step=0"));
  EXPECT_THAT(LogLines("Recording"), ElementsAre("Recording summary at step None."));
}

TEST_F(ServicesTest, WhichServicesStart) {
  const auto started = [&](SupervisorOptions options) {
    options.logdir = kLogdir;
    const auto sv = MakeWithScribe(std::move(options));
    const SessionPtr session = Prepare(*sv, {.start_standard_services = false});
    const auto services = sv->StartStandardServices(session);
    EXPECT_TRUE(services.ok() && services->has_value());
    EXPECT_TRUE(sv->Stop().ok());
    return Names(**services);
  };
  EXPECT_THAT(started({}), ElementsAre("SVSummaryThread", "SVStepCounterThread", "SVTimerCheckpointThread"));
  EXPECT_THAT(started({.save_model_secs = {}}), ElementsAre("SVSummaryThread", "SVStepCounterThread"));
  EXPECT_THAT(started({.saver = std::nullopt}), ElementsAre("SVSummaryThread", "SVStepCounterThread"));
  EXPECT_THAT(started({.summary_op = std::nullopt}), ElementsAre("SVStepCounterThread", "SVTimerCheckpointThread"));
  EXPECT_THAT(started({.global_step = std::nullopt}), ElementsAre("SVSummaryThread", "SVTimerCheckpointThread"));
  EXPECT_THAT(started({.save_summaries_secs = {}}), ElementsAre("SVTimerCheckpointThread"));
  EXPECT_THAT(started({.saver = std::nullopt, .save_summaries_secs = {}}), IsEmpty());
}

TEST_F(ServicesTest, EachRunsAtItsInterval) {
  const auto sv =
      MakeWithScribe({.logdir = kLogdir, .save_summaries_secs = seconds(10), .save_model_secs = seconds(15)});
  const SessionPtr session = Prepare(*sv);
  fake_.tasks.RunReady();
  Train(*session, 5);
  writer_->lines.clear();
  SleepUntil(11);
  Train(*session, 20);
  SleepUntil(21);
  EXPECT_TRUE(sv->Stop().ok());
  EXPECT_THAT(writer_->lines, ElementsAre("summary step=5 c=3", "summary step=5 global_step/sec=0.5",  // at 10
                                          "session_log CHECKPOINT step=25 /logs/model.ckpt",           // at 15
                                          "summary step=25 c=3", "summary step=25 global_step/sec=2",  // at 20
                                          "session_log STOP", "close"));
  EXPECT_TRUE(Exists("model.ckpt-0.index"));
  EXPECT_TRUE(Exists("model.ckpt-25.index"));
  EXPECT_THAT(LogLines("Saving checkpoint to path /logs/model.ckpt"), SizeIs(2));
}

TEST_F(ServicesTest, AnErrorOfAServiceStopsTheSupervisor) {
  writer_->failing = "summary";
  const auto sv = MakeWithScribe({.logdir = kLogdir, .save_model_secs = {}});
  const absl::Status end = sv->ManagedSession({}, [&](const SessionPtr&) {
    sv->WaitForStop();
    return absl::OkStatus();
  });
  EXPECT_EQ(Text(end), "RESOURCE_EXHAUSTED: the disk is full");
}

TEST_F(ServicesTest, AServiceKeepsItsSession) {
  const auto sv = MakeWithScribe({.logdir = kLogdir, .save_summaries_secs = {}, .save_model_secs = {}});
  const SessionPtr first = Prepare(*sv);
  SVStepCounterThread counter(*sv, first);
  EXPECT_TRUE(counter.StartLoop().ok());
  Prepare(*sv);
  Train(*first, 3);
  EXPECT_TRUE(counter.RunLoop().ok());
  EXPECT_EQ(writer_->lines.back(), "summary step=3 global_step/sec=inf");
  EXPECT_TRUE(first->Close().ok());
  EXPECT_EQ(Text(counter.RunLoop()), "USAGE: Attempted to use a closed Session.");
  EXPECT_TRUE(sv->Stop().ok());
}

TEST_F(ServicesTest, TheStepCounterLogsItsFirstTenPassesOfAProcess) {
  const auto sv = MakeWithScribe({.logdir = kLogdir, .save_summaries_secs = {}, .save_model_secs = {}});
  const SessionPtr session = Prepare(*sv);
  for (const int passes : {7, 7}) {
    SVStepCounterThread counter(*sv, session);
    EXPECT_TRUE(counter.StartLoop().ok());
    for (int i = 0; i < passes; ++i) {
      Train(*session, 3);
      SleepUntil(Now() + 2);
      EXPECT_TRUE(counter.RunLoop().ok());
    }
  }
  EXPECT_THAT(LogLines("global_step/sec"), testing::AllOf(SizeIs(10), testing::Each("global_step/sec: 1.5")));
  EXPECT_TRUE(sv->Stop().ok());
}

TEST_F(ServicesTest, AnotherStepCounter) {
  const ops::Variable mine = Variable("mine", 4);
  const auto sv = MakeWithScribe({.logdir = kLogdir, .save_summaries_secs = {}, .save_model_secs = {}});
  SVStepCounterThread counter(*sv, Prepare(*sv), mine.ref);
  EXPECT_TRUE(counter.StartLoop().ok());
  EXPECT_TRUE(counter.RunLoop().ok());
  EXPECT_EQ(writer_->lines.back(), "summary step=4 mine/sec=inf");
  EXPECT_TRUE(sv->Stop().ok());
}

TEST_F(ServicesTest, WithoutAWriterOnlyTheCheckpointIsLeft) {
  const auto sv = Make({.logdir = kLogdir, .summary_writer = std::nullopt});
  const SessionPtr session = Prepare(*sv, {.start_standard_services = false});
  const auto services = sv->StartStandardServices(session);
  ASSERT_TRUE(services.ok());
  EXPECT_THAT(Names(**services), ElementsAre("SVTimerCheckpointThread"));
  EXPECT_TRUE(SVSummaryThread(*sv, session).RunLoop().ok());  // runs the op all the same
  EXPECT_TRUE(sv->Stop().ok());
}

TEST_F(ServicesTest, AServiceWithoutItsPieceSaysSo) {
  const auto sv = MakeWithScribe({.summary_op = std::nullopt, .saver = std::nullopt, .global_step = std::nullopt});
  const SessionPtr session = Prepare(*sv);
  EXPECT_EQ(Text(SVSummaryThread(*sv, session).RunLoop()), "USAGE: The supervisor has no summary_op to run.");
  EXPECT_EQ(Text(SVStepCounterThread::Create(*sv, session).status()),
            "USAGE: The supervisor has no global step to count.");
  EXPECT_EQ(Text(SVStepCounterThread(*sv, session).StartLoop()), "USAGE: The supervisor has no global step to read.");
  EXPECT_THAT(Text(SVTimerCheckpointThread(*sv, session).RunLoop()), HasSubstr("has no saver"));
  EXPECT_THAT(LogLines("Saving"), ElementsAre("Saving checkpoint to path None"));  // said before it is found out
  EXPECT_THAT(Text(SVSummaryThread(*sv, nullptr).RunLoop()), HasSubstr("There is no session"));
}

TEST_F(ServicesTest, LoopRunsBesideThem) {
  const auto sv = MakeWithScribe({});
  std::vector<double> calls;
  const absl::Status end = sv->ManagedSession({}, [&](const SessionPtr&) {
    sv->Loop(seconds(60), [&] {
      calls.push_back(Now());
      return absl::OkStatus();
    });
    SleepUntil(150);
    return absl::OkStatus();
  });
  EXPECT_TRUE(end.ok()) << end;
  EXPECT_THAT(calls, ElementsAre(0, 60, 120));
  EXPECT_EQ(Now(), 150);  // the stop did not have to wait for it
}

TEST_F(ServicesTest, TheGraphGoesToTheWriterOnceUntilItIsClosed) {
  const auto sv = MakeWithScribe({.logdir = kLogdir, .save_summaries_secs = {}, .save_model_secs = {}});
  Prepare(*sv);
  EXPECT_TRUE(sv->Stop({.close_summary_writer = false}).ok());
  writer_->lines.clear();
  Prepare(*sv);
  EXPECT_THAT(writer_->lines, ElementsAre("reopen", "session_log START step=0"));
  EXPECT_TRUE(sv->Stop().ok());
  writer_->lines.clear();
  Prepare(*sv);
  EXPECT_THAT(writer_->lines, ElementsAre("reopen", "graph", "meta_graph", "session_log START step=0"));
  EXPECT_TRUE(sv->Stop().ok());
}

}  // namespace
}  // namespace vigil
