#include "vigil/properties/planted/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/properties/planted/play_with_bug.h"
#include "vigil/properties/planted/switches.h"
#include "vigil/properties/shrink/crash_report.h"
#include "vigil/replays/crew/crew.h"
#include "vigil/replays/crew/packed.h"
#include "vigil/replays/play/runner.h"

namespace vigil::properties {
namespace {

using replays::Runner;

// Plays the seeds of one bug, in order but in several workers.
class Hunt {
 public:
  Hunt(const PlantedBug& bug, const PlantedOptions& options, const std::atomic<bool>& stop)
      : bug_(bug), options_(options), stop_(stop) {
    const bool job = bug.suite == PlantedSuite::kCluster;
    last_ = job ? options.seeds : options.scenarios;
    further_ = job ? options.further_seeds : options.further_scenarios;
  }

  PlantedFinding Run(const std::function<void()>& on_tick) {
    const std::uint64_t budget = last_;
    std::uint64_t next = 1;
    std::uint64_t noted = 1;  // results come in order
    replays::CrewCallbacks crew;
    crew.next = [&]() -> std::optional<std::string> {
      if (next > budget) return std::nullopt;
      return replays::Packed(next++);
    };
    crew.new_worker = [this](const replays::CrewView&) -> replays::CrewWorker {
      return [this, runner = std::make_shared<Runner>()](const std::string& seed) {
        return replays::Packed(PlayWithBug(*runner, ScenarioWithBug(bug_, replays::Unpacked<std::uint64_t>(seed))));
      };
    };
    crew.on_reply = [&](const std::string& reply) {
      Note(noted++, replays::Unpacked<ShownByBug>(reply));
      return true;
    };
    crew.on_crash = [&](const std::string&, std::uint64_t, const replays::Crash& crash) -> std::optional<std::string> {
      Note(noted++, {.rules = {crash.rule()}, .text = crash.Line()});
      return std::nullopt;
    };
    crew.on_tick = [&] {
      over_ = over_ || stop_;
      if (on_tick != nullptr) on_tick();
    };
    replays::RunCrew({.jobs = options_.jobs, .limits = LimitsOfOnePlay()}, crew, over_);
    return Result();
  }

 private:
  // In the order of the seeds.
  void Note(std::uint64_t seed, ShownByBug shown) {
    if (seed > last_) return;  // another worker was ahead
    if (shown.any()) {
      shown_.emplace(seed, std::move(shown));
      const std::uint64_t first = shown_.begin()->first;
      if (shown_.size() == 1) last_ = std::min(last_, first + std::max(first * options_.further_times, further_));
    }
    over_ = over_ || seed >= last_;
  }

  PlantedFinding Result() {
    PlantedFinding finding{.bug = &bug_};
    if (shown_.empty()) return finding;
    finding.first = shown_.begin()->first;
    finding.rules = shown_.begin()->second.rules;
    finding.text = shown_.begin()->second.text;
    const std::vector<std::string_view> expected = bug_.Rules();
    finding.as_expected =
        std::ranges::any_of(finding.rules, [&](const auto& rule) { return std::ranges::count(expected, rule) > 0; });
    bool without = false;  // the first rule, something else finds it
    for (const auto& [seed, shown] : shown_) {
      for (const std::string& rule : shown.rules) ++finding.found_by[rule];
      without = without || shown.rules.size() != 1 || shown.rules.front() != shown_.begin()->second.rules.front();
    }
    if (!without) finding.only_by = finding.rules;
    return finding;
  }

