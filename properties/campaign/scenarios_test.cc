#include "vigil/properties/generators/scenarios.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>

#include "vigil/fakes/manual_clock.h"
#include "vigil/fakes/memory_files.h"
#include "vigil/properties/campaign/check.h"
#include "vigil/properties/generators/draws.h"
#include "vigil/properties/model/model.h"
#include "vigil/replays/format/print.h"

namespace vigil::properties {
namespace {

TEST(DrawsTest, StreamsAreNamedAndIndependent) {
  Draws a = Draws(7).Split("a");
  Draws again = Draws(7).Split("a");
  Draws b = Draws(7).Split("b");
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t drawn = a.Below(1'000'000'007);
    EXPECT_EQ(drawn, again.Below(1'000'000'007));
    seen.insert(drawn);
    seen.insert(b.Below(1'000'000'007));
  }
  EXPECT_EQ(seen.size(), 200U);
}

TEST(DrawsTest, BetweenReachesBothEnds) {
  Draws draws(1);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(draws.Between(-1, 3));
  EXPECT_EQ(seen, (std::set<std::int64_t>{-1, 0, 1, 2, 3}));
}

TEST(RandomScenarioTest, DependsOnItsSeedAlone) {
  std::set<std::string> texts;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::string text = replays::PrintRecord(RandomScenario(seed));
    EXPECT_EQ(text, replays::PrintRecord(RandomScenario(seed)));
    texts.insert(text);
  }
  EXPECT_EQ(texts.size(), 200U);
}

// Shares of scenarios; a generator that drifts away from what matters fails here. Measured values are about twice as
// high.
TEST(RandomScenarioTest, MeetsEverythingThatMattersOftenEnough) {
  CheckOptions options;
  options.first_seed = 1;
  options.last_seed = 3000;
  options.jobs = 2;
  fakes::ManualClock clock;
  fakes::MemoryFiles files(clock);
  CheckCallbacks callbacks;
  callbacks.on_failure = [](const CheckFailure& failure) { ADD_FAILURE() << failure.text; };
  callbacks.on_error = [](const std::string& error) { ADD_FAILURE() << error; };
  const std::atomic<bool> stop = false;
  const CheckSummary summary = RunCheck(options, files, callbacks, stop);
  EXPECT_EQ(summary.passed(), 3000U);
  for (const std::string& what : summary.incomplete) ADD_FAILURE() << what;
  const std::pair<const char*, double> least[] = {{"run", 0.5},
                                                  {"step function", 0.05},
                                                  {"fault", 0.3},
                                                  {"recovery", 0.15},
                                                  {"clean end", 0.4},
                                                  {"unclean end", 0.05},
                                                  {"stop request", 0.05},
                                                  {"stop request and recovery", 0.01},
                                                  {"fault and clean end", 0.1},
                                                  {"should_stop says yes", 0.05},
                                                  {"reported error", 0.03},
                                                  {"queue runners", 0.05},
                                                  {"restore", 0.08},
                                                  {"construction failed", 0.03}};
  for (const auto& [feature, share] : least) EXPECT_GE(summary.tally.Share(feature), share) << feature;
  std::string shares;
  for (const auto& [feature, count] : summary.tally.features)
    shares += feature + " " + std::to_string(summary.tally.Share(feature)) + "\n";
  RecordProperty("shares", shares);
}

// What it does not model it says. Ten thousand, since a few hundred may have much of what is rare.
TEST(RandomScenarioTest, TheModelSaysWhatNineteenOfTwentyDo) {
  int said = 0;
  for (std::uint64_t seed = 1; seed <= 10'000; ++seed) said += model::Predict(RandomScenario(seed)).ok() ? 1 : 0;
  EXPECT_GE(said, 9'500);
}

}  // namespace
}  // namespace vigil::properties
