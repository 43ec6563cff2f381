// The table of all judges: each refuses evidence that is forged for it, and docs/judges.md says what each excuses.
#include "vigil/properties/verify/judges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/env/real/posix_files.h"
#include "vigil/properties/judge/model_comparison.h"
#include "vigil/properties/judge/node_rules.h"
#include "vigil/properties/judge/play_twice.h"
#include "vigil/properties/rules/rule_cases.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/properties/rules/stream.h"
#include "vigil/properties/verify/findings.h"
#include "vigil/properties/verify/verify.h"
#include "vigil/properties/zoo/zoo.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/judge/comparison_cases.h"
#include "vigil/replays/judge/frequencies.h"
#include "vigil/replays/judge/job_comparison.h"
#include "vigil/replays/judge/result.h"
#include "vigil/replays/play/runner.h"
#include "vigil/sim/checkers/checker_cases.h"

namespace vigil {
namespace {

using replays::PlainOutcome;
using replays::Recording;

// Whether the judge refuses what was forged; false also where nothing is forged for it.
using Refuses = std::function<bool(std::string_view id)>;

bool RuleRefuses(std::string_view id) {
  bool refused = false;
  for (const properties::RuleCase& forged : properties::RuleCases()) {
    if (forged.rule != id) continue;
    const properties::Stream stream = properties::ParseStream(forged.breaks);
    const std::vector<properties::Violation> found =
        properties::Judge(stream.trace, properties::FactsOf(forged)).violations;
    refused = std::ranges::find(found, id, &properties::Violation::rule) != found.end();
    if (!refused) return false;
  }
  return refused;
}

// A job whose chief lived as the forged stream of a session says.
bool NodeRulesRefuse() {
  replays::Scenario scenario;
  scenario.behaviour.name = "default";
  scenario.job.emplace();
  replays::Outcome outcome;
  sim::TaskFacts& chief = outcome.job.emplace().tasks["chief:0"];
  chief.first_events = {0};
  chief.outcome = "clean";
  const std::uint32_t node = outcome.trace.AddNode("chief:0");
  const std::uint32_t main = outcome.trace.AddTask("chief:0/main");
  const properties::Stream stream = properties::ParseStream("open run( before0 before1 run after1 after0 run)");
  for (const sim::TraceRecord& record : stream.trace) outcome.trace.Append(node, main, record.time, record.event);
  properties::AddNodeRules(scenario, outcome);
  return std::ranges::any_of(outcome.job->violations,
                             [](const auto& violation) { return violation.rule == properties::kNodeRules; });
}

bool InvariantRefuses(std::string_view id) {
  if (id == properties::kNodeRules) return NodeRulesRefuse();
  bool refused = false;
  for (const sim::CheckerCase& forged : sim::CheckerCases()) {
    if (forged.checker != id) continue;
    const std::vector<sim::JobViolation> found = forged.breaks.Judge().violations;
    refused = std::ranges::find(found, id, &sim::JobViolation::rule) != found.end();
    if (!refused) return false;
  }
  return refused;
}

bool Fails(const Recording& recording, const PlainOutcome& outcome) {
  return Judge(recording, outcome).status == replays::Status::kFailed;
}

Recording Expecting(std::vector<std::string> events) {
  Recording recording;
  recording.expect.emplace().events = std::move(events);
  return recording;
}

PlainOutcome Doing(std::vector<std::string> events) {
  PlainOutcome outcome;
  outcome.events = std::move(events);
  return outcome;
}

bool FinalIsCompared() {
  Recording recording = Expecting({"a"});
  recording.expect->final.emplace().checkpoints = {1};
  PlainOutcome outcome = Doing({"a"});
  outcome.final.checkpoints = {2};
  return Fails(recording, outcome);
}

bool VerdictsAreJudged() {
  return std::ranges::all_of(
      std::vector{replays::Verdict::kDeadlock, replays::Verdict::kRunaway, replays::Verdict::kNotSetUp},
      [](replays::Verdict verdict) {
        PlainOutcome outcome = Doing({"a"});
        outcome.verdict = verdict;
        return Fails(Expecting({"a"}), outcome);
      });
}

bool SavedFailuresAreJudged() {
  Recording recording = Expecting({});
  recording.expect->violates = "begin.once_in_a_life";
  PlainOutcome outcome;
  outcome.violated = {"begin.once_in_a_life"};
  return Fails(recording, outcome);
}

// A play that comes out another way each time.
bool OtherRunsAreSeen() {
  std::uint64_t hash = 0;
  const properties::Play play = [&hash](const replays::Scenario&, const replays::RunnerOptions&) {
    replays::Outcome outcome;
    outcome.hash = ++hash;
    return outcome;
  };
  return !properties::PlayTwice(play, {}, nullptr).reason.empty();
}

bool TheModelDisagrees() {
  const absl::StatusOr<Recording> plain = replays::ParseRecording(R"({"id":"a","drive":[{"op":"run"}]})");
  replays::Outcome outcome = replays::Runner().Run(plain->scenario);
  if (!properties::CompareWithModel(plain->scenario, outcome).disagreement.empty()) return false;
  outcome.events.pop_back();
  return !properties::CompareWithModel(plain->scenario, outcome).disagreement.empty();
}

bool MissingWaysAreSeen() {
  replays::JobExpectation recorded;
  recorded.tasks["worker:0"].outcome = {"clean", "ABORTED"};
  sim::JobFacts seen;
  seen.tasks["worker:0"].outcome = "clean";
  replays::JobCoverage coverage;
  coverage.Add(seen, recorded);
  return !coverage.Missing(recorded).empty();
}

bool OtherFrequenciesAreSeen() {
  std::vector<replays::JobPlay> recorded(12);
  std::vector<replays::JobPlay> seen(200);
  for (std::vector<replays::JobPlay>* const plays : {&recorded, &seen}) {
    for (replays::JobPlay& play : *plays) play.tasks["worker:0"] = {.outcome = "clean", .sessions = 2};
  }
  if (!replays::TooDifferent(replays::Frequencies(recorded, seen)).empty()) return false;
  for (std::size_t i = 0; i < seen.size() / 3; ++i) seen[i].tasks["worker:0"].sessions = 3;
  if (!replays::TooDifferent(replays::Frequencies(recorded, seen)).empty()) return false;  // it may be chance
  for (std::size_t i = 0; i < seen.size(); ++i) seen[i].tasks["worker:0"].sessions = i % 4 == 0 ? 2 : 3;
  return !replays::TooDifferent(replays::Frequencies(recorded, seen)).empty();
}

bool ComparisonRefuses(std::string_view id) {
  static const std::map<std::string_view, bool (*)()> kForged = {
      {"compare.events", [] { return Fails(Expecting({"a"}), Doing({"b"})); }},
      {"compare.final", FinalIsCompared},
      {"verdict.played", VerdictsAreJudged},
      {"expect.something", [] { return Fails(Recording(), Doing({"a"})); }},
      {"expect.violates", SavedFailuresAreJudged},
      {"play.same_choices_same_run", OtherRunsAreSeen},
      {"model.says_the_same", TheModelDisagrees},
      {"cluster.shows_all_ways", MissingWaysAreSeen},
      {"cluster.as_often", OtherFrequenciesAreSeen},
  };
  const auto found = kForged.find(id);
  return found != kForged.end() && found->second();
}

bool ToleranceRefuses(std::string_view id) {
  bool refused = false;
  for (const replays::ComparisonCase& forged : replays::ComparisonCases()) {
    if (forged.field != id) continue;
    if (!replays::Misses({}, forged.like, forged.recorded).empty()) return false;
    refused = !replays::Misses({}, forged.forged, forged.recorded).empty();
    if (!refused) return false;
  }
  return refused;
}

bool PromiseRefuses(std::string_view id) {
  const auto wrong = std::ranges::find(Zoo(), id, &ZooHook::promise);
  if (wrong == Zoo().end()) return false;
  VerifyOptions options = wrong->options;
  options.scenarios = 0;
  const HookReport report = VerifyHook(wrong->make, options);
  return std::ranges::find(report.findings, id, &HookFinding::promise) != report.findings.end();
}

TEST(JudgesTest, ForgedEvidenceIsRefused) {
  const std::map<JudgeKind, Refuses> forgeries = {{JudgeKind::kRule, RuleRefuses},
                                                  {JudgeKind::kInvariant, InvariantRefuses},
                                                  {JudgeKind::kComparison, ComparisonRefuses},
                                                  {JudgeKind::kTolerance, ToleranceRefuses},
                                                  {JudgeKind::kPromise, PromiseRefuses}};
  std::map<JudgeKind, int> judged;
  for (const TableJudge& judge : AllJudges()) {
    ++judged[judge.kind];
    EXPECT_TRUE(forgeries.at(judge.kind)(judge.id))
        << judge.id << " lets forged evidence pass, or nothing is forged for it";
  }
  EXPECT_EQ(judged.size(), forgeries.size());
}

TEST(JudgesTest, WhatIsExcusedHasAReason) {
  for (const TableJudge& judge : AllJudges()) {
    EXPECT_FALSE(judge.sentence.empty()) << judge.id;
    EXPECT_FALSE(judge.excuses.empty()) << judge.id;
    EXPECT_TRUE(judge.excuses == "nothing" || !judge.why.empty()) << judge.id;
  }
}

TEST(JudgesTest, TheDocumentIsUpToDate) {
  PosixFiles files;
  const absl::StatusOr<std::string> written = ReadAll(files, std::string(VIGIL_SOURCE_DIR) + "/docs/judges.md");
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(*written, JudgesDocument())
      << "docs/judges.md is stale; regenerate it: ./vigil rules --judges > docs/judges.md";
}

}  // namespace
}  // namespace vigil
