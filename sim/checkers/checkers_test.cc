// Each checker, on small histories written by hand: silent on a good one, loud on a bad one, for the reason it names.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/checker_cases.h"
#include "vigil/sim/cluster/process_tasks.h"

namespace vigil::sim {
namespace {

using Kind = JobMoment::Kind;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Line {
  int second;
  std::string task;
  Kind kind;
  std::int64_t step = 0;
  float count = 0;  // less: no ledger
  Code code = Code::kOk;
};

struct Story {
  JobSpec spec;
  JobFacts facts;
  std::vector<Line> lines;
  Behaviour behaviour = Behaviour::Default();
  std::optional<JobFacts> quiet = std::nullopt;

  JobJudgement Judge() const {
    JobHistory history;
    for (const Line& line : lines) {
      JobMoment moment{.at = Time{std::chrono::seconds(line.second)}, .task = line.task, .life = 1, .kind = line.kind};
      moment.code = line.code;
      moment.step = line.step;
      if (line.kind == Kind::kRunReturned) moment.ledger = {line.count};
      if (line.kind == Kind::kAssigned) moment.subject = "worker:0";
      history.push_back(std::move(moment));
    }
    return CheckJob({.spec = spec,
                     .history = history,
                     .facts = facts,
                     .behaviour = behaviour,
                     .quiet = quiet.has_value() ? &*quiet : nullptr});
  }
  std::vector<std::string> Rules() const {
    std::vector<std::string> rules;
    for (const JobViolation& violation : Judge().violations) rules.push_back(violation.rule);
    return rules;
  }
};

std::vector<std::string> BrokenBy(const JobEvidence& evidence) {
  std::vector<std::string> rules;
  for (const JobViolation& violation : evidence.Judge().violations) rules.push_back(violation.rule);
  return rules;
}

TEST(FindingsTest, TellTheTimeSinceTheWorldBegan) {
  Findings findings(Time{std::chrono::seconds(1000)});
  JobMoment moment{.at = Time{std::chrono::milliseconds(1002500)}, .task = "chief:0", .life = 1};
  findings.Violate(moment, "this", "that");
  EXPECT_EQ(findings.violations().front().text, "chief:0 (life 1) at 2.500 s: expected this, seen that");
}

TEST(Checkers, AViolationSaysWhereAndWhenAsItsTextDoes) {
  for (const CheckerCase& c : CheckerCases()) {
    for (const JobViolation& violation : c.breaks.Judge().violations) {
      EXPECT_THAT(violation.text, StartsWith(violation.task)) << c.forged;
      EXPECT_EQ(violation.at.has_value(), violation.text.find(" (life ") != std::string::npos) << violation.text;
      if (!violation.at.has_value()) continue;
      EXPECT_THAT(violation.text, HasSubstr(fmt::format(" at {:.3f} s: ", ToSeconds(violation.at->since_epoch))));
    }
  }
}

TEST(Checkers, EachFindsWhatIsForgedForItAndNothingBefore) {
  std::vector<std::string_view> tested;
  for (const CheckerCase& c : CheckerCases()) {
    tested.push_back(c.checker);
    EXPECT_THAT(BrokenBy(c.keeps), Not(Contains(std::string(c.checker)))) << c.forged;
    EXPECT_THAT(BrokenBy(c.breaks), Contains(std::string(c.checker))) << c.forged;
  }
  for (const Checker& checker : Checkers()) EXPECT_THAT(tested, Contains(checker.id));
}

constexpr char kChief[] = "chief:0";
constexpr char kWorker[] = "worker:0";

// Of processes it is not known in which order they used a queue; all else holds of them, too.
TEST(Checkers, OfProcessesOnlyTheOrderOfQueuesIsNotJudged) {
  for (const CheckerCase& each : CheckerCases()) {
    const JobEvidence& forged = each.breaks;
    const JobJudgement judged = CheckJob({.spec = forged.spec,
                                          .history = forged.history,
                                          .facts = forged.facts,
                                          .behaviour = Behaviour::Default(),
                                          .quiet = forged.quiet.has_value() ? &*forged.quiet : nullptr,
                                          .real = true});
    const bool found = std::ranges::any_of(
        judged.violations, [&](const JobViolation& violation) { return violation.rule == each.checker; });
    EXPECT_EQ(found, each.checker != kQueuesInOrderOnce.id) << each.checker << ": " << each.forged;
  }
}

TEST(Checkers, UpdatesAreAppliedExactlyOnce) {
  const auto runs = [](float first, float second, Line between) {
    return Story{.lines = {{1, kWorker, Kind::kStarted},
                           {2, kWorker, Kind::kRunStarted},
                           {3, kWorker, Kind::kRunReturned, 1, first},
                           between,
                           {6, kWorker, Kind::kRunStarted},
                           {7, kWorker, Kind::kRunReturned, 2, second}}};
  };
  const Line nothing{4, kChief, Kind::kOpened};
  const Line failed{4, kWorker, Kind::kAttempt, 0, 0, Code::kUnavailable};
  const Line restored{4, kChief, Kind::kRestored};
  const Line overwritten{4, "ps:0", Kind::kAssigned};
  EXPECT_THAT(runs(5, 6, nothing).Rules(), Not(Contains("updates.exactly_once")));
  EXPECT_THAT(runs(5, 5, nothing).Rules(), Contains("updates.exactly_once"));
  EXPECT_THAT(runs(5, 7, nothing).Rules(), Contains("updates.exactly_once"));
  EXPECT_THAT(runs(5, 7, failed).Rules(), Not(Contains("updates.exactly_once")));
  EXPECT_THAT(runs(5, 8, failed).Rules(), Contains("updates.exactly_once"));
  EXPECT_THAT(runs(5, 2, nothing).Rules(), Contains("updates.exactly_once"));
  EXPECT_THAT(runs(5, 2, restored).Rules(), Contains("updates.exactly_once")) << "the server kept what it had";
  EXPECT_THAT(runs(5, 2, overwritten).Rules(), Not(Contains("updates.exactly_once")));
  EXPECT_EQ(runs(5, 6, nothing).Judge().armed["updates.exactly_once"], 1);
}

// A restore in two parts comes first to what is still there; the other part is of a server that has started again.
TEST(Checkers, WhatAServerHadInAnEarlierLifeIsNotWhatARestoreBrings) {
  const std::string rule = "restore.brings_what_was_saved";
  const std::vector<CheckerCase> cases = CheckerCases();
  const auto forged = std::ranges::find(cases, rule, &CheckerCase::checker);
  ASSERT_NE(forged, cases.end());
  JobEvidence evidence = forged->breaks;
  EXPECT_THAT(BrokenBy(evidence), Contains(rule));
  const auto assigned = std::ranges::find(evidence.history, Kind::kAssigned, &JobMoment::kind);
  ASSERT_NE(assigned, evidence.history.end());
  JobMoment started{.at = assigned->at, .task = assigned->task, .life = 2, .kind = Kind::kStarted};
  const auto after = evidence.history.insert(assigned + 1, started);
  EXPECT_THAT(BrokenBy(evidence), Not(Contains(rule)));
  after->task = "ps:1";
  EXPECT_THAT(BrokenBy(evidence), Contains(rule));
}

TEST(Checkers, TheStepGoesBackOnlyWithANewSession) {
  Story story{
      .lines = {{1, kWorker, Kind::kSession}, {2, kWorker, Kind::kSawStep, 9}, {3, kWorker, Kind::kSawStep, 8}}};
  EXPECT_THAT(story.Rules(), Contains("step.goes_back_only_with_a_recovery"));
  story.lines.insert(story.lines.begin() + 2, {2, kWorker, Kind::kSession});
  EXPECT_THAT(story.Rules(), Not(Contains("step.goes_back_only_with_a_recovery")));
}

TEST(Checkers, ARestoreMayOvertakeTheLastRunOfASession) {
  Story story{.lines = {{1, kWorker, Kind::kSession},
                        {2, kWorker, Kind::kSawStep, 9},
                        {3, kWorker, Kind::kRunStarted},
                        {4, kChief, Kind::kRestored},
                        {5, kWorker, Kind::kSawStep, 8}}};
  EXPECT_THAT(story.Rules(), Not(Contains("step.goes_back_only_with_a_recovery")));
  story.lines.push_back({6, kWorker, Kind::kSawStep, 9});
  EXPECT_THAT(story.Rules(), Contains("step.goes_back_only_with_a_recovery"));
  story.lines.insert(story.lines.end() - 1, {6, kWorker, Kind::kSession});
  EXPECT_THAT(story.Rules(), Not(Contains("step.goes_back_only_with_a_recovery")));
  story.lines[3].second = 2;
  EXPECT_THAT(story.Rules(), Contains("step.goes_back_only_with_a_recovery"));
}

TEST(Checkers, TensorFlowPromisesNoSuchThing) {
  const Story story{.lines = {{2, kWorker, Kind::kSawStep, 9}, {3, kWorker, Kind::kSawStep, 8}},
                    .behaviour = Behaviour::TensorFlow()};
  EXPECT_THAT(story.Rules(), Not(Contains("step.goes_back_only_with_a_recovery")));
}

TEST(Checkers, AReportedCheckpointIsThereAtTheEnd) {
  Story story{.lines = {{1, kChief, Kind::kSaved, 20}}};
  EXPECT_THAT(story.Rules(), Contains("checkpoint.reported_survives"));
  story.facts.newest_checkpoint = 19;
  EXPECT_THAT(story.Rules(), Contains("checkpoint.reported_survives"));
  story.facts.newest_checkpoint = 20;
  EXPECT_THAT(story.Rules(), Not(Contains("checkpoint.reported_survives")));
}

TEST(Checkers, ACleanEndLeavesACheckpointOfTheLastStep) {
  Story story{.lines = {{1, kChief, Kind::kRunReturned, 40, 1}, {2, kChief, Kind::kEnded}}};
  story.facts.newest_checkpoint = 39;
  EXPECT_THAT(story.Rules(), Contains("checkpoint.final_step"));
  story.facts.newest_checkpoint = 40;
  EXPECT_THAT(story.Rules(), Not(Contains("checkpoint.final_step")));
  story.facts.newest_checkpoint = 39;
  story.lines.back().code = Code::kInternal;
  EXPECT_THAT(story.Rules(), Not(Contains("checkpoint.final_step")));
}

TEST(Checkers, EveryTaskEndsOnceEverythingHasHealed) {
  Story story;
  story.facts.tasks[kWorker] = {.outcome = "running", .lives = 1};
  EXPECT_THAT(story.Rules(), Not(Contains("job.every_task_ends")));
  story.spec.heal_after = std::chrono::seconds(60);
  EXPECT_THAT(story.Rules(), Contains("job.every_task_ends"));
  story.facts.tasks[kWorker].outcome = "killed";
  EXPECT_THAT(story.Rules(), Not(Contains("job.every_task_ends")));
}

TEST(Checkers, RecoveriesHavePauses) {
  Story story;
  for (int i = 0; i < 21; ++i) story.lines.push_back({i, kWorker, Kind::kRecovery});
  EXPECT_THAT(story.Rules(), Contains("recovery.bounded"));
  for (int i = 0; i < 21; ++i) story.lines[static_cast<std::size_t>(i)].second = 10 * i;
  EXPECT_THAT(story.Rules(), Not(Contains("recovery.bounded")));
}

TEST(Checkers, NothingIsLeftRunning) {
  Story story{.lines = {{1, kChief, Kind::kEnded}}};
  EXPECT_THAT(story.Rules(), Not(Contains("job.no_task_left")));
  story.lines.insert(story.lines.begin(), {1, kChief, Kind::kTaskLeft});
  EXPECT_THAT(story.Rules(), Contains("job.no_task_left"));
  story.lines.back().code = Code::kUnavailable;
  EXPECT_THAT(story.Rules(), Not(Contains("job.no_task_left")));
}

TEST(Checkers, AReportedCheckpointIsThereWhenATaskStarts) {
  Story story{.lines = {{1, kChief, Kind::kSaved, 20}, {2, kChief, Kind::kStarted}, {2, kChief, Kind::kFound, 20}}};
  story.facts.newest_checkpoint = 30;
  EXPECT_THAT(story.Rules(), Not(Contains("checkpoint.reported_survives")));
  story.lines.back().step = 10;
  EXPECT_THAT(story.Rules(), Contains("checkpoint.reported_survives"));
}

TEST(Checkers, WhatIsReportedIsWholeAndLogged) {
  Story story{.lines = {{1, kChief, Kind::kLogged, 20}, {2, kChief, Kind::kSaved, 20}}};
  story.facts.newest_checkpoint = 20;
  EXPECT_THAT(story.Rules(), Not(Contains("checkpoint.complete_when_reported")));
  EXPECT_THAT(story.Rules(), Not(Contains("checkpoint.logged")));
  story.lines.back().code = Code::kDataLoss;
  EXPECT_THAT(story.Rules(), Contains("checkpoint.complete_when_reported"));
  story.lines.front().step = 19;
  EXPECT_THAT(story.Rules(), Contains("checkpoint.logged"));
  story.lines.front() = {1, kWorker, Kind::kLogged, 20};
  EXPECT_THAT(story.Rules(), Contains("checkpoint.logged"));
}

TEST(Checkers, AnUndisturbedChiefKeepsFive) {
  Story story;
  for (int i = 1; i <= 7; ++i) story.lines.push_back({i, kChief, Kind::kSaved, 10 * i});
  story.facts.tasks[kChief] = {.outcome = "clean", .lives = 1};
  story.facts.checkpoints = {30, 40, 50, 60, 70};
  EXPECT_THAT(story.Rules(), Not(Contains("checkpoint.keep_limit")));
  EXPECT_EQ(story.Judge().armed["checkpoint.keep_limit"], 1);
  story.facts.checkpoints.insert(story.facts.checkpoints.begin(), 20);
  EXPECT_THAT(story.Rules(), Contains("checkpoint.keep_limit"));
  story.facts.tasks[kChief].recoveries = 1;
  EXPECT_THAT(story.Rules(), Not(Contains("checkpoint.keep_limit")));
}

TEST(Checkers, AChiefThatWasDisturbedLeavesNoMoreThanWasCutOff) {
  Story story;
  for (int i = 1; i <= 9; ++i) story.lines.push_back({i, kChief, Kind::kSaved, 10 * i});
  story.lines.insert(story.lines.begin() + 5, {5, kChief, Kind::kStarted});
  story.facts.tasks[kChief] = {.outcome = "clean", .lives = 2};
  story.facts.checkpoints = {30, 40, 50, 60, 70, 80, 90};
  EXPECT_THAT(story.Rules(), Not(Contains("checkpoint.keep_limit")));
  EXPECT_EQ(story.Judge().armed["checkpoint.keep_limit"], 1);
  story.facts.checkpoints.insert(story.facts.checkpoints.begin(), 20);
  EXPECT_THAT(story.Rules(), Contains("checkpoint.keep_limit"));
  story.lines[6].task = ZombieOf(kChief);  // each lists over what the other one has listed
  EXPECT_THAT(story.Rules(), Not(Contains("checkpoint.keep_limit")));
  story.facts.checkpoints.insert(story.facts.checkpoints.begin(), 10);
  EXPECT_THAT(story.Rules(), Contains("checkpoint.keep_limit"));
  story.lines.push_back({10, kChief, Kind::kStarted});  // which has saved nothing, so it has deleted nothing
  EXPECT_THAT(story.Rules(), Not(Contains("checkpoint.keep_limit")));
}

TEST(Checkers, AnUndisturbedChiefKeepsNoFewerThanItShould) {
  Story story;
  for (int i = 1; i <= 7; ++i) story.lines.push_back({i, kChief, Kind::kSaved, 10 * i});
  story.facts.tasks[kChief] = {.outcome = "clean", .lives = 1};
  story.facts.checkpoints = {40, 50, 60, 70};
  EXPECT_THAT(story.Rules(), Contains("checkpoint.keep_limit"));
  story.lines.resize(3);
  story.facts.checkpoints = {10, 20, 30};
  EXPECT_THAT(story.Rules(), Not(Contains("checkpoint.keep_limit")));
  story.facts.checkpoints = {20, 30};
  EXPECT_THAT(story.Rules(), Contains("checkpoint.keep_limit"));
}

TEST(Checkers, AChiefGoesOnFromTheNewestReportedCheckpoint) {
  Story story{.lines = {{1, kChief, Kind::kSaved, 20},
                        {2, kChief, Kind::kSaved, 40},
                        {3, kChief, Kind::kStarted},
                        {4, kChief, Kind::kRestored, 40}}};
  EXPECT_THAT(story.Rules(), Not(Contains("restore.newest_reported")));
  EXPECT_EQ(story.Judge().armed["restore.newest_reported"], 1);
  story.lines.back().step = 60;  // it was complete when its process was killed
  EXPECT_THAT(story.Rules(), Not(Contains("restore.newest_reported")));
  story.lines.back().step = 20;
  EXPECT_THAT(story.Rules(), Contains("restore.newest_reported"));
  story.spec.plan.disks.emplace_back();
  EXPECT_THAT(story.Rules(), Contains("restore.newest_reported"));
  story.facts.rotten = {40};
  EXPECT_THAT(story.Rules(), Not(Contains("restore.newest_reported")));
  story.facts.rotten = {60};
  story.facts.state_file_rotten = true;
  EXPECT_THAT(story.Rules(), Contains("restore.newest_reported")) << "the directory says which is the newest";
  story.facts.rotten_state_file_names = {20};
  EXPECT_THAT(story.Rules(), Not(Contains("restore.newest_reported")));
}

TEST(Checkers, NothingFailsWithoutAFault) {
  Story story;
  story.facts.tasks[kChief] = {.outcome = "clean", .lives = 1};
  EXPECT_THAT(story.Rules(), Not(Contains("job.nothing_fails_without_a_fault")));
  EXPECT_EQ(story.Judge().armed["job.nothing_fails_without_a_fault"], 1);
  Story failed = story;
  failed.facts.tasks[kChief].run_failed = {Code::kAborted};
  EXPECT_THAT(failed.Rules(), Contains("job.nothing_fails_without_a_fault"));
  failed = story;
  failed.facts.tasks[kChief].create_failed = {Code::kUnavailable};
  EXPECT_THAT(failed.Rules(), Contains("job.nothing_fails_without_a_fault"));
  failed = story;
  failed.facts.tasks[kChief].recoveries = 1;
  EXPECT_THAT(failed.Rules(), Contains("job.nothing_fails_without_a_fault"));
  failed.facts.faults = {{"crash", 1, 1, 0}};
  EXPECT_THAT(failed.Rules(), Contains("job.nothing_fails_without_a_fault")) << "it changed nothing";
  failed.facts.faults = {{"crash", 1, 1, 1}};
  EXPECT_THAT(failed.Rules(), Not(Contains("job.nothing_fails_without_a_fault")));
  failed.quiet = story.facts;
  failed.quiet->tasks[kChief].outcome = "running";
  EXPECT_THAT(failed.Rules(), Contains("job.nothing_fails_without_a_fault"));
}

TEST(Checkers, WhatBelongsToTheProcessIsKnownByItsWholeName) {
  for (const char* const name : {"main", "serve", "serve#2", "serve#17", "event_writer"})
    EXPECT_TRUE(IsProcessTask(name)) << name;
  for (const char* const name :
       {"cancel step", "close session", "serve us", "server", "serve#", "serve#x", "main2", ""})
    EXPECT_FALSE(IsProcessTask(name)) << name;
}

TEST(Checkers, AStopIsKeptWhateverTheRunWentThrough) {
  Story story{.lines = {{1, kWorker, Kind::kRunStarted},
                        {2, kWorker, Kind::kRecovery, 0, 0, Code::kAborted},
                        {3, kWorker, Kind::kStopAsked},
                        {4, kWorker, Kind::kRunReturned, 9, -1}}};
  EXPECT_THAT(story.Rules(), Not(Contains("stop.no_run_after_it_in_a_job")));
  EXPECT_EQ(story.Judge().armed["stop.no_run_after_it_in_a_job"], 1);
  story.lines.push_back({5, kWorker, Kind::kRunStarted});
  EXPECT_THAT(story.Rules(), Contains("stop.no_run_after_it_in_a_job"));
  story.lines.insert(story.lines.end() - 1, {5, kWorker, Kind::kStarted});
  EXPECT_THAT(story.Rules(), Not(Contains("stop.no_run_after_it_in_a_job")));
}

TEST(Checkers, NoFaultBringsAboutAMistake) {
  Story story{.lines = {{1, kWorker, Kind::kEnded, 0, 0, Code::kUnavailable}}};
  story.spec.workload.kind = WorkloadKind::kSupervisor;
  story.spec.plan.timed = {
      {.kind = TimedFault::Kind::kCrash, .task = "ps:0", .restart_after = std::chrono::seconds(1)}};
  story.facts.faults = {{"crash_restart", 1, 1, 1}};
  EXPECT_THAT(story.Rules(), Not(Contains("job.errors_have_a_cause")));
  story.lines.back().code = Code::kInvalidArgument;
  EXPECT_THAT(story.Rules(), Contains("job.errors_have_a_cause"));
}

// A worker of a supervisor that ends with UNAVAILABLE 100 s after its start; what is struck at 1 s.
Story Struck(TimedFault fault, std::string_view kind) {
  Story story{.lines = {{1, kWorker, Kind::kStarted}, {100, kWorker, Kind::kEnded, 0, 0, Code::kUnavailable}}};
  story.spec.workload.kind = WorkloadKind::kSupervisor;
  story.spec.plan.timed = {std::move(fault)};
  story.facts.faults = {{std::string(kind), 1, 1, 1}};
  return story;
}

TEST(Checkers, AFaultExplainsWhatItCouldReach) {
  const auto explained = [](const Story& story) {
    const std::vector<std::string> rules = story.Rules();
    return std::ranges::find(rules, "job.errors_have_a_cause") == rules.end();
  };
  using Fault = TimedFault::Kind;
  EXPECT_TRUE(explained(Struck({.kind = Fault::kPause, .task = "ps:0"}, "pause")));
  EXPECT_TRUE(explained(Struck({.kind = Fault::kPause, .task = kWorker}, "pause")));
  EXPECT_FALSE(explained(Struck({.kind = Fault::kPause, .task = "worker:1"}, "pause"))) << "another's";
  EXPECT_TRUE(explained(Struck({.kind = Fault::kCut, .task = kWorker, .peer = "ps:0"}, "cut")));
  EXPECT_FALSE(explained(Struck({.kind = Fault::kCut, .task = kChief, .peer = "ps:0"}, "cut")));
  EXPECT_FALSE(explained(Struck({.kind = Fault::kClockJump, .task = kWorker}, "clock_jump"))) << "breaks nothing";
  Story all = Struck({.kind = Fault::kPause, .task = "worker:1"}, "pause");
  all.spec.workload.filters = false;
  EXPECT_TRUE(explained(all)) << "the session needs every task";
  Story never = Struck({.kind = Fault::kPause, .task = "ps:0"}, "pause");
  never.facts.inert = {{InertFault::List::kTimed, 0, false}};
  EXPECT_FALSE(explained(never)) << "it has not happened";
  never.facts.inert.clear();
  never.facts.faults[0].fired = 0;
  EXPECT_FALSE(explained(never));
}

TEST(Checkers, WhoCameBackIsNotGone) {
  Story story = Struck({.kind = TimedFault::Kind::kPause, .task = "ps:0"}, "pause");
  story.spec.workload.filters = false;
  story.lines.back().code = Code::kDeadlineExceeded;
  story.lines.insert(story.lines.begin() + 1, {2, "ps:0", Kind::kEnded});
  EXPECT_THAT(story.Rules(), Not(Contains("job.errors_have_a_cause")));
  story.lines.insert(story.lines.begin() + 2, {3, "ps:0", Kind::kStarted});
  EXPECT_THAT(story.Rules(), Contains("job.errors_have_a_cause"));
}

TEST(Checkers, AFaultExplainsNothingForEver) {
  Story story = Struck({.kind = TimedFault::Kind::kPause, .task = "ps:0"}, "pause");
  story.lines.insert(story.lines.begin() + 1, {2, "", Kind::kHealed});
  EXPECT_THAT(story.Rules(), Not(Contains("job.errors_have_a_cause")));
  story.lines.back().second = 2 + 180;
  EXPECT_THAT(story.Rules(), Contains("job.errors_have_a_cause"));
}

TEST(Checkers, WhoClosesWithoutAnErrorMeetsThatOfALostServer) {
  Story story = Struck({.kind = TimedFault::Kind::kPause, .task = "ps:0"}, "pause");
  story.spec.workload.kind = WorkloadKind::kAsyncRegression;
  EXPECT_THAT(story.Rules(), Contains("job.errors_have_a_cause")) << "it could have begun anew";
  story.lines.insert(story.lines.begin() + 1, {2, kWorker, Kind::kLeaves});
  EXPECT_THAT(story.Rules(), Not(Contains("job.errors_have_a_cause")));
  story.lines.insert(story.lines.begin() + 2, {3, kWorker, Kind::kStarted});
  EXPECT_THAT(story.Rules(), Contains("job.errors_have_a_cause")) << "that was an earlier life";
}

TEST(Checkers, AnEvaluatorWaitsInVainForAChiefWithoutASession) {
  Story story{.lines = {{1, "evaluator:0", Kind::kStarted},
                        {2, kWorker, Kind::kEnded, 0, 0, Code::kOutOfRange},
                        {2000, "evaluator:0", Kind::kEnded, 0, 0, Code::kDeadlineExceeded}}};
  story.spec.plan.session_calls = {{.task = kWorker}};
  story.facts.faults = {{"session_call_before", 1, 1, 1}};
  EXPECT_THAT(story.Rules(), Contains("job.errors_have_a_cause")) << "the chief trains without the worker";
  story.spec.workload.filters = false;
  story.lines.erase(story.lines.begin() + 1);
  EXPECT_THAT(story.Rules(), Contains("job.errors_have_a_cause")) << "nobody is gone";
  story.lines.insert(story.lines.begin() + 1, {2, kWorker, Kind::kEnded, 0, 0, Code::kOutOfRange});
  EXPECT_THAT(story.Rules(), Not(Contains("job.errors_have_a_cause")));
}

TEST(Checkers, ASupervisorsStopNamesWhatStillRuns) {
  Story story = Struck({.kind = TimedFault::Kind::kPause, .task = "ps:0"}, "pause");
  story.lines.back().code = Code::kUsage;
  EXPECT_THAT(story.Rules(), Not(Contains("job.errors_have_a_cause")));
  Story another = story;
  another.facts.faults[0].fired = 0;
  EXPECT_THAT(another.Rules(), Contains("job.errors_have_a_cause")) << "nothing has hung";
  story.spec.workload.kind = WorkloadKind::kAsyncRegression;
  EXPECT_THAT(story.Rules(), Contains("job.errors_have_a_cause")) << "a mistake";
}

TEST(Checkers, AnEvaluatorWaitsInVainForAChiefWhoseInputHasEnded) {
  Story story{.lines = {{1, kChief, Kind::kStarted},
                        {1, "evaluator:0", Kind::kStarted},
                        {2, kChief, Kind::kRunFailed, 0, 0, Code::kOutOfRange},
                        {3, kChief, Kind::kEnded},
                        {2000, "evaluator:0", Kind::kEnded, 0, 0, Code::kDeadlineExceeded}}};
  story.spec.plan.session_calls = {{.task = kChief, .code = Code::kOutOfRange}};
  story.facts.faults = {{"session_call_before", 1, 1, 1}};
  EXPECT_THAT(story.Rules(), Not(Contains("job.errors_have_a_cause")));
  Story another = story;
  another.lines.insert(another.lines.begin() + 3, {2, kChief, Kind::kStarted});
  EXPECT_THAT(another.Rules(), Contains("job.errors_have_a_cause")) << "that was an earlier life";
  another = story;
  another.lines[2].code = Code::kAborted;
  EXPECT_THAT(another.Rules(), Contains("job.errors_have_a_cause")) << "it went on, and came to the last step";
  another = story;
  another.spec.plan.session_calls.clear();
  EXPECT_THAT(another.Rules(), Contains("job.errors_have_a_cause")) << "nobody told of an end";
}

TEST(Checkers, ASynchronousReplicaWithATimeoutWaitsForTheOthers) {
  Story story = Struck({.kind = TimedFault::Kind::kCut, .task = kWorker, .peer = "ps:0"}, "cut");
  story.spec.workload.kind = WorkloadKind::kSyncRegression;
  story.spec.workload.timeout_ms = 30'000;
  story.lines = {{1, kChief, Kind::kStarted}, {100, kChief, Kind::kEnded, 0, 0, Code::kDeadlineExceeded}};
  EXPECT_THAT(story.Rules(), Not(Contains("job.errors_have_a_cause")));
  story.spec.workload.timeout_ms = 0;
  EXPECT_THAT(story.Rules(), Contains("job.errors_have_a_cause")) << "it has no timeout";
  story.spec.workload.timeout_ms = 30'000;
  story.spec.workload.kind = WorkloadKind::kAsyncRegression;
  EXPECT_THAT(story.Rules(), Contains("job.errors_have_a_cause")) << "it trains for itself";
}

TEST(Checkers, ADeadlineHasToBeSomebodys) {
  Story story{.lines = {{1, kWorker, Kind::kStarted},
                        {2, "", Kind::kHealed},
                        {2000, kWorker, Kind::kEnded, 0, 0, Code::kDeadlineExceeded}}};
  story.spec.workload.kind = WorkloadKind::kSyncRegression;
  story.spec.plan.timed = {{.kind = TimedFault::Kind::kPause, .task = "ps:0"}};
  story.facts.faults = {{"pause", 1, 1, 1}};
  EXPECT_THAT(story.Rules(), Contains("job.errors_have_a_cause"));
  story.lines.insert(story.lines.end() - 1, {{999, kChief, Kind::kRunReturned, 9, -1}, {1000, kChief, Kind::kEnded}});
  EXPECT_THAT(story.Rules(), Not(Contains("job.errors_have_a_cause"))) << "it waits for the other one's gradients";
  story.spec.workload.kind = WorkloadKind::kAsyncRegression;
  EXPECT_THAT(story.Rules(), Contains("job.errors_have_a_cause")) << "it trains for itself";
}

// Chief and worker, two gradients a step.
Story Synchronous() {
  Story story{.lines = {{1, kChief, Kind::kStarted},
                        {1, kWorker, Kind::kStarted},
                        {2, kChief, Kind::kInitialised},
                        {3, kChief, Kind::kSession},
                        {3, kWorker, Kind::kSession}}};
  story.spec.workload.kind = WorkloadKind::kSyncRegression;
  return story;
}
void AddRun(Story& story, const char* task, int second, std::int64_t step) {
  story.lines.push_back({second, task, Kind::kRunStarted});
  story.lines.push_back({second, task, Kind::kSawStep, step});
  story.lines.push_back({second, task, Kind::kRunReturned, step, -1});
}

TEST(Checkers, AZombieThatBeginsASessionEndsTheTerm) {
  Story story = Synchronous();
  for (int second = 4; second < 7; ++second) AddRun(story, kWorker, second, 0);
  AddRun(story, kChief, 7, 0);
  EXPECT_THAT(story.Rules(), Contains("tokens.conserved"));
  story.lines.insert(story.lines.begin() + 5, {3, ZombieOf(kWorker), Kind::kSession});
  EXPECT_THAT(story.Rules(), Contains("tokens.conserved"));
  story.lines.insert(story.lines.begin() + 5, {3, ZombieOf(kChief), Kind::kSession});
  EXPECT_THAT(story.Rules(), Not(Contains("tokens.conserved")));
}

TEST(Checkers, NoStepWithoutItsGradients) {
  Story story = Synchronous();
  AddRun(story, kChief, 4, 0);  // by the first tokens
  AddRun(story, kWorker, 5, 1);
  AddRun(story, kChief, 6, 1);
  EXPECT_THAT(story.Rules(), Not(Contains("tokens.conserved")));
  Story more = story;
  AddRun(more, kWorker, 7, 2);
  EXPECT_THAT(more.Rules(), Not(Contains("tokens.conserved")));
  EXPECT_EQ(more.Judge().armed["tokens.conserved"], 4);
  more = story;
  AddRun(more, kWorker, 7, 3);
  EXPECT_THAT(more.Rules(), Contains("tokens.conserved"));
  more.spec.workload.sync = 1;
  EXPECT_THAT(more.Rules(), Not(Contains("tokens.conserved")));
  // Six gradients, and three steps after a checkpoint of step 10.
  for (const std::int64_t last : {13, 14}) {
    more = story;
    more.lines.push_back({8, kChief, Kind::kRecovery});
    more.lines.push_back({8, kChief, Kind::kRestored});
    more.lines.push_back({9, kChief, Kind::kSession});
    AddRun(more, kChief, 10, 10);
    AddRun(more, kWorker, 10, 11);
    AddRun(more, kChief, 11, 11);
    AddRun(more, kWorker, 12, last - 1);
    AddRun(more, kWorker, 13, last);
    const std::vector<std::string> rules = more.Rules();
    EXPECT_EQ(std::ranges::count(rules, "tokens.conserved") > 0, last == 14) << last;
  }
}

TEST(Checkers, NoRunWithoutItsToken) {
  Story story = Synchronous();
  for (int i = 0; i < 4; ++i) AddRun(story, i % 2 == 0 ? kChief : kWorker, 4 + i, i / 2);
  AddRun(story, kChief, 9, 1);
  EXPECT_THAT(story.Rules(), Not(Contains("tokens.conserved")));
  AddRun(story, kWorker, 10, 1);  // four runs had the four tokens; this is the sixth, the fifth one had returned
  EXPECT_THAT(story.Rules(), Contains("tokens.conserved"));
}

TEST(Checkers, TheLossIsAsWithoutFaults) {
  Story story;
  story.spec.workload.last_step = 100;
  story.facts.tasks[kChief] = {.outcome = "clean"};
  story.facts.newest_checkpoint = 100;
  story.facts.final_loss = 0.084;
  EXPECT_EQ(story.Judge().armed["loss.as_without_faults"], 0);
  story.quiet = story.facts;
  EXPECT_THAT(story.Rules(), Not(Contains("loss.as_without_faults")));
  EXPECT_EQ(story.Judge().armed["loss.as_without_faults"], 1);
  story.facts.final_loss = 0.0883;
  EXPECT_THAT(story.Rules(), Contains("loss.as_without_faults"));
  story.facts.final_loss = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(story.Rules(), Contains("loss.as_without_faults"));
  story.facts.newest_checkpoint = 99;
  EXPECT_EQ(story.Judge().armed["loss.as_without_faults"], 0);
  story.facts.newest_checkpoint = 100;
  story.facts.tasks[kChief].outcome = "ABORTED";
  EXPECT_EQ(story.Judge().armed["loss.as_without_faults"], 0);
}

}  // namespace
}  // namespace vigil::sim
