// What hurt users of TensorFlow 1 in clusters, as jobs: the symptom shows under its behaviour, and is gone by default.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "vigil/core/base/code.h"
#include "vigil/core/base/event.h"
#include "vigil/sim/cluster/job.h"
#include "vigil/sim/cluster/testing.h"
#include "vigil/sim/world.h"

namespace vigil::sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

JobFacts PlayJob(const JobSpec& spec, const Behaviour& behaviour) {
  const PlayedJob played = PlayJobOf(spec, 1, {.behaviour = behaviour});
  EXPECT_EQ(played.result.verdict, WorldVerdict::kStopped) << played.result.report;
  return played.facts;
}

JobSpec JobOf(std::int64_t last_step, Duration limit = minutes(45)) {
  JobSpec spec;
  spec.workload.last_step = last_step;
  spec.workload.step = std::chrono::milliseconds(200);
  spec.limit = limit;
  return spec;
}

const TaskFacts& Of(const JobFacts& facts, std::string_view task) { return facts.tasks.find(task)->second; }

TEST(Pains, OneAServerThatNeverComesBackEndsTheJobWithAnError) {
  JobSpec spec = JobOf(600);
  spec.plan.timed = {CrashOf("ps:0", seconds(4))};
  const JobFacts theirs = PlayJob(spec, Behaviour::TensorFlow());
  EXPECT_EQ(Of(theirs, "chief:0").outcome, "running");
  EXPECT_EQ(Of(theirs, "worker:0").outcome, "running");
  const JobFacts ours = PlayJob(spec, Behaviour::Default());
  EXPECT_EQ(Of(ours, "chief:0").outcome, "DEADLINE_EXCEEDED");
  EXPECT_EQ(Of(ours, "worker:0").outcome, "DEADLINE_EXCEEDED");
  EXPECT_LT(ours.virtual_time, minutes(40));
}

TEST(Pains, TwoAChiefThatComesBackRollsNobodyBack) {
  JobSpec spec = JobOf(300, minutes(5));
  spec.plan.timed = {CrashOf("chief:0", seconds(6), seconds(8))};
  EXPECT_EQ(Of(PlayJob(spec, Behaviour::TensorFlow()), "worker:0").step_back_silent.size(), 1U);
  const JobFacts ours = PlayJob(spec, Behaviour::Default());
  EXPECT_TRUE(Of(ours, "worker:0").step_back_silent.empty());
  EXPECT_EQ(Of(ours, "worker:0").outcome, "clean");
  EXPECT_EQ(Of(ours, "chief:0").outcome, "clean");
}

// One of three servers comes back empty, and restoring the others takes the chief so long that a worker looks in
// between.
TEST(Pains, TwoWhoFindsTheModelReadySeesNoneOfItRestoredAnyMore) {
  JobSpec spec = JobOf(60, minutes(10));
  spec.tasks = {{"chief", 1}, {"ps", 3}, {"worker", 1}};
  TimedFault slow;
  slow.kind = TimedFault::Kind::kSlowLink;
  slow.task = "chief:0";
  slow.peer = "ps:0";
  slow.one_way = true;
  slow.by = seconds(1);
  slow.lasts = minutes(10);
  spec.plan.timed = {slow, CrashOf("ps:2", seconds(4), std::chrono::milliseconds(500))};
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const PlayedJob played = PlayJobOf(spec, seed, {.behaviour = Behaviour::Default()});
    EXPECT_EQ(Of(played.facts, "worker:0").outcome, "clean") << seed;
    EXPECT_GE(Of(played.facts, "worker:0").sessions, 2) << seed;
    EXPECT_TRUE(Of(played.facts, "worker:0").step_back_silent.empty()) << seed;
  }
}

TEST(Pains, ThreeARestartOfAServerEndsNobody) {
  JobSpec spec = JobOf(200, minutes(5));
  spec.plan.timed = {CrashOf("ps:0", seconds(5), seconds(2))};
  for (const Behaviour& behaviour : {Behaviour::TensorFlow(), Behaviour::Default()}) {
    const JobFacts facts = PlayJob(spec, behaviour);
    EXPECT_EQ(Of(facts, "chief:0").outcome, "clean");
    EXPECT_EQ(Of(facts, "worker:0").outcome, "clean");
    EXPECT_GE(Of(facts, "chief:0").sessions, 2);
  }
}

