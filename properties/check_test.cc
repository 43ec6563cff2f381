// How long a campaign goes on.
#include "vigil/properties/check.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace vigil::properties
