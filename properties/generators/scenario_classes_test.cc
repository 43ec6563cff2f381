// Random scenarios have everything that a one-session scenario can have, often enough: a class that dries up fails
// here.
#include "vigil/properties/generators/scenario_classes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "vigil/properties/generators/scenarios.h"

namespace vigil::properties {
namespace {

constexpr int kScenarios = 20000;

// The least share of each class in percent; measured values are about twice as high.
constexpr std::pair<std::string_view, double> kLeastShares[] = {
    {"action coordinator_stop", 5.6},
    {"action feed", 2.3},
    {"action fetch", 2.4},
    {"action options", 2.4},
    {"action raise", 18.6},
    {"action read_step", 12.8},
    {"action report", 9.8},
    {"action request_stop", 12.0},
    {"action show", 4.0},
    {"action start_thread", 3.2},
    {"argument async_saves", 0.03},
    {"argument is_chief", 3.2},
    {"argument log_step_count_steps", 1.3},
    {"argument logdir", 3.3},
    {"argument max_wait_secs", 0.68},
    {"argument recovery_wait_secs", 1.5},
    {"argument save_checkpoint_secs", 0.76},
    {"argument save_checkpoint_steps", 1.8},
    {"argument save_model_secs", 0.72},
    {"argument save_summaries_secs", 1.2},
    {"argument save_summaries_steps", 1.2},
    {"argument stop_grace_period_secs", 3.6},
    {"argument stop_grace_secs", 0.92},
    {"argument stop_on_sigterm", 2.4},
    {"bare scope", 11.2},
    {"behaviour default", 10.1},
    {"behaviour switches", 2.0},
    {"behaviour tensorflow", 38.0},
    {"caught", 30.2},
    {"checkpoint directory", 14.4},
    {"checkpoint file", 2.4},
    {"chief that comes later", 3.2},
    {"damage", 2.8},
    {"device", 3.5},
    {"earlier checkpoints", 14.0},
    {"earlier checkpoints, fewer kept", 1.0},
    {"earlier events file", 2.0},
    {"fault close", 3.9},
    {"fault create", 8.6},
    {"fault enqueue", 0.56},
    {"fault final_ops", 0.66},
    {"fault in a run of a supervisor's caller", 2.3},
    {"fault init", 3.7},
    {"fault init_fn", 3.6},
    {"fault local_init", 3.8},
    {"fault queue_runners", 3.8},
    {"fault raw_run", 3.6},
    {"fault read_step", 4.5},
    {"fault ready", 3.8},
    {"fault ready_for_local_init", 3.8},
    {"fault restore", 3.8},
    {"fault run", 21.4},
    {"fault save", 1.9},
    {"fault sleep", 1.3},
    {"fault summary", 0.50},
    {"fault write", 0.70},
    {"final evaluation of what trains on an input that ends", 0.7},
    {"fed variable", 3.4},
    {"feed", 6.9},
    {"hook checkpoint_saver", 3.4},
    {"hook feed_fn", 1.8},
    {"hook final_ops", 1.8},
    {"hook global_step_waiter", 1.7},
    {"hook logging_tensor", 1.8},
    {"hook nan_tensor", 1.7},
    {"hook of the chief only", 1.1},
    {"hook probe", 40.9},
    {"hook profiler", 1.8},
    {"hook step_counter", 1.7},
    {"hook stop_at_step", 1.7},
    {"hook summary_saver", 3.3},
    {"hook that logs several tensors", 0.35},
    {"hook that waits for a step, and a signal", 0.6},
    {"hook that watches a step which stands still", 0.8},
    {"in after_create_session", 15.5},
    {"in after_run", 24.1},
    {"in before_run", 23.6},
    {"in begin", 1.3},
    {"in end", 11.8},
    {"init feed", 2.8},
    {"init_fn", 9.3},
    {"input that ends", 17.6},
    {"listener", 2.4},
    {"listener that acts", 1.4},
    {"local variable", 10.1},
    {"lost reply", 13.5},
    {"metadata", 1.9},
    {"nan", 3.1},
    {"nested fetch", 1.9},
    {"no faults", 11.6},
    {"no global step", 2.0},
    {"options of a run", 2.0},
    {"queue", 6.5},
    {"queue of a supervisor", 0.3},
    {"session monitored", 29.4},
    {"session singular", 9.7},
    {"session supervisor", 4.8},
    {"session training", 6.1},
    {"signal", 2.4},
    {"statement advance", 5.1},
    {"statement clock", 1.1},
    {"statement close", 11.1},
    {"statement guarded", 1.2},
    {"statement loop", 32.0},
    {"statement prepare", 0.78},
    {"statement raise", 8.5},
    {"statement raw_run", 3.8},
    {"statement request_stop", 4.9},
    {"statement run", 45.4},
    {"statement run_with_hooks", 7.7},
    {"statement service", 1.2},
    {"statement should_stop", 19.2},
    {"statement start_services", 0.23},
    {"statement start_thread", 1.2},
    {"statement step", 10.0},
    {"statement stop", 0.78},
    {"statement summary_computed", 1.2},
    {"step advanced by others", 2.3},
    {"summary", 8.1},
    {"supervisor by hand", 1.4},
    {"worker", 3.2},
};

// TensorFlow would wait for ever (varieties.cc).
TEST(ScenarioClassesTest, NoEndWaitsForAQueueWhoseRunnerMayNotHaveStarted) {
  int spared = 0;
  for (std::uint64_t seed = 1; seed <= kScenarios; ++seed) {
    const std::set<std::string> classes = ClassesOf(RandomScenario(seed));
    if (!classes.contains("queue") || !classes.contains("fault queue_runners") || !classes.contains("hook final_ops"))
      continue;
    EXPECT_TRUE(classes.contains("behaviour default")) << seed;
    ++spared;
  }
  EXPECT_GT(spared, 0);
}

std::map<std::string, int> CountClasses() {
  std::map<std::string, int> counts;
  for (std::uint64_t seed = 1; seed <= kScenarios; ++seed) {
    for (const std::string& name : ClassesOf(RandomScenario(seed))) ++counts[name];
  }
  return counts;
}

TEST(ScenarioClassesTest, NoneDriesUp) {
  const std::map<std::string, int> counts = CountClasses();
  for (const auto& [name, least] : kLeastShares) {
    const auto found = counts.find(std::string(name));
    const double share = found == counts.end() ? 0 : 100.0 * found->second / kScenarios;
    EXPECT_GE(share, least) << name;
  }
}

// A class that the generators begin to draw is to be asserted, too.
TEST(ScenarioClassesTest, EachHasItsShare) {
  std::set<std::string> asserted;
  for (const auto& [name, least] : kLeastShares) asserted.emplace(name);
  for (const auto& [name, count] : CountClasses())
    EXPECT_TRUE(asserted.contains(name)) << name << " " << 100.0 * count / kScenarios;
}

}  // namespace
}  // namespace vigil::properties
