// How long a campaign goes on.
#include "vigil/properties/campaign/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/fakes/manual_clock.h"
#include "vigil/fakes/memory_files.h"
#include "vigil/properties/planted/switches.h"
#include "vigil/properties/shrink/shrink.h"
#include "vigil/replays/format/parse.h"

namespace vigil::properties {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

CheckSummary CheckFor(CheckOptions options) {
  fakes::ManualClock clock;
  fakes::MemoryFiles files(clock);
  CheckCallbacks callbacks;
  callbacks.on_failure = [](const CheckFailure& failure) { ADD_FAILURE() << failure.text; };
  callbacks.on_error = [](const std::string& error) { ADD_FAILURE() << error; };
  // A second passes with each look at the clock.
  callbacks.now = [now = Time()]() mutable { return now = now + std::chrono::seconds(1); };
  const std::atomic<bool> stop = false;
  options.jobs = 2;
  return RunCheck(options, files, callbacks, stop);
}

using Seeds = std::optional<std::pair<std::uint64_t, std::uint64_t>>;

TEST(Check, GoesOnWithFurtherSeedsUntilTheTimeIsOver) {
  const CheckSummary summary = CheckFor({.first_seed = 3, .last_seed = 4, .time = std::chrono::seconds(5)});
  EXPECT_EQ(summary.suites.at("random").seeds, Seeds({3, 8}));
  EXPECT_EQ(summary.passed(), 6U);
}

TEST(Check, PlaysTheSeedsItIsGivenWhateverTheTime) {
  const CheckSummary summary = CheckFor({.first_seed = 3, .last_seed = 12, .time = std::chrono::seconds(1)});
  EXPECT_EQ(summary.suites.at("random").seeds, Seeds({3, 12}));
  EXPECT_EQ(CheckFor({.first_seed = 3, .last_seed = 4}).suites.at("random").seeds, Seeds({3, 4}));
}

TEST(Check, ExploresAScope) {
  const CheckSummary summary = CheckFor({.random = false, .explore = ExploreScope{.hooks = 1, .runs = 1, .faults = 1}});
  EXPECT_EQ(summary.suites.at("explore").passed, 2U * 3 * (1 + 14 * 4));
  EXPECT_EQ(summary.passed(), 342U);
  EXPECT_EQ(summary.failed(), 0U);
  EXPECT_GT(*std::max_element(summary.tally.armed.begin(), summary.tally.armed.end()), 342U);
}

TEST(Check, SaysWhatTheModelDoesNotModel) {
  const CheckSummary summary = CheckFor({.first_seed = 1, .last_seed = 200});
  std::uint64_t refused = 0;
  for (const auto& [what, times] : summary.tally.refused) refused += times;
  EXPECT_EQ(summary.tally.modelled + refused, 200U);
  EXPECT_GT(refused, 0U);
}

TEST(Check, ShardsPlayEachScenarioOnce) {
  std::uint64_t passed = 0;
  for (std::uint64_t shard = 1; shard <= 3; ++shard) {
    const CheckSummary summary = CheckFor({.first_seed = 1, .last_seed = 10, .shard = shard, .shards = 3});
    EXPECT_GE(summary.passed(), 3U);
    passed += summary.passed();
  }
  EXPECT_EQ(passed, 10U);
}

#ifdef VIGIL_PLANTED_BUGS
// A campaign over a core that is wrong: its first failure is shrunk, told and saved, and played first the next time.
TEST(Check, WhatFailedIsShrunkSavedAndPlayedFirstTheNextTime) {
  fakes::ManualClock clock;
  fakes::MemoryFiles files(clock);
  std::vector<CheckFailure> failures;
  CheckCallbacks callbacks;
  callbacks.on_failure = [&](const CheckFailure& failure) { failures.push_back(failure); };
  callbacks.on_error = [](const std::string& error) { ADD_FAILURE() << error; };
  const std::atomic<bool> stop = false;
  ASSERT_TRUE(TurnOnPlantedBug("session.end_twice"));
  const CheckSummary wrong = RunCheck({.first_seed = 1, .last_seed = 30}, files, callbacks, stop);
  EXPECT_GT(wrong.suites.at("random").failed, 0U);
  ASSERT_FALSE(failures.empty());
  EXPECT_THAT(failures[0].text, HasSubstr("\n  what is in its past, oldest first:\n"));
  EXPECT_THAT(failures[0].text, HasSubstr("  violation  chief"));
  EXPECT_THAT(failures[0].why, HasSubstr(R"("kind":"violation","node":"chief")"));
  EXPECT_THAT(failures[0].text, HasSubstr("\n  shrunk from "));
  EXPECT_THAT(failures[0].text, HasSubstr("\n  a "));
  EXPECT_THAT(failures[0].text, EndsWith("\n  ./vigil replay " + failures[0].file + "\n"));
  const absl::StatusOr<std::string> saved = ReadAll(files, failures[0].file);
  ASSERT_TRUE(saved.ok());
  const absl::StatusOr<replays::Recording> small = replays::ParseRecording(*saved);
  ASSERT_TRUE(small.ok());
  EXPECT_LE(Elements(small->scenario), 2U);
  EXPECT_EQ(small->expect->violates, failures[0].rule);

  failures.clear();
  const CheckSummary again = RunCheck({.saved = true, .random = false}, files, callbacks, stop);
  EXPECT_GT(again.suites.at("saved").failed, 0U);
  EXPECT_EQ(failures.size(), again.suites.at("saved").failed);
  TurnOffPlantedBugs();
  const CheckSummary mended = RunCheck({.saved = true, .random = false}, files, callbacks, stop);
  EXPECT_EQ(mended.suites.at("saved").failed, 0U);
  EXPECT_EQ(mended.suites.at("saved").passed, again.suites.at("saved").failed);
}
#endif

}  // namespace
}  // namespace vigil::properties
