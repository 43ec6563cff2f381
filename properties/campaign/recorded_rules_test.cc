// Every rule holds on everything that was recorded from TensorFlow and can be played: no false alarm.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "vigil/core/env/real/posix_files.h"
#include "vigil/properties/campaign/check.h"

namespace vigil::properties {
namespace {

std::string Recordings(std::string_view name) {
  return std::string(VIGIL_SOURCE_DIR) + "/replays/tensorflow/" + std::string(name);
}

CheckSummary Play(const std::vector<std::string>& paths) {
  CheckOptions options;
  options.recordings = paths;
  options.random = false;
  options.jobs = 2;
  options.failures = ::testing::TempDir() + "recorded_rules_failures";
  PosixFiles files;
  CheckCallbacks callbacks;
  int shown = 0;
  callbacks.on_failure = [&shown](const CheckFailure& failure) {
    if (++shown <= 10) ADD_FAILURE() << failure.text;
  };
  callbacks.on_error = [](const std::string& error) { ADD_FAILURE() << error; };
  const std::atomic<bool> stop = false;
  return RunCheck(options, files, callbacks, stop);
}

TEST(RecordedRulesTest, HoldOnEveryPairOfFaults) {
  const CheckSummary summary = Play({Recordings("pairs.jsonl.xz")});
  EXPECT_EQ(summary.passed(), 8010U);
  EXPECT_EQ(summary.failed(), summary.incomplete.size());
}

TEST(RecordedRulesTest, HoldOnAllOtherRecordedSessionsWhichArmThemAll) {
  const CheckSummary summary =
      Play({Recordings("cases.jsonl"), Recordings("random.jsonl"), Recordings("supervisor.jsonl"),
            Recordings("extended.jsonl"), Recordings("services.jsonl")});
  EXPECT_GE(summary.passed(), 2400U);
  EXPECT_EQ(summary.failed(), 0U);
  for (const std::string& what : summary.incomplete) ADD_FAILURE() << what;
}

TEST(RecordedRulesTest, UnitsAreAsRecorded) {
  const CheckSummary summary = Play({Recordings("units.jsonl"), Recordings("managers.jsonl")});
  EXPECT_EQ(summary.passed(), 671U);
  EXPECT_EQ(summary.failed(), 0U);
}

}  // namespace
}  // namespace vigil::properties
