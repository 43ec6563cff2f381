// How long a campaign goes on.
#include "vigil/properties/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "vigil/fakes/manual_clock.h"
#include "vigil/fakes/memory_files.h"

namespace vigil::properties {
namespace {

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
  EXPECT_GT(summary.tally.modelled, 150U);
}

}  // namespace
}  // namespace vigil::properties
