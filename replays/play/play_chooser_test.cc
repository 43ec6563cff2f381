#include "vigil/replays/play/play_chooser.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace vigil::replays {
namespace {

TEST(PlayChooser, OneJobInEightIsPreemptedUnderAScheduleByChanceAndHalfOfThemAtSpins) {
  int preempted = 0;
  int at_spins = 0;
  for (std::uint64_t seed = 1; seed <= 800; ++seed) {
    Scenario scenario{.seed = seed};
    EXPECT_EQ(PreemptsByChance(scenario), sim::Preempt::kNowhere) << "a session has no job";
    scenario.job.emplace();
    const sim::Preempt preempts = PreemptsByChance(scenario);
    preempted += preempts != sim::Preempt::kNowhere ? 1 : 0;
    at_spins += preempts == sim::Preempt::kAtSpins ? 1 : 0;
    EXPECT_EQ(PlayChooser(scenario, {.random_schedule = true}).preempt(), preempts);
    EXPECT_EQ(PlayChooser(scenario, {}).preempt(), sim::Preempt::kNowhere);
    EXPECT_EQ(PlayChooser(scenario, {.preempt = sim::Preempt::kAtCalls}).preempt(), sim::Preempt::kAtCalls);
  }
  EXPECT_GT(preempted, 70);
  EXPECT_LT(preempted, 130);
  EXPECT_GT(at_spins, preempted / 3);
  EXPECT_LT(at_spins, preempted - preempted / 3);
}

TEST(PlayChooser, WhatWasFoundWithPreemptionsIsPlayedWithThem) {
  Scenario scenario{.seed = 1};
  scenario.choices["chief:0/main/preempt"] = {"chief:0/q"};
  EXPECT_EQ(PlayChooser(scenario, {}).preempt(), sim::Preempt::kAtCalls);
  EXPECT_EQ(PlayChooser(scenario, {}).stalls(), 0);
  for (const char* const point : {"spin", "spin_stall"}) {
    Scenario spins = scenario;
    spins.choices["chief:0/main/" + std::string(point)] = {"chief:0/q"};
    EXPECT_EQ(PlayChooser(spins, {}).preempt(), sim::Preempt::kAtSpins);
    EXPECT_EQ(PlayChooser(spins, {}).stalls() > 0, std::string_view(point) == "spin_stall");
  }
}

}  // namespace
}  // namespace vigil::replays
