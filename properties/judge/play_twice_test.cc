// A planted nondeterminism is found, and named where it first shows.
#include "vigil/properties/judge/play_twice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <set>
#include <utility>

#include "vigil/core/env/env.h"
#include "vigil/sim/kernel/chooser.h"
#include "vigil/sim/world.h"

namespace vigil::properties {
namespace {

using replays::Outcome;
using replays::RunnerOptions;
using replays::Scenario;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

// Two workers that nap, and a chief that then goes through a few subjects.
Outcome PlayWorld(const Scenario& scenario, const RunnerOptions& options,
                  const std::function<void(const Env&)>& chief) {
  sim::RandomChooser random(scenario.seed);
  sim::ReplayChooser replay(scenario.choices);
  sim::Chooser* const chooser = options.random_schedule ? static_cast<sim::Chooser*>(&random) : &replay;
  sim::World world({.chooser = chooser, .seed = scenario.seed});
  for (const char* const name : {"worker:0", "worker:1"}) {
    sim::Node& node = world.AddNode(name);
    node.Spawn("main", [env = node.env()] {
      for (int i = 0; i < 3; ++i) {
        env.tasks->SleepUntil(DeadlineAfter(env, milliseconds(100)));
        env.Emit({.kind = EventKind::kRunStart});
      }
    });
  }
  sim::Node& node = world.AddNode("chief:0");
  node.Spawn("main", [&chief, env = node.env()] {
    env.tasks->SleepUntil(DeadlineAfter(env, milliseconds(1250)));
    chief(env);
  });
  EXPECT_EQ(world.Run().verdict, sim::WorldVerdict::kDone);
  Outcome outcome;
  outcome.hash = world.hash();
  outcome.choices = world.ChoicesMade();
  outcome.trace = world.TakeTrace();
  return outcome;
}

void Call(const Env& env, std::string_view hook) {
  env.Emit({.kind = EventKind::kHookCall, .index = 0, .session = 1, .subject = hook});
}

TEST(PlayTwice, HasNothingToSayOfOneRun) {
  const Outcome outcome = PlayTwice(
      [](const Scenario& scenario, const RunnerOptions& options) {
        return PlayWorld(scenario, options, [](const Env& env) { Call(env, "a"); });
      },
      Scenario{.seed = 3});
  EXPECT_EQ(outcome.reason, "");
  EXPECT_EQ(outcome.explanation, "");
}

TEST(PlayTwice, NamesWhereAContainerInOrderOfAddressesShows) {
  // Where "a" and "b" are stored is another accident in each play.
  std::array<std::string, 2> memory;
  bool other = false;
  const auto play = [&](const Scenario& scenario, const RunnerOptions& options) {
    memory = other ? std::array<std::string, 2>{"b", "a"} : std::array<std::string, 2>{"a", "b"};
    other = !other;
    return PlayWorld(scenario, options, [&memory](const Env& env) {
      std::set<const std::string*> hooks;
      for (const std::string& hook : memory) hooks.insert(&hook);
      for (const std::string* const hook : hooks) Call(env, *hook);
    });
  };
  const Outcome outcome = PlayTwice(play, Scenario{.seed = 3});
  EXPECT_THAT(outcome.reason,
              MatchesRegex("playing the same choices again gave another run: hash [0-9a-f]+, then [0-9a-f]+"));
  EXPECT_EQ(outcome.explanation,
            "  the first event that differs:\n"
            "    first    event 7           1.250 chief:0/main  hook a begin\n"
            "    second   event 7           1.250 chief:0/main  hook b begin\n");
}

TEST(PlayTwice, NamesACounterThatOutlivesThePlay) {
  int counter = 0;
  const auto play = [&](const Scenario& scenario, const RunnerOptions& options) {
    return PlayWorld(scenario, options, [&counter](const Env& env) {
      env.Emit({.kind = EventKind::kSessionCall, .has_value = true, .session = 1, .value = 1.0 * counter++});
    });
  };
  const Outcome outcome = PlayTwice(play, Scenario{.seed = 3});
  // The texts are the same: then all that the events hold.
  EXPECT_THAT(outcome.explanation,
              HasSubstr("\n    first    event 7           1.250 chief:0/main  session 1 create (code OK, "));
  EXPECT_THAT(outcome.explanation, HasSubstr(" value 0, "));
  EXPECT_THAT(outcome.explanation, HasSubstr(" value 1, "));
}

TEST(PlayTwice, NamesTheSideThatEndsFirst) {
  int left = 2;
  const auto play = [&](const Scenario& scenario, const RunnerOptions& options) {
    return PlayWorld(scenario, options, [&left](const Env& env) {
      for (int i = 0; i < left; ++i) Call(env, "a");
      --left;
    });
  };
  EXPECT_EQ(PlayTwice(play, Scenario{.seed = 3}).explanation,
            "  the first event that differs:\n"
            "    first    event 8           1.250 chief:0/main  hook a begin\n"
            "    second   ends after 7 events\n");
}

// Choices that read the same are the same: of a millisecond between the shortest and the longest start there are not
// five.
TEST(PlayTwice, AJobStartsAtTheTimeThatItsChoiceSays) {
  replays::Runner runner;
  const Play play = [&runner](const Scenario& scenario, const RunnerOptions& how) { return runner.Run(scenario, how); };
  Scenario scenario;
  sim::JobSpec& job = scenario.job.emplace();
  job.workload.last_step = 3;
  job.workload.least_boot = std::chrono::microseconds(2'000'400);
  job.workload.most_boot = std::chrono::microseconds(2'001'400);
  for (scenario.seed = 1; scenario.seed <= 10; ++scenario.seed)
    EXPECT_EQ(PlayTwice(play, scenario).explanation, "") << scenario.seed;
}

TEST(FirstDifference, NamesTheChoiceWhereEventsAreTheSame) {
  Outcome first;
  Outcome second;
  first.choices["p"] = {"x", "y"};
  second.choices["p"] = {"x", "z"};
  EXPECT_EQ(FirstDifference(first, second),
            "    all events are the same; choice 2 at p is not:\n    first    y\n    second   z\n");
  second.choices["p"] = {"x", "y"};
  EXPECT_THAT(FirstDifference(first, second), HasSubstr("between events"));
}

}  // namespace
}  // namespace vigil::properties