TEST(Pains, FourASessionThatCannotBeCreatedIsAnErrorInTheEnd) {
  JobSpec spec = JobOf(100);
  spec.no_wait = true;
  spec.workload.filters = false;  // so the chief waits for the worker's server
  TimedFault late;
  late.kind = TimedFault::Kind::kStart;
  late.task = "worker:0";
  late.at = minutes(50);
  spec.plan.timed = {late};
  EXPECT_EQ(Of(PlayJob(spec, Behaviour::TensorFlow()), "chief:0").sessions, 0);
  EXPECT_EQ(Of(PlayJob(spec, Behaviour::Default()), "chief:0").outcome, "DEADLINE_EXCEEDED");
}

TEST(Pains, FiveAWorkerThatCameTooEarlyDoesNotSleepForHalfAMinute) {
  JobSpec spec = JobOf(300, minutes(5));
  spec.no_wait = true;
  TimedFault late;
  late.kind = TimedFault::Kind::kStart;
  late.task = "chief:0";
  late.at = seconds(5);
  spec.plan.timed = {late};
  EXPECT_GT(*Of(PlayJob(spec, Behaviour::TensorFlow()), "worker:0").opened_after, seconds(30));
  EXPECT_LT(*Of(PlayJob(spec, Behaviour::Default()), "worker:0").opened_after, seconds(20));
}

TEST(Pains, SixTheLastStepIsSavedAlsoIfTheChiefLeavesFirst) {
  JobSpec spec = JobOf(200, minutes(5));
  spec.workload.last_steps["chief:0"] = 40;
  const JobFacts theirs = PlayJob(spec, Behaviour::TensorFlow());
  EXPECT_EQ(Of(theirs, "worker:0").outcome, "clean");
  EXPECT_LT(*theirs.newest_checkpoint, 60);
  const JobFacts ours = PlayJob(spec, Behaviour::Default());
  EXPECT_EQ(Of(ours, "worker:0").outcome, "clean");
  EXPECT_EQ(*ours.newest_checkpoint, 200);
}

// The queues are on the task's own server, which lives on, and have shared names; their session closes them when it is
// given up.
TEST(Pains, AnInputPipelineGoesOnAfterARecovery) {
  JobSpec spec = JobOf(200, minutes(10));
  spec.workload.kind = WorkloadKind::kInputPipeline;
  spec.workload.staged_input = true;
  spec.plan.session_calls = {{.task = "chief:0", .at = CallKind::kRun, .call = 10, .code = Code::kAborted}};
  EXPECT_EQ(Of(PlayJob(spec, Behaviour::TensorFlow()), "chief:0").outcome, "CANCELLED");
  const JobFacts ours = PlayJob(spec, Behaviour::Default());
  EXPECT_EQ(Of(ours, "chief:0").outcome, "clean");
  EXPECT_EQ(Of(ours, "chief:0").recoveries, 1);
  EXPECT_EQ(Of(ours, "worker:0").outcome, "clean");
}

// Without a shared name a queue is its session's: the next one has another, under TensorFlow's behaviour, too.
TEST(Pains, AnInputOfASessionsOwnBeginsAnewWithTheNextOne) {
  JobSpec spec = JobOf(200, minutes(10));
  spec.workload.kind = WorkloadKind::kInputPipeline;
  spec.plan.session_calls = {{.task = "chief:0", .at = CallKind::kRun, .call = 10, .code = Code::kAborted}};
  for (const Behaviour& behaviour : {Behaviour::TensorFlow(), Behaviour::Default()}) {
    const JobFacts facts = PlayJob(spec, behaviour);
    EXPECT_EQ(Of(facts, "chief:0").outcome, "clean");
    EXPECT_EQ(Of(facts, "chief:0").recoveries, 1);
    EXPECT_EQ(Of(facts, "worker:0").outcome, "clean");
  }
}

