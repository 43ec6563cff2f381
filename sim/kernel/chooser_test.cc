#include "vigil/sim/kernel/chooser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "vigil/sim/kernel/choices.h"

namespace vigil::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

const std::vector<std::string_view> kLabels{"calm", "late", "lost"};

TEST(RandomChooser, DependsOnSeedKeyAndCountOnly) {
  RandomChooser one(1);
  RandomChooser again(1);
  std::vector<std::size_t> first;
  std::vector<std::size_t> second;
  for (std::uint64_t n = 0; n < 50; ++n) {
    first.push_back(one.Choose({"a/b/c", n}, kLabels));
    again.Choose({"another/choice/point", n}, kLabels);
    second.push_back(again.Choose({"a/b/c", n}, kLabels));
  }
  EXPECT_EQ(first, second);

  RandomChooser two(2);
  std::vector<std::size_t> other_seed;
  std::vector<std::size_t> other_key;
  for (std::uint64_t n = 0; n < 50; ++n) {
    other_seed.push_back(two.Choose({"a/b/c", n}, kLabels));
    other_key.push_back(one.Choose({"a/b/d", n}, kLabels));
  }
  EXPECT_NE(first, other_seed);
  EXPECT_NE(first, other_key);
}

TEST(RandomChooser, ChoosesEachLabelAboutAsOften) {
  RandomChooser chooser(3);
  std::vector<int> times(kLabels.size());
  for (std::uint64_t n = 0; n < 30'000; ++n) ++times[chooser.Choose({"k", n}, kLabels)];
  for (const int t : times) EXPECT_NEAR(t, 10'000, 400);  // five standard deviations
}

TEST(ReplayChooser, IsCalmWhereTheRecordingIsSilent) {
  ReplayChooser chooser(ChoiceMap{{"n/t/p", {"lost", "calm"}}});
  EXPECT_EQ(chooser.Choose({"n/t/p", 0}, kLabels), 2u);
  EXPECT_EQ(chooser.Choose({"n/t/p", 1}, kLabels), 0u);
  EXPECT_EQ(chooser.Choose({"n/t/p", 2}, kLabels), 0u);
  EXPECT_EQ(chooser.Choose({"n/t/other", 0}, kLabels), 0u);
  EXPECT_THAT(chooser.UnusedEntries(), IsEmpty());
  EXPECT_THAT(chooser.RefusedEntries(), IsEmpty());
}

TEST(ReplayChooser, ReportsWhatWasNeverAskedForAndWhatWasNotOnOffer) {
  ReplayChooser chooser(ChoiceMap{{"n/t/p", {"gone", "late", "lost"}}, {"n/t/q", {"late"}}});
  EXPECT_EQ(chooser.Choose({"n/t/p", 0}, kLabels), 0u);
  EXPECT_EQ(chooser.Choose({"n/t/p", 1}, kLabels), 1u);
  EXPECT_THAT(chooser.RefusedEntries(), ElementsAre("n/t/p[0]: gone is none of calm, late, lost"));
  EXPECT_THAT(chooser.UnusedEntries(), ElementsAre("n/t/p[2]: lost", "n/t/q[0]: late"));
}

TEST(Choices, AreRememberedAsLabels) {
  RunningHash hash;
  ReplayChooser chooser(ChoiceMap{{"n/t/p", {"late"}}});
  Choices choices(&chooser, hash);
  EXPECT_EQ(choices.Choose(choices.KeyOf("n", "t", "p"), kLabels), 1u);
  EXPECT_EQ(choices.Choose(choices.KeyOf("n/t", "p"), kLabels), 0u);
  EXPECT_EQ(choices.Choose(choices.KeyOf("net", "a>b", "latency"), kLabels), 0u);
  EXPECT_THAT(choices.Made(),
              ElementsAre(Pair("n/t/p", ElementsAre("late", "calm")), Pair("net/a>b/latency", ElementsAre("calm"))));
}

TEST(Choices, AreHashed) {
  RunningHash hash;
  const std::uint64_t before = hash.value();
  Choices choices(nullptr, hash);
  choices.Choose(choices.KeyOf("n", "t", "p"), kLabels);
  EXPECT_NE(hash.value(), before);
}

TEST(Choices, OneLabelIsNoChoice) {
  RunningHash hash;
  const std::uint64_t before = hash.value();
  ReplayChooser chooser(ChoiceMap{{"n/t/p", {"only"}}});
  Choices choices(&chooser, hash);
  const std::string_view only = "only";
  EXPECT_EQ(choices.Choose(choices.KeyOf("n", "t", "p"), {&only, 1}), 0u);
  EXPECT_THAT(choices.Made(), IsEmpty());
  EXPECT_THAT(chooser.UnusedEntries(), ElementsAre("n/t/p[0]: only"));
  EXPECT_EQ(hash.value(), before);
}

TEST(Choices, AreCalmWithoutAChooser) {
  RunningHash hash;
  Choices choices(nullptr, hash);
  EXPECT_EQ(choices.Choose(choices.KeyOf("n", "t", "p"), kLabels), 0u);
  EXPECT_THAT(choices.Made(), ElementsAre(Pair("n/t/p", ElementsAre("calm"))));
}

}  // namespace
}  // namespace vigil::sim
