// What hurt users of TensorFlow 1 in clusters, as jobs: the symptom shows under its behaviour, and is gone by default.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "vigil/sim/chooser.h"
#include "vigil/sim/cluster/job.h"
#include "vigil/sim/world.h"

namespace vigil::sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

JobFacts PlayJob(const JobSpec& spec, const Behaviour& behaviour, std::uint64_t seed = 1) {
  RandomChooser chooser(seed);
  World world({.chooser = &chooser, .seed = seed, .max_virtual = spec.limit + minutes(5)});
  Job job(world, spec, {.behaviour = behaviour, .seed = seed});
  const WorldResult result = world.Run();
  EXPECT_EQ(result.verdict, WorldVerdict::kStopped) << result.report;
  return job.Facts();
}

JobSpec JobOf(std::int64_t last_step, Duration limit = minutes(45)) {
  JobSpec spec;
  spec.workload.last_step = last_step;
  spec.workload.step = std::chrono::milliseconds(200);
  spec.limit = limit;
  return spec;
}

TimedFault Crash(std::string task, Duration at, std::optional<Duration> back = std::nullopt) {
  TimedFault fault;
  fault.kind = TimedFault::Kind::kCrash;
  fault.at = at;
  fault.task = std::move(task);
  fault.restart_after = back;
  return fault;
}

const TaskFacts& Of(const JobFacts& facts, std::string_view task) { return facts.tasks.find(task)->second; }

TEST(Pains, OneAServerThatNeverComesBackEndsTheJobWithAnError) {
  JobSpec spec = JobOf(600);
  spec.plan.timed = {Crash("ps:0", seconds(4))};
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
  spec.plan.timed = {Crash("chief:0", seconds(6), seconds(8))};
  EXPECT_EQ(Of(PlayJob(spec, Behaviour::TensorFlow()), "worker:0").step_back_silent.size(), 1U);
  const JobFacts ours = PlayJob(spec, Behaviour::Default());
  EXPECT_TRUE(Of(ours, "worker:0").step_back_silent.empty());
  EXPECT_EQ(Of(ours, "worker:0").outcome, "clean");
  EXPECT_EQ(Of(ours, "chief:0").outcome, "clean");
}

TEST(Pains, ThreeARestartOfAServerEndsNobody) {
  JobSpec spec = JobOf(200, minutes(5));
  spec.plan.timed = {Crash("ps:0", seconds(5), seconds(2))};
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

}  // namespace
}  // namespace vigil::sim
