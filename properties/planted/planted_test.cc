// The list of planted bugs makes sense, and a few bugs of each family are found by their rules.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/properties/planted/campaign.h"
#include "vigil/properties/planted/registry.h"
#include "vigil/properties/planted/switches.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/replays/crew/crash.h"
#include "vigil/sim/checkers/checker.h"

namespace vigil::properties {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Planted, TheRegistryNamesRulesThatExist) {
  std::set<std::string_view> known = {kSameChoicesSameHash, kComesToAnEnd};
  for (const RuleFactory rule : AllRules()) known.insert(rule()->info().id);
  for (const sim::Checker& checker : sim::Checkers()) known.insert(checker.id);
  std::set<std::string_view> ids;
  for (const PlantedBug& bug : PlantedBugs()) {
    EXPECT_TRUE(ids.insert(bug.id).second) << bug.id;
    EXPECT_FALSE(bug.Rules().empty()) << bug.id;
    for (const std::string_view rule : bug.Rules())
      EXPECT_TRUE(known.contains(rule) || replays::IsCrashRule(rule)) << bug.id << ": " << rule;
    EXPECT_EQ(bug.suite == PlantedSuite::kCluster, (bug.needs & kNeedsCluster) != 0) << bug.id;
  }
}

// What it is in a campaign, NeededByNothing says; this is what is meant.
TEST(Planted, EachRuleMustFindABugOrSaysWhyItStays) {
  const auto expect_one = [](std::string_view rule, std::string_view stays) {
    EXPECT_FALSE(BugsThatMustBeFoundBy(rule).empty() && stays.empty()) << rule << ": plant a bug, or say why it stays";
    EXPECT_TRUE(stays.empty() || stays.ends_with(".")) << rule;
  };
  for (const RuleFactory rule : AllRules()) expect_one(rule()->info().id, rule()->info().stays);
  for (const sim::Checker& checker : sim::Checkers()) expect_one(checker.id, checker.stays);
}

TEST(Planted, ThereAreEnoughOfEachKind) {
  std::map<unsigned, int> needs;
  int measures = 0;
  for (const PlantedBug& bug : PlantedBugs()) {
    for (const unsigned need : {kNeedsRecovery, kNeedsTwoFaults, kNeedsCluster})
      needs[need] += (bug.needs & need) / need;
    measures += bug.takes_back_a_measure ? 1 : 0;
  }
  EXPECT_GE(PlantedBugs().size(), 40u);
  EXPECT_GE(needs[kNeedsRecovery], 10);
  EXPECT_GE(needs[kNeedsTwoFaults], 8);
  EXPECT_GE(needs[kNeedsCluster], 8);
  EXPECT_EQ(measures, 5);
}

#ifdef VIGIL_PLANTED_BUGS

TEST(Planted, EachHasASwitch) {
  for (const PlantedBug& bug : PlantedBugs()) EXPECT_TRUE(TurnOnPlantedBug(bug.id)) << bug.id;
  TurnOffPlantedBugs();
}

TEST(Planted, ASwitchIsOffUntilItIsTurnedOn) {
  EXPECT_FALSE(PlantedBugIsOn("session.end_twice"));
  EXPECT_TRUE(TurnOnPlantedBug("session.end_twice"));
  EXPECT_TRUE(PlantedBugIsOn("session.end_twice"));
  EXPECT_FALSE(PlantedBugIsOn("hooks.end_reversed"));
  TurnOffPlantedBugs();
  EXPECT_FALSE(PlantedBugIsOn("session.end_twice"));
  EXPECT_FALSE(TurnOnPlantedBug("no.such_bug"));
}

TEST(Planted, AFewOfEachFamilyAreFoundByTheirRules) {
  const std::atomic<bool> stop = false;
  const absl::StatusOr<PlantedReport> report =
      RunPlanted({.ids = {"session.end_twice", "session.graph_left_finalized", "hooks.end_reversed",
                          "hooks.after_run_skips_the_last", "init.init_fn_first", "recovery.hooks_not_told",
                          "coordinator.session_closed_first", "sim.choice_not_kept", "sync.a_token_more_each_step",
                          "summary.log_of_the_step_before", "step.called_twice", "worker.unready_session_left_open",
                          "saver.listeners_not_told_before", "supervisor.session_closed_first",
                          "recovery.no_pause"},  // so early by a rule of a session in a job
                  .scenarios = 500,
                  .seeds = 20,
                  .further_scenarios = 1,
                  .further_seeds = 1},
                 {}, stop);
  ASSERT_TRUE(report.ok()) << MessageOf(report.status());
  EXPECT_EQ(report->findings.size(), 15u);
  for (const PlantedFinding& finding : report->findings) EXPECT_TRUE(finding.as_expected) << PlantedLine(finding);
  EXPECT_EQ(report->missed(), 0u);
  EXPECT_GT(report->Worst(), 0u);
  EXPECT_FALSE(PlantedBugIsOn("session.end_twice"));
}

