// replays/regressions: for every switch of Behaviour one file with one scenario, played by TensorFlow's behaviour and
// by ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/base/behaviour.h"
#include "vigil/core/env/real/posix_files.h"
#include "vigil/replays/format/json.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/print.h"
#include "vigil/replays/judge/compare.h"
#include "vigil/replays/play/runner.h"
#include "vigil/replays/traces/input.h"

namespace vigil::replays {
namespace {

constexpr char kFolder[] = VIGIL_SOURCE_DIR "/replays/regressions";

// Shown by tests of the core, both behaviours of each: what needs several replicas, or tasks that no scenario has.
constexpr std::array<std::string_view, 10> kShownElsewhere = {
    "sync_stop_cancels",    // core/train/optimizers/sync_replicas_ends_test.cc
    "sync_tokens_renewed",  // there, too
    "sync_bounded_wait",     "sync_failure_wakes",
    "queues_start_anew",  // core/train/scaffold_test.cc, sim/cluster/pains_test.cc
    "join_live_model",    // sim/cluster/pains_test.cc
    "bounded_waits",      // there, too
    "last_one_saves",
    "join_late_tasks",  // core/coord/coordinator_test.cc
    "given_up_stay_stopped",
};

std::vector<BehaviourSwitch> SwitchesShownHere() {
  std::vector<BehaviourSwitch> here;
  for (const BehaviourSwitch& known : BehaviourSwitches()) {
    if (std::ranges::find(kShownElsewhere, known.name) == kShownElsewhere.end()) here.push_back(known);
  }
  return here;
}

std::vector<Recording> RecordsOf(const std::string& path) {
  PosixFiles files;
  std::vector<Recording> records;
  ReadRecords(files, nullptr, {path}, [&](const RawRecord& raw) {
    EXPECT_TRUE(raw.error.ok()) << raw.error;
    JsonDocument scratch;
    absl::StatusOr<Recording> recording = ParseRecording(raw.text, raw.source, raw.record, scratch);
    EXPECT_TRUE(recording.ok()) << recording.status();
    if (recording.ok()) records.push_back(*std::move(recording));
    return true;
  });
  return records;
}

// What sets the two records of a file apart, taken out.
Scenario Common(Scenario scenario) {
  scenario.id.clear();
  scenario.title.clear();
  scenario.behaviour = {};
  if (scenario.unit.has_value()) scenario.unit->behaviour = {};
  return scenario;
}

std::string DifferenceOf(const Scenario& scenario, const Expectation& expect) {
  Runner runner;
  const Outcome outcome = runner.Run(scenario);
  if (outcome.verdict != Verdict::kPlayed) return "not played: " + outcome.reason;
  return Compare(PlainOutcome(outcome), expect).report;
}

class Regressions : public testing::TestWithParam<BehaviourSwitch> {
 protected:
  void SetUp() override {
    records_ = RecordsOf(std::string(kFolder) + "/" + std::string(GetParam().name) + ".jsonl");
    ASSERT_EQ(records_.size(), 2u);
    for (const Recording& record : records_) ASSERT_TRUE(record.expect.has_value()) << record.scenario.id;
  }
  std::vector<Recording> records_;
};

TEST_P(Regressions, AreOneScenarioByBothBehaviours) {
  EXPECT_EQ(Common(records_[0].scenario), Common(records_[1].scenario));
  EXPECT_EQ(records_[0].scenario.behaviour.name, "tensorflow");
  EXPECT_EQ(records_[1].scenario.behaviour.name, "default");
  EXPECT_FALSE(records_[0].scenario.title.empty());
  EXPECT_FALSE(records_[1].scenario.title.empty());
}

TEST_P(Regressions, ArePlayedAsExpected) {
  for (const Recording& record : records_) {
    EXPECT_EQ(DifferenceOf(record.scenario, *record.expect), "") << record.scenario.id;
  }
}

TEST_P(Regressions, SurviveARoundTrip) {
  for (const Recording& record : records_) {
    JsonDocument scratch;
    const auto again = ParseRecording(PrintRecord(record.scenario, &*record.expect), "again", 1, scratch);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->scenario, record.scenario);
    EXPECT_EQ(again->expect, record.expect);
  }
}

// It is this switch that makes the difference, not another one.
TEST_P(Regressions, ShowTheirSwitch) {
  Scenario without = records_[1].scenario;
  without.behaviour.name = "switches";
  for (const BehaviourSwitch& known : BehaviourSwitches()) {
    without.behaviour.switches[std::string(known.name)] = known.name != GetParam().name;
  }
  if (without.unit.has_value()) without.unit->behaviour = without.behaviour;
  EXPECT_NE(DifferenceOf(without, *records_[1].expect), "");
}

INSTANTIATE_TEST_SUITE_P(Switches, Regressions, testing::ValuesIn(SwitchesShownHere()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Regressions, HoldNothingElse) {
  std::set<std::string> known;
  for (const BehaviourSwitch& entry : BehaviourSwitches()) known.insert(std::string(entry.name) + ".jsonl");
  PosixFiles files;
  const absl::StatusOr<std::vector<std::string>> names = files.List(kFolder);
  ASSERT_TRUE(names.ok()) << names.status();
  for (const std::string& name : *names) {
    if (name.ends_with(".jsonl")) {
      EXPECT_TRUE(known.contains(name)) << name;
    }
  }
}

}  // namespace
}  // namespace vigil::replays