  const PlantedBug& bug_;
  const PlantedOptions& options_;
  const std::atomic<bool>& stop_;
  std::uint64_t further_ = 0;
  std::uint64_t last_ = 0;  // seed
  std::atomic<bool> over_{false};
  std::map<std::uint64_t, ShownByBug> shown_;  // by seed
};

absl::StatusOr<std::vector<const PlantedBug*>> Chosen(const std::vector<std::string>& ids) {
  std::set<std::string_view> wanted(ids.begin(), ids.end());
  std::vector<const PlantedBug*> bugs;
  for (const PlantedBug& bug : PlantedBugs()) {
    if (ids.empty() || wanted.erase(bug.id) > 0) bugs.push_back(&bug);
  }
  if (!ids.empty() && !wanted.empty()) {
    return UsageError(fmt::format("There is no planted bug '{}'. `vigil check --planted list` names them.",
                                  fmt::join(wanted, "' or '")));
  }
  return bugs;
}

// Of those that have one, from the least on.
template <typename Number>
std::vector<std::uint64_t> Sorted(const PlantedReport& report, const Number& number) {
  std::vector<std::uint64_t> numbers;
  for (const PlantedFinding& finding : report.findings) {
    if (const std::optional<std::uint64_t> one = number(finding)) numbers.push_back(*one);
  }
  std::ranges::sort(numbers);
  return numbers;
}

std::vector<std::uint64_t> Firsts(const PlantedReport& report) {
  return Sorted(report, [](const PlantedFinding& finding) {
    return finding.first > 0 ? std::optional(finding.first) : std::nullopt;
  });
}

std::vector<std::uint64_t> Sizes(const PlantedReport& report) {
  return Sorted(report, [](const PlantedFinding& finding) -> std::optional<std::uint64_t> {
    return finding.shrunk.has_value() ? std::optional(finding.shrunk->after) : std::nullopt;
  });
}

// The lower one of two in the middle.
std::uint64_t MedianOf(const std::vector<std::uint64_t>& sorted) {
  return sorted.empty() ? 0 : sorted[(sorted.size() - 1) / 2];
}

}  // namespace

#ifdef VIGIL_PLANTED_BUGS
bool PlantedBugsAreBuilt() { return true; }
PlantedBugScope::PlantedBugScope(std::string_view id) : known(TurnOnPlantedBug(id)) {}
PlantedBugScope::~PlantedBugScope() { TurnOffPlantedBugs(); }
#else
bool PlantedBugsAreBuilt() { return false; }
PlantedBugScope::PlantedBugScope(std::string_view) : known(false) {}
PlantedBugScope::~PlantedBugScope() = default;
#endif

absl::Status CheckPlantedBugsAreBuilt() {
  if (PlantedBugsAreBuilt()) return absl::OkStatus();
  return UsageError(
      "This build has no planted bugs: configure it with -DVIGIL_PLANTED_BUGS=ON (the preset dev has them: "
      "VIGIL_PRESET=dev ./vigil ...).");
}

std::uint64_t PlantedReport::missed() const {
  return static_cast<std::uint64_t>(std::ranges::count(findings, false, &PlantedFinding::as_expected));
}
std::uint64_t PlantedReport::Median() const { return MedianOf(Firsts(*this)); }
std::uint64_t PlantedReport::Worst() const {
  const std::vector<std::uint64_t> firsts = Firsts(*this);
  return firsts.empty() ? 0 : firsts.back();
}
std::uint64_t PlantedReport::MedianSize() const { return MedianOf(Sizes(*this)); }
std::uint64_t PlantedReport::WorstSize() const {
  const std::vector<std::uint64_t> sizes = Sizes(*this);
  return sizes.empty() ? 0 : sizes.back();
}
std::uint64_t PlantedReport::too_slow() const {
  return static_cast<std::uint64_t>(std::ranges::count_if(findings, [](const PlantedFinding& finding) {
    return finding.shrunk.has_value() && finding.shrunk->took > kLongestShrinkingOfABug;
  }));
}

absl::StatusOr<PlantedReport> RunPlanted(const PlantedOptions& options, const PlantedCallbacks& callbacks,
                                         const std::atomic<bool>& stop) {
  if (const absl::Status built = CheckPlantedBugsAreBuilt(); !built.ok()) return built;
  const absl::StatusOr<std::vector<const PlantedBug*>> bugs = Chosen(options.ids);
  if (!bugs.ok()) return bugs.status();
  if (options.suite.has_value() && options.now != nullptr)
    return UsageError("--suite: not with --shrink, which plays each bug in its own suite");
  PlantedReport report;
  for (const PlantedBug* const bug : *bugs) {
    if (stop) break;
    const PlantedBugScope on(bug->id);
    if (!on.known) return UsageError(fmt::format("The planted bug '{}' is in no source.", bug->id));
    PlantedBug played = *bug;
    played.suite = options.suite.value_or(bug->suite);
    PlantedFinding finding = Hunt(played, options, stop).Run(callbacks.on_tick);
    finding.bug = bug;
    if (stop && finding.first == 0) break;  // nobody knows
    if (options.now != nullptr && finding.first > 0) finding.shrunk = ShrinkFinding(finding, options.now, stop);
    if (callbacks.on_bug != nullptr) callbacks.on_bug(finding);
    report.findings.push_back(std::move(finding));
  }
  report.stopped = stop;
  return report;
}

}  // namespace vigil::properties
