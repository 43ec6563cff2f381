// A job of each workload: how it ends without faults, and how with the plainest of them.
#include "vigil/sim/cluster/job.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "vigil/sim/cluster/testing.h"
#include "vigil/sim/cluster/trainer.h"

namespace vigil::sim {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kClean[] = "chief:0 clean, worker:0 clean, a checkpoint";

std::int64_t CountOf(const JobHistory& history, JobMoment::Kind kind, std::string_view task) {
  return std::ranges::count_if(history, [&](const JobMoment& m) { return m.kind == kind && m.task == task; });
}

class EveryWorkload : public testing::TestWithParam<WorkloadKind> {};
INSTANTIATE_TEST_SUITE_P(Job, EveryWorkload,
                         testing::Values(WorkloadKind::kAsyncRegression, WorkloadKind::kSyncRegression,
                                         WorkloadKind::kInputPipeline, WorkloadKind::kEvaluation,
                                         WorkloadKind::kShortJob, WorkloadKind::kSupervisor,
                                         WorkloadKind::kConversation),
                         [](const auto& one) { return std::string(WorkloadName(one.param)); });

TEST_P(EveryWorkload, EndsCleanlyAndTheSameTwice) {
  const JobSpec spec = SmallJob(GetParam());
  const PlayedJob played = PlayJobOf(spec);
  EXPECT_EQ(played.result.verdict, WorldVerdict::kStopped) << played.result.report;
  for (const auto& [name, task] : played.facts.tasks) {
    EXPECT_EQ(task.outcome, "clean") << name << ": " << task.text;
    EXPECT_EQ(task.recoveries, 0) << name;
    EXPECT_EQ(task.lives, 1) << name;
    // The end of the input is an error of the run that meets it.
    if (GetParam() == WorkloadKind::kInputPipeline) {
      EXPECT_THAT(task.run_failed, ElementsAre(Code::kOutOfRange)) << name;
    } else {
      EXPECT_THAT(task.run_failed, IsEmpty()) << name;
    }
    EXPECT_TRUE(task.opened_after.has_value()) << name;
  }
  EXPECT_EQ(PlayJobOf(spec).hash, played.hash);
  EXPECT_NE(PlayJobOf(spec, 2).hash, played.hash);
}

TEST(Job, ServersTellOfTheSameAttempts) {
  JobSpec spec = SmallJob(WorkloadKind::kAsyncRegression);
  spec.tasks["ps"] = 2;
  std::map<std::string, std::vector<std::int64_t>> attempts;  // by server
  for (const JobMoment& moment : PlayJobOf(spec).history) {
    if (moment.kind == JobMoment::Kind::kApplied) attempts[moment.task].push_back(moment.attempt);
  }
  for (auto& [server, numbers] : attempts) {
    EXPECT_GE(numbers.size(), 40U) << server;
    std::ranges::sort(numbers);
    EXPECT_EQ(std::ranges::adjacent_find(numbers), numbers.end()) << server << " applies one twice";
    EXPECT_GT(numbers.front(), 0) << server;
  }
  EXPECT_EQ(attempts["ps:0"], attempts["ps:1"]);
}

TEST(Job, RunsGiveTheElementsThatTheirQueueGave) {
  std::map<std::string, std::vector<std::int64_t>> taken;
  std::map<std::string, std::vector<std::int64_t>> given;
  for (const JobMoment& moment : PlayJobOf(SmallJob(WorkloadKind::kInputPipeline)).history) {
    if (moment.kind == JobMoment::Kind::kRunReturned) given[moment.task].push_back(moment.element);
    if (moment.kind != JobMoment::Kind::kQueueReturned || moment.queue->what != QueueOp::What::kTake) continue;
    if (moment.code == Code::kOk) taken[moment.task].push_back(moment.queue->elements.front());
  }
  EXPECT_EQ(given, taken);
  std::vector<std::int64_t> numbers(20);
  std::iota(numbers.begin(), numbers.end(), 0);
  EXPECT_EQ(given["chief:0"], numbers);
}

TEST(Job, FactsOfAQuietJob) {
  const PlayedJob played = PlayJobOf(SmallJob(WorkloadKind::kAsyncRegression));
  const TaskFacts& chief = played.facts.tasks.find("chief:0")->second;
  const TaskFacts& worker = played.facts.tasks.find("worker:0")->second;
  EXPECT_EQ(played.facts.tasks.size(), 2U);  // not the parameter server
  EXPECT_GE(chief.runs + worker.runs, 40);
  EXPECT_LE(chief.runs + worker.runs, 41);
  EXPECT_GE(std::max(chief.last_step, worker.last_step), 40);
  EXPECT_EQ(chief.sessions, 1);
  EXPECT_EQ(chief.hook_end, 1);
  EXPECT_EQ(chief.step_kept_recovered, 0);
  ASSERT_TRUE(played.facts.newest_checkpoint.has_value());
  EXPECT_GE(*played.facts.newest_checkpoint, 40);
  ASSERT_TRUE(played.facts.final_loss.has_value());
  EXPECT_LT(*played.facts.final_loss, 0.5);
  EXPECT_GT(played.facts.messages, 80U);
  EXPECT_GT(played.facts.virtual_time, seconds(40));
  // Links that take more or less time are the only trouble there is.
  ASSERT_EQ(played.facts.faults.size(), 1U);
  EXPECT_EQ(played.facts.faults[0].kind, "latency_spread");
}

// The training is one of many steps: what is left is the noise.
TEST(Job, TheFinalLossIsThatOfTheNoise) {
  for (const WorkloadKind kind : {WorkloadKind::kAsyncRegression, WorkloadKind::kSyncRegression}) {
    JobSpec spec = SmallJob(kind);
    spec.workload.last_step = 100;
    const PlayedJob played = PlayJobOf(spec);
    EXPECT_NEAR(played.facts.final_loss.value_or(-1), kJobNoise * kJobNoise / 3, 0.008) << WorkloadName(kind);
  }
}

TEST(Job, TheInputEndsTheTrainingTheLastStepDoesNot) {
  JobSpec spec = SmallJob(WorkloadKind::kInputPipeline);
  spec.workload.last_step = 41;
  const PlayedJob played = PlayJobOf(spec);
  for (const auto& [name, task] : played.facts.tasks) EXPECT_EQ(task.runs, 20) << name;
  EXPECT_EQ(played.facts.final_loss, std::nullopt);
}

// How one request to the master of the parameter server may go wrong; of each, the first two are struck in turn.
TEST(Job, SessionsOfAnotherTasksMasterSurviveWhatBefallsTheirRequests) {
  using Effect = RpcFault::Effect;
  JobSpec spec = SmallJob(WorkloadKind::kAsyncRegression);
  spec.workload.master = "ps:0";
  EXPECT_EQ(EndsOf(PlayJobOf(spec).facts), kClean);
  for (const char* const method : {"CreateSession", "RunStep", "CloseSession"}) {
    for (const Effect effect : {Effect::kError, Effect::kLostRequest, Effect::kLostReply, Effect::kDuplicated,
                                Effect::kDamaged, Effect::kReset}) {
      for (const std::int64_t call : {1, 2}) {
        spec.plan.rpcs.assign(1, {.effect = effect, .method = method, .from = "chief:0", .call = call});
        spec.heal_after = seconds(20);
        const PlayedJob played = PlayJobOf(spec);
        const std::string what = fmt::format("{} {} {}", method, call, static_cast<int>(effect));
        EXPECT_EQ(EndsOf(played.facts), kClean) << what;
        const auto left = std::ranges::find_if(played.history, [](const JobMoment& moment) {
          return moment.kind == JobMoment::Kind::kAtRestSoon && moment.task == "ps:0";
        });
        ASSERT_NE(left, played.history.end()) << what;
        EXPECT_EQ(left->subject, "") << what;
        EXPECT_EQ(left->step, 0) << what;
      }
    }
  }
}

// Who has no server serves nobody, and the cluster knows nothing of him.
TEST(Job, ClientsThatHaveNoServerTrainAtTheMasterOfAnotherTask) {
  for (const WorkloadKind kind : {WorkloadKind::kAsyncRegression, WorkloadKind::kEvaluation, WorkloadKind::kSupervisor,
                                  WorkloadKind::kConversation}) {
    JobSpec spec = SmallJob(kind);
    spec.workload.master = "ps:0";
    spec.workload.clients = true;
    const PlayedJob played = PlayJobOf(spec);
    for (const auto& [name, task] : played.facts.tasks) EXPECT_EQ(task.outcome, "clean") << name;
    EXPECT_EQ(CountOf(played.history, JobMoment::Kind::kServing, "chief:0"), 0);
    EXPECT_EQ(CountOf(played.history, JobMoment::Kind::kServing, "ps:0"), 1);
  }
}

TEST(Job, AClientThatDiesLeavesNothingAtItsMaster) {
  JobSpec spec = SmallJob(WorkloadKind::kAsyncRegression);
  spec.workload.master = "ps:0";
  spec.workload.clients = true;
  spec.plan.timed = {CrashOf("worker:0", seconds(15))};
  spec.heal_after = seconds(20);
  const PlayedJob played = PlayJobOf(spec);
  EXPECT_EQ(EndsOf(played.facts), "chief:0 clean, worker:0 killed, a checkpoint");
  const auto left = std::ranges::find_if(played.history, [](const JobMoment& moment) {
    return moment.kind == JobMoment::Kind::kAtRest && moment.task == "ps:0";
  });
  ASSERT_NE(left, played.history.end());
  EXPECT_EQ(left->subject, "");
  EXPECT_EQ(left->step, 0);
}

TEST(Job, TheDeathOfTheMasterIsRecoveredFrom) {
  JobSpec spec = SmallJob(WorkloadKind::kAsyncRegression);
  spec.tasks["ps"] = 2;
  spec.workload.master = "ps:1";
  spec.plan.timed = {CrashOf("ps:1", seconds(25), seconds(3))};
  const PlayedJob played = PlayJobOf(spec);
  EXPECT_EQ(EndsOf(played.facts), kClean);
  for (const auto& [name, task] : played.facts.tasks) EXPECT_GE(task.recoveries, 1) << name;
}

// Where the chief is, its own server knows, whose master is not that of its session.
TEST(Job, AWorkerOfAnothersMasterSavesTheLastStepOfAChiefThatIsGone) {
  JobSpec spec = SmallJob(WorkloadKind::kAsyncRegression);
  spec.workload.master = "ps:0";
  spec.plan.timed = {CrashOf("chief:0", seconds(15))};
  const PlayedJob played = PlayJobOf(spec);
  EXPECT_EQ(EndsOf(played.facts), "chief:0 killed, worker:0 clean, a checkpoint");
  EXPECT_EQ(played.facts.newest_checkpoint, played.facts.tasks.find("worker:0")->second.last_step);
}

TEST(Job, TheEvaluatorSeesCheckpointsAndTheLastOne) {
  const PlayedJob played = PlayJobOf(SmallJob(WorkloadKind::kEvaluation));
  EXPECT_GE(CountOf(played.history, JobMoment::Kind::kEvaluated, "evaluator:0"), 3);
  EXPECT_GE(played.facts.tasks.find("evaluator:0")->second.last_step, 40);
}

TEST(Job, AnEvaluatorWithoutNewsGivesUp) {
  JobSpec spec = SmallJob(WorkloadKind::kEvaluation);
  // Both: a worker whose chief is gone saves the last step.
  spec.plan.timed = {CrashOf("chief:0", seconds(20), std::nullopt), CrashOf("worker:0", seconds(20), std::nullopt)};
  const PlayedJob played = PlayJobOf(spec);
  EXPECT_EQ(EndsOf(played.facts), "chief:0 killed, evaluator:0 DEADLINE_EXCEEDED, worker:0 killed, a checkpoint");
}

TEST(Job, AParameterServersCrashIsRecoveredFrom) {
  for (const WorkloadKind kind : {WorkloadKind::kAsyncRegression, WorkloadKind::kSyncRegression}) {
    JobSpec spec = SmallJob(kind);
    spec.plan.timed = {CrashOf("ps:0", seconds(25), seconds(3))};
    const PlayedJob played = PlayJobOf(spec);
    EXPECT_EQ(EndsOf(played.facts), kClean) << WorkloadName(kind);
    EXPECT_GE(played.facts.tasks.find("chief:0")->second.recoveries, 1);
    EXPECT_GE(CountOf(played.history, JobMoment::Kind::kRestored, "chief:0"), 1);
    const auto crash = std::ranges::find(played.facts.faults, "crash_restart", &FaultCount::kind);
    ASSERT_NE(crash, played.facts.faults.end());
    EXPECT_EQ(crash->effective, 1);
    EXPECT_EQ(PlayJobOf(spec).hash, played.hash);
  }
}

TEST(Job, AChiefThatReturnsTrainsOn) {
  JobSpec spec = SmallJob(WorkloadKind::kAsyncRegression);
  spec.plan.timed = {CrashOf("chief:0", seconds(15), seconds(5))};
  const PlayedJob played = PlayJobOf(spec);
  EXPECT_EQ(EndsOf(played.facts), kClean);
  const TaskFacts& chief = played.facts.tasks.find("chief:0")->second;
  EXPECT_EQ(chief.lives, 2);
  EXPECT_EQ(chief.sessions, 2);
  EXPECT_EQ(CountOf(played.history, JobMoment::Kind::kStarted, "chief:0"), 2);
}

// Its chief's machine, which is gone, takes the directory with it in which the last worker is about to save.
TEST(Job, TheLastOneSavesAlsoWhereItsDirectoryIsLost) {
  JobSpec spec = SmallJob(WorkloadKind::kShortJob);
  spec.workload.last_step = 0;
  spec.plan.session_calls = {{.task = "chief:0", .at = CallKind::kReadStep, .call = 1, .code = Code::kOutOfRange}};
  for (int n = 9; n <= 40; ++n) {  // from when the model is initialised: nobody else would do it
    TimedFault fault = CrashOf("chief:0", seconds(0));
    fault.disk = DiskLoss::kAll;
    fault.point = {.kind = FaultPoint::Kind::kFileOp, .n = n};
    spec.plan.timed = {fault};
    const PlayedJob played = PlayJobOf(spec);
    const TaskFacts& worker = played.facts.tasks.find("worker:0")->second;
    EXPECT_EQ(worker.outcome, "clean") << n << ": " << worker.text;
  }
}

// A supervisor begins anew after ABORTED only.
// A chief that stands still is followed by another one, and then goes on: what it asks the servers for is refused.
TEST(Job, AZombieIsRefusedByTheServersThatKnowItsSuccessor) {
  JobSpec spec = SmallJob(WorkloadKind::kAsyncRegression);
  spec.heal_after = seconds(70);
  spec.plan.timed = {{.kind = TimedFault::Kind::kZombie,
                      .at = seconds(10),
                      .task = "chief:0",
                      .lasts = seconds(30),
                      .restart_after = seconds(10),
                      .elsewhere = seconds(5)}};
  const PlayedJob played = PlayJobOf(spec);
  EXPECT_EQ(EndsOf(played.facts), kClean);
  const TaskFacts& chief = played.facts.tasks.find("chief:0")->second;
  EXPECT_EQ(chief.lives, 2);
  EXPECT_THAT(chief.nodes, ElementsAre("chief:0", "chief:0~2"));
  const std::string zombie = ZombieOf("chief:0");
  EXPECT_EQ(CountOf(played.history, JobMoment::Kind::kReplaced, zombie), 1);
  EXPECT_GE(CountOf(played.history, JobMoment::Kind::kRecovery, zombie), 2);
  EXPECT_GE(CountOf(played.history, JobMoment::Kind::kRunReturned, "chief:0"), 6);
  EXPECT_EQ(PlayJobOf(spec).hash, played.hash);
}

TimedFault StopOf(std::string task, Duration at) {
  TimedFault stop = CrashOf(std::move(task), at);
  stop.in_order = true;
  return stop;
}

TEST(Job, AWorkerThatIsToldToStopEndsAfterItsRun) {
  JobSpec spec = SmallJob(WorkloadKind::kAsyncRegression);
  spec.heal_after = seconds(70);
  spec.plan.timed = {StopOf("worker:0", seconds(20))};
  const PlayedJob played = PlayJobOf(spec);
  EXPECT_EQ(EndsOf(played.facts), kClean);
  const std::int64_t runs = CountOf(played.history, JobMoment::Kind::kRunReturned, "worker:0");
  EXPECT_GE(runs, 5);
  EXPECT_LE(runs, 15) << "of 40 steps, two seconds apart";
  EXPECT_EQ(CountOf(played.history, JobMoment::Kind::kToldToStop, "worker:0"), 1);
  EXPECT_EQ(CountOf(played.history, JobMoment::Kind::kStarted, "worker:0"), 1);
}

// The model was lost with the server, and the chief, which would restore it, is away for a quarter of an hour.
TEST(Job, AWorkerThatIsToldToStopAsItWaitsForItsChiefWaitsNoLonger) {
  JobSpec spec = SmallJob(WorkloadKind::kAsyncRegression);
  spec.heal_after = std::chrono::minutes(20);
  spec.plan.timed = {CrashOf("chief:0", seconds(10), std::chrono::minutes(15)),
                     CrashOf("ps:0", seconds(10), seconds(1)), StopOf("worker:0", seconds(60))};
  const PlayedJob played = PlayJobOf(spec);
  EXPECT_EQ(EndsOf(played.facts), "chief:0 clean, worker:0 CANCELLED, a checkpoint");
  const auto of = [&](JobMoment::Kind kind) {
    return std::ranges::find_if(
        played.history, [kind](const JobMoment& moment) { return moment.kind == kind && moment.task == "worker:0"; });
  };
  EXPECT_LE(of(JobMoment::Kind::kEnded)->at - of(JobMoment::Kind::kToldToStop)->at, seconds(5));
}

TEST(Job, SessionsBesideTheTrainingLeaveNothingBehind) {
  for (const char* const master : {"", "ps:0"}) {
    JobSpec spec = SmallJob(WorkloadKind::kAsyncRegression);
    spec.workload.last_step = 400;
    spec.workload.master = master;
    spec.workload.visits = seconds(3);
    spec.heal_after = seconds(1);
    const PlayedJob played = PlayJobOf(spec);
    EXPECT_EQ(EndsOf(played.facts), kClean) << master;
    std::int64_t came_back = 0;
    std::int64_t after_it_was_idle = 0;  // the others had given up a run before
    for (const JobMoment& moment : played.history) {
      if (moment.kind == JobMoment::Kind::kCameBack) {
        ++came_back;
        EXPECT_EQ(moment.code, Code::kOk) << master;
        after_it_was_idle += moment.step >= 90 ? 1 : 0;
      }
      if (moment.kind != JobMoment::Kind::kAtRest && moment.kind != JobMoment::Kind::kAtRestSoon) continue;
      EXPECT_EQ(moment.subject, "") << master << moment.task;
      if (moment.task == "ps:0") {
        EXPECT_EQ(moment.step, 0) << master;
      }
    }
    EXPECT_GE(after_it_was_idle, 2) << master;
    EXPECT_GE(came_back - after_it_was_idle, 16) << master;
    EXPECT_EQ(PlayJobOf(spec).hash, played.hash);
  }
}

TEST(Job, WhatATaskHasSyncedOfItsOwnFileIsThereWhenItIsBack) {
  JobSpec spec = SmallJob(WorkloadKind::kAsyncRegression);
  spec.workload.diary = seconds(1);
  TimedFault cut = CrashOf("worker:0", seconds(20), seconds(2));
  cut.disk = DiskLoss::kUnsynced;
  spec.plan.timed = {cut};
  std::int64_t synced = 0;
  std::vector<std::int64_t> found;
  for (const JobMoment& moment : PlayJobOf(spec).history) {
    if (moment.task != "worker:0") continue;
    if (moment.kind == JobMoment::Kind::kDiarySynced && found.size() == 1) synced = moment.step;
    if (moment.kind != JobMoment::Kind::kDiaryFound) continue;
    EXPECT_EQ(moment.code, Code::kOk);
    found.push_back(moment.step);
  }
  EXPECT_GT(synced, 1000);
  EXPECT_THAT(found, ElementsAre(0, synced));
}

// What was seen of the chief's init_fns, and how the job ended.
std::string InitFnsOf(const PlayedJob& played) {
  std::string text;
  for (const JobMoment& moment : played.history) {
    if (moment.task != "chief:0") continue;
    if (moment.kind == JobMoment::Kind::kInitialised) text += "init, ";
    if (moment.kind == JobMoment::Kind::kInitFnBegan) text += "begins, ";
    if (moment.kind == JobMoment::Kind::kInitFnEnded) text += fmt::format("{}, ", CodeName(moment.code));
    if (moment.kind == JobMoment::Kind::kSession) text += "session, ";
  }
  return text + EndsOf(played.facts);
}

TEST(Job, AnInitFnThatIsCutOffIsRunAnew) {
  JobSpec spec = SmallJob(WorkloadKind::kAsyncRegression);
  spec.workload.init_fn = true;
  const std::string whole = fmt::format("init, begins, {}, session, ", CodeName(Code::kOk));
  EXPECT_EQ(InitFnsOf(PlayJobOf(spec)), whole + kClean);
  JobSpec fails = spec;
  fails.plan.session_calls = {{.task = "chief:0", .at = CallKind::kRawRun, .call = 2, .code = Code::kAborted}};
  EXPECT_EQ(InitFnsOf(PlayJobOf(fails)), "init, begins, ABORTED, " + whole + kClean);
  JobSpec dies = spec;
  dies.no_wait = true;
  dies.workload.least_boot = dies.workload.most_boot = std::chrono::milliseconds(100);
  dies.plan.timed = {CrashOf("chief:0", std::chrono::milliseconds(2500), seconds(2))};
  EXPECT_EQ(InitFnsOf(PlayJobOf(dies)), "init, begins, " + whole + kClean);
}

// Wherever the chief dies for good: a worker that has found the model ready saves it, if it is known to be whole.
TEST(Job, NobodySavesWhatIsHalfMade) {
  JobSpec spec = SmallJob(WorkloadKind::kAsyncRegression);
  spec.workload.init_fn = true;
  spec.no_wait = true;
  spec.workload.least_boot = spec.workload.most_boot = std::chrono::milliseconds(100);
  int half_made = 0;
  int whole = 0;
  for (int at = 500; at <= 5000; at += 100) {
    spec.plan.timed = {CrashOf("chief:0", std::chrono::milliseconds(at))};
    const PlayedJob played = PlayJobOf(spec);
    if (EndsOf(played.facts) == kClean) continue;  // it died before there was a model, or not at all
    const std::string init_fns = InitFnsOf(played);
    const std::int64_t saved = CountOf(played.history, JobMoment::Kind::kSavedInPlace, "worker:0");
    if (played.facts.tasks.find("worker:0")->second.outcome != "clean") continue;
    const bool has_session = init_fns.find("session") != std::string::npos;
    const bool has_ended = init_fns.starts_with("init, begins, OK");
    if (has_ended && !has_session) continue;  // the mark that says what is half made may be there or not
    EXPECT_EQ(saved, has_session ? 1 : 0) << at << ": " << init_fns;
    ++(has_session ? whole : half_made);
  }
  EXPECT_GT(half_made, 0);
  EXPECT_GT(whole, 0);
}

TEST(Job, NobodySavesWhatHasDiverged) {
  JobSpec spec = SmallJob(WorkloadKind::kAsyncRegression);
  spec.workload.nan_batch = 5;
  const PlayedJob played = PlayJobOf(spec);
  EXPECT_EQ(EndsOf(played.facts), kClean);
  EXPECT_EQ(CountOf(played.history, JobMoment::Kind::kDiverged, "chief:0"), 1);
  EXPECT_EQ(CountOf(played.history, JobMoment::Kind::kSavedInPlace, "worker:0"), 0);
  EXPECT_GE(played.facts.tasks.find("worker:0")->second.last_step, 39);
  EXPECT_LT(played.facts.tasks.find("chief:0")->second.last_step, 39);
  EXPECT_LT(played.facts.newest_checkpoint.value_or(40), 40);
}

TEST(Job, OpsAndRequestsTakeTheTimeOfTheProcessor) {
  JobSpec spec = SmallJob(WorkloadKind::kAsyncRegression);
  // Of the first runs the client's own costs are the greatest part.
  const auto time_of_a_run = [&spec] {
    Duration all{0};
    int runs = 0;
    Time started;
    for (const JobMoment& moment : PlayJobOf(spec).history) {
      if (moment.task != "worker:0") continue;
      if (moment.kind == JobMoment::Kind::kRunStarted) started = moment.at;
      if (moment.kind != JobMoment::Kind::kRunReturned) continue;
      all += moment.at - started;
      ++runs;
    }
    return all / std::max(runs, 1);
  };
  const Duration at_once = time_of_a_run();
  spec.workload.cpu = std::chrono::milliseconds(5);
  const PlayedJob played = PlayJobOf(spec);
  EXPECT_EQ(EndsOf(played.facts), kClean);
  EXPECT_EQ(PlayJobOf(spec).hash, played.hash);
  const Duration slow = time_of_a_run();
  EXPECT_GT(slow, at_once);
  spec.workload.processors = 1;  // for which all wait who work on the server
  EXPECT_EQ(EndsOf(PlayJobOf(spec).facts), kClean);
  EXPECT_GT(time_of_a_run(), slow);
  spec.workload.processors = 0;
  spec.plan.timed = {
      {.kind = TimedFault::Kind::kSlowNode, .at = seconds(0), .task = "worker:0", .lasts = seconds(60), .rate = 10}};
  EXPECT_GT(time_of_a_run(), slow);
}

TEST(Job, ASupervisorEndsWithTheErrorOfALostServer) {
  JobSpec spec = SmallJob(WorkloadKind::kSupervisor);
  spec.plan.timed = {CrashOf("ps:0", seconds(25), std::nullopt)};
  const PlayedJob played = PlayJobOf(spec);
  EXPECT_EQ(EndsOf(played.facts), "chief:0 UNAVAILABLE, worker:0 UNAVAILABLE, a checkpoint");
}

TEST(Job, WhatStillRunsAtTheLimitIsRunning) {
  JobSpec spec = SmallJob(WorkloadKind::kAsyncRegression);
  spec.limit = seconds(10);
  const PlayedJob played = PlayJobOf(spec);
  EXPECT_EQ(EndsOf(played.facts), "chief:0 running, worker:0 running, a checkpoint");
  EXPECT_LT(played.facts.virtual_time, seconds(60));
}

TEST(Job, WithoutWaitingThePlanBeginsWithTheProcesses) {
  JobSpec spec = SmallJob(WorkloadKind::kAsyncRegression);
  const auto begins = [&spec] {
    const PlayedJob played = PlayJobOf(spec);
    for (const JobMoment& moment : played.history) {
      if (moment.kind == JobMoment::Kind::kBegin) return moment.at.since_epoch;
    }
    return Duration::zero();
  };
  EXPECT_GT(begins(), seconds(1002));  // somebody's boot takes as long
  spec.no_wait = true;
  EXPECT_EQ(begins(), seconds(1000));
}

// From the start of its process to its session. Without a chooser all is calm.
double ChiefOpensAfter(const JobSpec& spec, Chooser* chooser, ChoiceMap& made) {
  World world({.chooser = chooser, .seed = 1, .max_events = 5'000'000});
  Job job(world, spec, {});
  world.Run();
  made = world.ChoicesMade();
  return ToSeconds(job.Facts().tasks.at("chief:0").opened_after.value());
}

TEST(Job, MeasuredTimesAreDrawnInPlaceOfTheOthers) {
  JobSpec spec = SmallJob(WorkloadKind::kAsyncRegression);
  spec.workload.last_step = 3;
  spec.workload.boots = {seconds(1)};
  spec.workload.sessions = {seconds(0), seconds(5)};
  spec.workload.signatures = {seconds(0), seconds(7)};
  ChoiceMap made;
  const double calm = ChiefOpensAfter(spec, nullptr, made);
  EXPECT_FALSE(made.contains("chief:0/main/boot"));  // of one nothing is drawn
  EXPECT_THAT(made.at("chief:0/main/session"), ElementsAre("0ms"));
  EXPECT_GE(made.at("chief:0/main/signature").size(), 3U);
  ReplayChooser drawn({{"chief:0/main/session", {"5000ms"}}, {"chief:0/main/signature", {"0ms", "7000ms"}}});
  EXPECT_NEAR(ChiefOpensAfter(spec, &drawn, made) - calm, 12, 1);
  EXPECT_THAT(drawn.RefusedEntries(), IsEmpty());
  EXPECT_THAT(drawn.UnusedEntries(), IsEmpty());
}

TEST(Job, NothingIsDrawnOfMeasuredTimesWhereThereAreNone) {
  ChoiceMap made;
  ChiefOpensAfter(SmallJob(WorkloadKind::kAsyncRegression), nullptr, made);
  EXPECT_TRUE(made.contains("chief:0/main/boot"));
  EXPECT_FALSE(made.contains("chief:0/main/session"));
  EXPECT_FALSE(made.contains("chief:0/main/signature"));
}

TEST(Job, EverythingHeals) {
  JobSpec spec = SmallJob(WorkloadKind::kAsyncRegression);
  TimedFault cut = CrashOf("worker:0", seconds(5), std::nullopt);
  cut.kind = TimedFault::Kind::kSilent;
  cut.peer = "ps:0";
  spec.plan.timed = {cut};
  spec.heal_after = seconds(40);
  const PlayedJob played = PlayJobOf(spec);
  EXPECT_EQ(EndsOf(played.facts), kClean);
  EXPECT_EQ(CountOf(played.history, JobMoment::Kind::kHealed, ""), 1);
}

// The chief is gone, and all of them save the last step, in the same moment.
TEST(Job, WorkersThatSaveTheLastStepTogetherDoNotGetInEachOthersWay) {
  JobSpec spec = SmallJob(WorkloadKind::kAsyncRegression);
  spec.tasks["worker"] = 3;
  spec.plan.timed = {CrashOf("chief:0", seconds(8))};
  DiskFault& slow = spec.plan.disks.emplace_back();  // so that they meet
  slow.effect = DiskFault::Effect::kSlow;
  slow.call = 0;
  slow.by = std::chrono::milliseconds(300);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const PlayedJob played = PlayJobOf(spec, seed);
    EXPECT_EQ(EndsOf(played.facts), "chief:0 killed, worker:0 clean, worker:1 clean, worker:2 clean, a checkpoint")
        << seed;
    EXPECT_GE(played.facts.newest_checkpoint.value_or(0), 40) << seed;
  }
}

}  // namespace
}  // namespace vigil::sim