// Now and then a message of the chief gets lost, which is known seconds later. If it was one of its queue runner, the
// replicas use up the tokens meanwhile and wait for more; of the loss only the runner hears.
TEST(Pains, SynchronousTrainingGoesOnWhenOnlyTheQueueRunnerHasFailed) {
  JobSpec spec = JobOf(40, minutes(60));
  spec.workload.kind = WorkloadKind::kSyncRegression;
  spec.plan.links["chief:0>ps:0"].loss = 0.02;
  Behaviour without = Behaviour::Default();
  without.sync_failure_wakes = false;
  const auto stand_still = [&](std::uint64_t seed, const Behaviour& behaviour) {
    const JobFacts facts = PlayJobOf(spec, seed, {.behaviour = behaviour}).facts;
    return std::ranges::any_of(facts.tasks, [](const auto& entry) {
      return entry.second.outcome == "DEADLINE_EXCEEDED" || entry.second.outcome == "running";
    });
  };
  int others = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    EXPECT_FALSE(stand_still(seed, Behaviour::Default())) << seed;
    others += stand_still(seed, without) ? 1 : 0;
  }
  EXPECT_GE(others, 1);
}

// From the last step to the end of the process.
Duration TimeToClose(const PlayedJob& played, std::string_view task) {
  Time last_run;
  Time ended;
  for (const JobMoment& moment : played.history) {
    if (moment.task != task) continue;
    if (moment.kind == JobMoment::Kind::kRunReturned) last_run = moment.at;
    if (moment.kind == JobMoment::Kind::kEnded) ended = moment.at;
  }
  return ended - last_run;
}

TEST(Pains, SevenTheEndOfSynchronousTrainingTakesNoGracePeriod) {
  JobSpec spec = JobOf(60, minutes(5));
  spec.workload.kind = WorkloadKind::kSyncRegression;
  const PlayedJob theirs = PlayJobOf(spec, 1, {.behaviour = Behaviour::TensorFlow()});
  EXPECT_EQ(Of(theirs.facts, "chief:0").outcome, "clean");
  EXPECT_GE(TimeToClose(theirs, "chief:0"), seconds(5));  // the grace period of these jobs
  const PlayedJob ours = PlayJobOf(spec);
  EXPECT_EQ(Of(ours.facts, "chief:0").outcome, "clean");
  EXPECT_LT(TimeToClose(ours, "chief:0"), seconds(2));
}

// The chief's machine loses its power at many moments around a save. Of what was not synced a part survives, now and
// then the name of a checkpoint that is complete by its name alone. (Where nothing of it survives, all is as before the
// save.)
TEST(Pains, TwelveAPowerCutWhileACheckpointIsWrittenStopsNobodyForEver) {
  JobSpec spec = JobOf(120, minutes(10));
  spec.tasks["worker"] = 0;
  const auto end = [&](std::uint64_t i, const Behaviour& behaviour) {
    const Duration at = seconds(9) + std::chrono::milliseconds(250) * static_cast<int>(i % 24);
    spec.plan.timed = {CrashOf("chief:0", at, seconds(3)), CrashOf("ps:0", at, seconds(3))};
    spec.plan.timed[0].disk = DiskLoss::kTorn;
    const PlayedJob played = PlayJobOf(spec, i + 1, {.behaviour = behaviour});
    return Of(played.facts, "chief:0").outcome;
  };
  int theirs = 0;
  for (std::uint64_t i = 0; i < 24; ++i) EXPECT_EQ(end(i, Behaviour::Default()), "clean") << i;
  for (std::uint64_t i = 0; i < 240 && theirs == 0; ++i) theirs += end(i, Behaviour::TensorFlow()) != "clean" ? 1 : 0;
  EXPECT_GE(theirs, 1);
}

TEST(Pains, NineteenRunsThatDoNotTrainDoNotWarnOfAStepThatStandsStill) {
  JobSpec spec = JobOf(60, minutes(5));
  spec.workload.validate_steps = 5;
  const auto warns = [&](const Behaviour& behaviour) {
    const PlayedJob played = PlayJobOf(spec, 1, {.behaviour = behaviour});
    EXPECT_EQ(Of(played.facts, "chief:0").outcome, "clean");
    const auto warnings = played.warnings.find("chief:0");
    return warnings != played.warnings.end() && std::ranges::any_of(warnings->second, [](const std::string& text) {
             return text.find("has not been increased") != std::string::npos;
           });
  };
  EXPECT_TRUE(warns(Behaviour::TensorFlow()));
  EXPECT_FALSE(warns(Behaviour::Default()));
}

}  // namespace
}  // namespace vigil::sim
