#include "vigil/properties/explore/scenario_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/replays/stage/environment.h"

namespace vigil::properties {
namespace {

constexpr std::array kExploredKinds = {replays::SessionKind::kMonitored, replays::SessionKind::kSingular};
constexpr std::array kExploredCodes = {Code::kAborted, Code::kUnavailable, Code::kOutOfRange, Code::kInternal};
constexpr std::uint64_t kMostScenarios = std::uint64_t{1} << 53;  // numbers are exact in JSON

void AddSites(std::vector<FaultSite>& sites, FaultSite site, std::int64_t calls) {
  for (site.call = 1; site.call <= calls; ++site.call) sites.push_back(site);
}

// How many ways there are to choose `k` of `n`; kMostScenarios if there are more.
std::uint64_t Binomial(std::uint64_t n, std::uint64_t k) {
  std::uint64_t ways = 1;
  for (std::uint64_t i = 0; i < k; ++i) {
    if (n <= i) return 0;
    if (ways > kMostScenarios / (n - i)) return kMostScenarios;
    ways = ways * (n - i) / (i + 1);
  }
  return ways;
}

std::uint64_t Times(std::uint64_t a, std::uint64_t b) {
  return a != 0 && b > kMostScenarios / a ? kMostScenarios : a * b;
}

replays::PlanEntry EntryAt(const FaultSite& site) {
  replays::PlanEntry entry;
  entry.method = HookMethodName(site.method);
  entry.calls = {site.call};
  return entry;
}

}  // namespace

ScenarioSpace::ScenarioSpace(const ExploreScope& scope) : scope_(scope) {
  for (int hook = 0; hook < scope.hooks; ++hook) {
    for (const auto& [method, calls] : {std::pair(HookMethod::kBegin, 1),
                                        {HookMethod::kAfterCreateSession, 2},
                                        {HookMethod::kBeforeRun, scope.runs},
                                        {HookMethod::kAfterRun, scope.runs},
                                        {HookMethod::kEnd, 1}}) {
      AddSites(sites_, {.hook = hook, .method = method}, calls);
      const bool stops = method == HookMethod::kBeforeRun || method == HookMethod::kAfterRun;
      if (stops) AddSites(stops_, {.hook = hook, .method = method}, calls);
    }
  }
  for (const auto& [kind, calls] : {std::pair(CallKind::kCreate, 2),
                                    {CallKind::kInit, 2},
                                    {CallKind::kLocalInit, 1},
                                    {CallKind::kReady, 1},
                                    {CallKind::kRun, scope.runs},
                                    {CallKind::kClose, 1}}) {
    AddSites(sites_, {.kind = kind}, calls);
  }
  std::uint64_t codes = 1;
  for (int k = 0; k <= scope.faults; ++k) {
    sets_.push_back(Times(Binomial(sites_.size(), static_cast<std::uint64_t>(k)), codes));
    all_sets_ = std::min(kMostScenarios, all_sets_ + sets_.back());
    codes = Times(codes, kExploredCodes.size());
  }
  size_ = Times(Times(kExploredKinds.size(), stops_.size() + 1), all_sets_);
}

absl::StatusOr<ScenarioSpace> ScenarioSpace::Create(const ExploreScope& scope) {
  if (scope.hooks < 0 || scope.hooks > kMostHooks)
    return UsageError(fmt::format("The number of hooks is between 0 and {}.", kMostHooks));
  if (scope.runs < 0 || scope.runs > kMostRuns)
    return UsageError(fmt::format("The number of runs is between 0 and {}.", kMostRuns));
  if (scope.faults < 0) return UsageError("The number of faults cannot be negative.");
  ScenarioSpace space(scope);
  if (space.size_ >= kMostScenarios)
    return UsageError("There are too many scenarios in this scope to number them. Use fewer faults, hooks or runs.");
  return space;
}

std::string Grouped(std::uint64_t number) {
  std::string text = fmt::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string ScenarioSpace::Formula() const {
  std::string sets;
  for (const std::uint64_t count : sets_) sets += (sets.empty() ? "" : " + ") + Grouped(count);
  return fmt::format("{} kinds x {} stop requests x ({}) sets of faults = {} scenarios", kExploredKinds.size(),
                     Grouped(stops_.size() + 1), sets, Grouped(size_));
}

ScenarioSpace::Choice ScenarioSpace::At(std::uint64_t number) const {
  VIGIL_CHECK(number < size_);
  Choice choice;
  const std::uint64_t per_kind = size_ / kExploredKinds.size();
  choice.kind = kExploredKinds[number / per_kind];
  number %= per_kind;
  if (const std::uint64_t stop = number / all_sets_; stop > 0) choice.stop = {stops_[stop - 1]};
  number %= all_sets_;
  std::size_t count = 0;
  while (number >= sets_[count]) number -= sets_[count++];
  // The codes are the low digits, the set of sites the rest: in order, by their first site, then by their second, ...
  std::vector<Code> codes(count);
  for (Code& code : codes) {
    code = kExploredCodes[number % kExploredCodes.size()];
    number /= kExploredCodes.size();
  }
  std::size_t site = 0;
  for (std::size_t i = 0; i < count; ++i, ++site) {
    for (;; ++site) {
      const std::uint64_t with_this = Binomial(sites_.size() - site - 1, count - i - 1);
      if (number < with_this) break;
      number -= with_this;
    }
    choice.faults.push_back({sites_[site], codes[i]});
  }
  return choice;
}

void ScenarioSpace::Fill(std::uint64_t number, const Choice& choice, replays::Scenario& scenario) const {
  if (scenario.drive.empty()) {
    replays::Statement loop{.op = replays::Op::kLoop, .max = scope_.runs, .body = {replays::Statement()}};
    scenario.drive.push_back(std::move(loop));
    for (int hook = 0; hook < scope_.hooks; ++hook)
      scenario.hooks.push_back({.hook = "probe", .name = std::string(1, static_cast<char>('a' + hook))});
  }
  scenario.id = fmt::format("explore_{}_{}_{}_{}", scope_.hooks, scope_.runs, scope_.faults, number);
  scenario.session.kind = choice.kind;
  scenario.faults.clear();
  for (replays::HookSpec& hook : scenario.hooks) hook.plan.clear();
  for (const FaultSite& stop : choice.stop) {
    replays::PlanEntry& entry = scenario.hooks[static_cast<std::size_t>(stop.hook)].plan.emplace_back(EntryAt(stop));
    entry.action = replays::Action::kRequestStop;
  }
  for (const auto& [site, code] : choice.faults) {
    if (site.hook >= 0) {
      scenario.hooks[static_cast<std::size_t>(site.hook)].plan.emplace_back(EntryAt(site)).code = code;
    } else {
      scenario.faults.push_back({.at = replays::FaultPointOf(site.kind), .calls = {site.call}, .code = code});
    }
  }
}

replays::Scenario ScenarioSpace::ScenarioAt(std::uint64_t number) const {
  replays::Scenario scenario;
  Fill(number, At(number), scenario);
  return scenario;
}

}  // namespace vigil::properties
