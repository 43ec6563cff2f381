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
std::optional<Crash> PlayOnce(const Scenario& scenario, ChoiceLog* log, const CrashToShrink& how,
                              const std::function<bool()>& on_tick) {
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
    if (how.rule == "crash.leak") replays::DieIfItLeaks(board, once);
    return std::string();
  };
  return Crashed(replays::PlayApart(play, how.limits, on_tick));
}

std::optional<Crash> CrashAlone(Scenario& scenario, const CrashToShrink& how, const std::function<bool()>& on_tick) {
  std::optional<Crash> calm = PlayOnce(scenario, nullptr, how, on_tick);
  if (!how.drawn || (calm.has_value() && calm->rule() == how.rule)) return calm;  // that needs no choices
  ChoiceLog log;
  if (!PlayOnce(scenario, &log, how, on_tick).has_value()) return calm;
  scenario.choices = log.Choices();
  return PlayOnce(scenario, nullptr, how, on_tick);
}

}  // namespace

replays::PlayLimits LimitsOfOnePlay() {
  return {.cpu = std::chrono::milliseconds(4000), .memory = std::uint64_t{512} << 20};
}

bool TakesTooMuch(std::string_view rule) { return rule == "crash.timeout" || rule == "crash.memory"; }

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

LeastCrash ShrinkCrash(const Scenario& crashing, const CrashToShrink& how, const std::function<bool()>& stop) {
  const auto on_tick = [&stop] { return !stop || !stop(); };
  LeastCrash least{.scenario = crashing, .crash = std::nullopt, .before = Elements(crashing)};
  least.crash = CrashAlone(least.scenario, how, on_tick);
  const bool again = least.crash.has_value() && least.crash->rule() == how.rule;
  if (!again || !how.shrink || crashing.unit.has_value() || crashing.trace != nullptr) return least;
  const std::string signature = least.crash->Signature();
  const StillFails fails = [&](const Scenario& candidate) {
    const std::optional<Crash> crash = PlayOnce(candidate, nullptr, how, on_tick);
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
