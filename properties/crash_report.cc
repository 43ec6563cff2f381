#include "vigil/properties/crash_report.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <utility>
#include <variant>

#include "vigil/core/base/check.h"
#include "vigil/properties/broken.h"
#include "vigil/properties/shrink.h"
#include "vigil/replays/runner.h"
#include "vigil/sim/chooser.h"

namespace vigil::properties {
namespace {

using replays::Crash;
using replays::CrashBoard;
using replays::Runner;
using replays::RunnerOptions;
using replays::Scenario;

constexpr std::size_t kMostLogged = std::size_t{16} << 20;  // bytes of choices

// The choices of a play that may not come to its end: each is written down, where the parent sees it, before it takes effect.
class ChoiceLog {
 public:
  ChoiceLog() {
    void* const memory =
        mmap(nullptr, kMostLogged, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    VIGIL_CHECK(memory != MAP_FAILED);
    text_ = static_cast<char*>(memory);
    used_ = new (memory) std::atomic<std::size_t>(sizeof(std::atomic<std::size_t>));
  }
  ~ChoiceLog() { munmap(text_, kMostLogged); }
  ChoiceLog(const ChoiceLog&) = delete;
  ChoiceLog& operator=(const ChoiceLog&) = delete;

  void Add(std::string_view key, std::string_view label) {
    const std::size_t size = key.size() + label.size() + 2;
    if (*used_ + size > kMostLogged) return;
    char* to = text_ + *used_;
    std::memcpy(to, key.data(), key.size());
    std::memcpy(to + key.size() + 1, label.data(), label.size());  // zeros stand between them
    *used_ += size;
  }
  sim::ChoiceMap Choices() const {
    sim::ChoiceMap choices;
    for (std::size_t at = sizeof(std::atomic<std::size_t>); at < *used_;) {
      const std::string key(text_ + at);
      at += key.size() + 1;
      const std::string label(text_ + at);
      at += label.size() + 1;
      choices[key].push_back(label);
    }
    return choices;
  }

 private:
  char* text_ = nullptr;
  std::atomic<std::size_t>* used_ = nullptr;
};

class LoggingChooser final : public sim::Chooser {
 public:
  LoggingChooser(std::uint64_t seed, ChoiceLog& log) : random_(seed), log_(log) {}
  std::size_t Choose(const sim::ChoicePoint& point, std::span<const std::string_view> labels) override {
    const std::size_t chosen = random_.Choose(point, labels);
    log_.Add(point.key, labels[chosen]);
    return chosen;
  }

 private:
  sim::RandomChooser random_;
  ChoiceLog& log_;
};

std::optional<Crash> PlayOnce(const Scenario& scenario, ChoiceLog* log, const std::function<bool()>& on_tick) {
  const auto play = [&](CrashBoard& board) {
    Runner runner;
    const auto once = [&] {
      std::optional<LoggingChooser> chooser;
      if (log != nullptr) chooser.emplace(scenario.seed, *log);
      replays::Outcome outcome = runner.Run(scenario, {.chooser = log == nullptr ? nullptr : &*chooser});
      BrokenIn(outcome, scenario);
    };
    once();
    log = nullptr;
    replays::DieIfItLeaks(board, once);
    return std::string();
  };
  const std::variant<std::string, Crash> end = replays::PlayApart(play, LimitsOfOnePlay(), on_tick);
  if (const Crash* const crash = std::get_if<Crash>(&end); crash != nullptr && crash->what != "interrupted")
    return *crash;
  return std::nullopt;
}

}  // namespace

replays::PlayLimits LimitsOfOnePlay() {
  return {.cpu = std::chrono::milliseconds(2000), .memory = std::uint64_t{512} << 20};
}

std::optional<Crash> CrashOf(Scenario& scenario, bool drawn, const std::function<bool()>& on_tick) {
  std::optional<Crash> calm = PlayOnce(scenario, nullptr, on_tick);
  if (calm.has_value() || !drawn) return calm;  // what crashes without choices needs none
  ChoiceLog log;
  if (!PlayOnce(scenario, &log, on_tick).has_value()) return std::nullopt;
  scenario.choices = log.Choices();
  return PlayOnce(scenario, nullptr, on_tick);
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