TEST(Planted, TheFirstFindingIsShrunk) {
  const std::atomic<bool> stop = false;
  Time now;
  const absl::StatusOr<PlantedReport> report =
      RunPlanted({.ids = {"hooks.end_reversed", "sim.choice_not_kept"},
                  .scenarios = 500,
                  .further_scenarios = 1,
                  .now = [&now] { return now = now + std::chrono::microseconds(1); }},
                 {}, stop);
  ASSERT_TRUE(report.ok()) << MessageOf(report.status());
  ASSERT_TRUE(report->findings[0].shrunk.has_value());
  const PlantedShrunk& reversed = *report->findings[0].shrunk;
  EXPECT_EQ(reversed.rule, "order.end");
  EXPECT_EQ(reversed.after, 2u) << reversed.story;  // two hooks
  EXPECT_TRUE(reversed.minimal);
  EXPECT_GT(reversed.before, reversed.after);
  ASSERT_TRUE(report->findings[1].shrunk.has_value());
  EXPECT_EQ(report->findings[1].shrunk->rule, kSameChoicesSameHash);
  EXPECT_TRUE(report->passed()) << PlantedText(*report);
}

TEST(Planted, ShrinkingEndsWithItsTime) {
  const std::atomic<bool> stop = false;
  Time now;
  const absl::StatusOr<PlantedReport> report =
      RunPlanted({.ids = {"hooks.end_reversed"},
                  .scenarios = 500,
                  .further_scenarios = 1,
                  .now = [&now] { return now = now + std::chrono::seconds(20); }},
                 {}, stop);
  ASSERT_TRUE(report.ok()) << MessageOf(report.status());
  EXPECT_EQ(report->missed(), 0u);
  EXPECT_EQ(report->too_slow(), 1u);
  EXPECT_FALSE(report->passed());
}

TEST(Planted, WhatIsNotFoundIsMissed) {
  const std::atomic<bool> stop = false;
  const absl::StatusOr<PlantedReport> report =
      RunPlanted({.ids = {"recovery.no_pause"}, .scenarios = 1, .seeds = 1}, {}, stop);
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_EQ(report->missed(), report->findings[0].first == 0 ? 1u : 0u);
}

TEST(Planted, AnUnknownIdIsRefused) {
  const std::atomic<bool> stop = false;
  const absl::Status status = RunPlanted({.ids = {"no.such_bug"}}, {}, stop).status();
  EXPECT_EQ(CodeOf(status), Code::kUsage);
  EXPECT_THAT(std::string(MessageOf(status)), HasSubstr("no.such_bug"));
}

#else

TEST(Planted, ABuildWithoutThemRefuses) {
  const std::atomic<bool> stop = false;
  const absl::Status status = RunPlanted({}, {}, stop).status();
  EXPECT_EQ(CodeOf(status), Code::kUsage);
  EXPECT_THAT(std::string(MessageOf(status)), HasSubstr("VIGIL_PLANTED_BUGS"));
}

#endif  // VIGIL_PLANTED_BUGS

// What a rule is worth: bugs that nothing else finds.
TEST(Planted, RulesAreNeededForWhatOnlyTheyFind) {
  PlantedReport report;
  report.findings.push_back({.bug = &PlantedBugs()[0],
                             .first = 3,
                             .rules = {"order.end"},
                             .found_by = {{"order.end", 2}},
                             .only_by = {"order.end"},
                             .as_expected = true});
  report.findings.push_back({.bug = &PlantedBugs()[1],
                             .first = 9,
                             .rules = {"order.end", "order.begin"},
                             .found_by = {{"order.end", 1}, {"order.begin", 1}}});
  EXPECT_EQ(report.missed(), 1u);
  EXPECT_EQ(report.Median(), 3u);
  EXPECT_EQ(report.Worst(), 9u);
  for (const RuleNeed& need : RuleNeeds(report)) {
    const std::uint64_t finds = need.rule == "order.end" ? 2 : need.rule == "order.begin" ? 1 : 0;
    EXPECT_EQ(need.finds, finds) << need.rule;
    EXPECT_EQ(need.only.size(), need.rule == "order.end" ? 1u : 0u) << need.rule;
  }
  EXPECT_THAT(NeededByNothing(report), IsEmpty());  // two bugs say little of 102 rules
  EXPECT_THAT(PlantedText(report), HasSubstr("1 found by the rule that must find them"));
  EXPECT_THAT(PlantedJson(report), HasSubstr(R"("id":"order.end","finds":2)"));
}

TEST(Planted, ACampaignOfAllFailsWhereARuleIsNeededByNothing) {
  PlantedReport report;
  for (const PlantedBug& bug : PlantedBugs()) {
    const std::string rule(bug.Rules().front());
    report.findings.push_back(
        {.bug = &bug, .first = 1, .rules = {rule}, .found_by = {{rule, 1}}, .only_by = {rule}, .as_expected = true});
    if (rule == "order.end") report.findings.back().only_by.clear();
  }
  EXPECT_EQ(report.missed(), 0u);
  EXPECT_THAT(NeededByNothing(report), Contains("order.end"));
  EXPECT_THAT(NeededByNothing(report), Not(Contains("order.begin")));
  EXPECT_THAT(NeededByNothing(report), Not(Contains("graph.frozen_in_use")));  // it says why it stays
  EXPECT_FALSE(report.passed());
  EXPECT_THAT(PlantedText(report), HasSubstr("NOT NEEDED, and without a reason to stay: "));
}

}  // namespace
}  // namespace vigil::properties
