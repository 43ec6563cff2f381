#include "vigil/replays/play/play_chooser.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace vigil::replays {
namespace {

TEST(PlayChooser, OneJobInEightIsPreemptedUnderAScheduleByChance) {
  int preempted = 0;
  for (std::uint64_t seed = 1; seed <= 800; ++seed) {
    Scenario scenario{.seed = seed};
    EXPECT_FALSE(PreemptsByChance(scenario)) << "a session has no job";
    scenario.job.emplace();
    const bool preempts = PreemptsByChance(scenario);
    preempted += preempts ? 1 : 0;
    EXPECT_EQ(PlayChooser(scenario, {.random_schedule = true}).preempt(), preempts);
    EXPECT_FALSE(PlayChooser(scenario, {}).preempt());
    EXPECT_TRUE(PlayChooser(scenario, {.preempt = true}).preempt());
  }
  EXPECT_GT(preempted, 70);
  EXPECT_LT(preempted, 130);
}

TEST(PlayChooser, WhatWasFoundWithPreemptionsIsPlayedWithThem) {
  Scenario scenario{.seed = 1};
  scenario.choices["chief:0/main/preempt"] = {"chief:0/q"};
  EXPECT_TRUE(PlayChooser(scenario, {}).preempt());
}

}  // namespace
}  // namespace vigil::replays
