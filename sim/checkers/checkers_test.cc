// Each checker, on small histories written by hand: silent on a good one, loud on a bad one, for the reason it names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vigil/sim/checkers/checker.h"

namespace vigil::sim {
namespace {

using Kind = JobMoment::Kind;
using ::testing::Contains;
using ::testing::Not;

struct Line {
  int second;
  std::string task;
  Kind kind;
  std::int64_t step = 0;
  float count = 0;
  Code code = Code::kOk;
};

struct Story {
  JobSpec spec;
  JobFacts facts;
  std::vector<Line> lines;
  Behaviour behaviour = Behaviour::Default();

  JobJudgement Judge() const {
    JobHistory history;
    for (const Line& line : lines) {
      JobMoment moment{.at = Time{std::chrono::seconds(line.second)}, .task = line.task, .life = 1, .kind = line.kind};
      moment.code = line.code;
      moment.step = line.step;
      if (line.kind == Kind::kRunReturned) moment.ledger = {line.count};
      history.push_back(std::move(moment));
    }
    return CheckJob({.spec = spec, .history = history, .facts = facts, .behaviour = behaviour});
  }
  std::vector<std::string> Rules() const {
    std::vector<std::string> rules;
    for (const JobViolation& violation : Judge().violations) rules.push_back(violation.rule);
    return rules;
  }
};

constexpr char kChief[] = "chief:0";
constexpr char kWorker[] = "worker:0";

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
  EXPECT_THAT(runs(5, 6, nothing).Rules(), Not(Contains("updates.exactly_once")));
  EXPECT_THAT(runs(5, 5, nothing).Rules(), Contains("updates.exactly_once"));
  EXPECT_THAT(runs(5, 7, nothing).Rules(), Contains("updates.exactly_once"));
  EXPECT_THAT(runs(5, 7, failed).Rules(), Not(Contains("updates.exactly_once")));
  EXPECT_THAT(runs(5, 8, failed).Rules(), Contains("updates.exactly_once"));
  EXPECT_THAT(runs(5, 2, nothing).Rules(), Contains("updates.exactly_once"));
  EXPECT_THAT(runs(5, 2, restored).Rules(), Not(Contains("updates.exactly_once")));
  EXPECT_EQ(runs(5, 6, nothing).Judge().armed["updates.exactly_once"], 1);
}

TEST(Checkers, TheStepGoesBackOnlyWithANewSession) {
  Story story{
      .lines = {{1, kWorker, Kind::kSession}, {2, kWorker, Kind::kSawStep, 9}, {3, kWorker, Kind::kSawStep, 8}}};
  EXPECT_THAT(story.Rules(), Contains("step.goes_back_only_with_a_recovery"));
  story.lines.insert(story.lines.begin() + 2, {2, kWorker, Kind::kSession});
  EXPECT_THAT(story.Rules(), Not(Contains("step.goes_back_only_with_a_recovery")));
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
  story.lines.push_back({1, kChief, Kind::kTaskLeft});
  EXPECT_THAT(story.Rules(), Contains("job.no_task_left"));
}

}  // namespace
}  // namespace vigil::sim
