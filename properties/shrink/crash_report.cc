#include "vigil/properties/shrink/crash_report.h"

#include <utility>
#include <variant>

#include "vigil/properties/judge/broken_rules.h"
#include "vigil/properties/shrink/shrink.h"
#include "vigil/replays/play/runner.h"
#include "vigil/sim/kernel/chooser.h"

namespace vigil::properties {
namespace {

using replays::Crash;
using replays::CrashBoard;
using replays::Runner;
using replays::Scenario;

std::optional<Crash> Crashed(const std::variant<std::string, Crash>& end) {
  if (const Crash* const crash = std::get_if<Crash>(&end); crash != nullptr && crash->what != "interrupted")
    return *crash;
  return std::nullopt;
}

// Under its choices; with a log under a schedule by chance, as campaigns play it, and its choices are noted there.
std::optional<Crash> PlayOnce(const Scenario& scenario, ChoiceLog* log, const std::function<bool()>& on_tick) {
  const auto play = [&](CrashBoard& board) {
    Runner runner;
    const auto once = [&] {
      sim::RandomChooser random(scenario.seed);
      std::optional<LoggedChooser> chooser;
      if (log != nullptr) chooser.emplace(random, *log);
      replays::Outcome outcome =
          runner.Run(scenario, {.random_schedule = log != nullptr, .chooser = log == nullptr ? nullptr : &*chooser});
      BrokenRulesIn(outcome, scenario);
    };
    once();
    log = nullptr;
    replays::DieIfItLeaks(board, once);
    return std::string();
  };
  return Crashed(replays::PlayApart(play, LimitsOfOnePlay(), on_tick));
}

}  // namespace

replays::PlayLimits LimitsOfOnePlay() {
  return {.cpu = std::chrono::milliseconds(4000), .memory = std::uint64_t{512} << 20};
}

std::optional<Crash> CrashOf(Scenario& scenario, bool drawn, const std::function<bool()>& on_tick) {
  std::optional<Crash> calm = PlayOnce(scenario, nullptr, on_tick);
  if (calm.has_value() || !drawn) return calm;  // what crashes without choices needs none
  ChoiceLog log;
  if (!PlayOnce(scenario, &log, on_tick).has_value()) return std::nullopt;
  scenario.choices = log.Choices();
  return PlayOnce(scenario, nullptr, on_tick);
}

std::optional<Crash> CrashBy(const Scenario& scenario, sim::Chooser& chooser, sim::Preempt preempt, ChoiceLog& log,
                             const std::function<bool()>& on_tick, sim::StepObserver* steps) {
  const auto play = [&](CrashBoard&) {
    LoggedChooser logged(chooser, log);
    Runner runner;
    replays::Outcome outcome = runner.Run(scenario, {.chooser = &logged, .steps = steps, .preempt = preempt});
    BrokenRulesIn(outcome, scenario);
    return std::string();
  };
  return Crashed(replays::PlayApart(play, LimitsOfOnePlay(), on_tick));
}

LeastCrash ShrinkCrash(const Scenario& crashing, bool drawn, bool shrink, const std::function<bool()>& stop) {
  const auto on_tick = [&stop] { return !stop || !stop(); };
  LeastCrash least{.scenario = crashing, .crash = std::nullopt, .before = Elements(crashing)};
  least.crash = CrashOf(least.scenario, drawn, on_tick);
  if (!least.crash.has_value() || !shrink || crashing.unit.has_value() || crashing.trace != nullptr) return least;
  const std::string signature = least.crash->Signature();
  const StillFails fails = [&](const Scenario& candidate) {
    const std::optional<Crash> crash = PlayOnce(candidate, nullptr, on_tick);
    return crash.has_value() && crash->Signature() == signature;
  };
  Shrunk shrunk = Shrink(least.scenario, fails, {.stop = stop});
  least.scenario = std::move(shrunk.scenario);
  least.plays = shrunk.plays;
  least.minimal = shrunk.minimal;
  least.shrunk = true;
  return least;
}

}  // namespace vigil::properties
