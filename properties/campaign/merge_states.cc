#include "vigil/properties/campaign/merge_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <tuple>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/properties/campaign/suites.h"
#include "vigil/replays/format/escape.h"

namespace vigil::properties {
namespace {

// What one file says of one suite.
struct ShardPart {
  const std::string* path;
  const SuiteState* suite;

  SeedRange played() const { return suite->count.seeds.value_or(SeedRange{suite->asked.first, suite->asked.first}); }
  bool is_empty() const { return !suite->count.seeds.has_value(); }
};

absl::Status CheckOneCampaign(const std::vector<NamedState>& states) {
  if (states.empty()) return UsageError("there is no state of a shard");
  for (const NamedState& other : states) {
    if (other.state.key == states.front().state.key) continue;
    const CampaignKey& one = states.front().state.key;
    const CampaignKey& two = other.state.key;
    const bool plant = one.plant != two.plant;
    return UsageError(fmt::format("{} and {} are of different campaigns: {} '{}' and '{}'; merge each by itself",
                                  replays::Quoted(states.front().path), replays::Quoted(other.path),
                                  plant ? "--plant" : "--player", replays::Escaped(plant ? one.plant : one.player),
                                  replays::Escaped(plant ? two.plant : two.player)));
  }
  return absl::OkStatus();
}

// In the order of the seeds, without those all of whose seeds another one holds.
absl::StatusOr<std::vector<ShardPart>> PartsOf(std::string_view name, const std::vector<NamedState>& states) {
  std::vector<ShardPart> parts;
  for (const NamedState& state : states) {
    const auto found = state.state.suites.find(std::string(name));
    if (found == state.state.suites.end()) continue;
    const ShardPart part{&state.path, &found->second};
    if (!part.is_empty()) parts.push_back(part);
  }
  // Of several that begin at one seed the longest first; of equal ones the first by name.
  std::ranges::sort(parts, [](const ShardPart& a, const ShardPart& b) {
    return std::tuple(a.played().first, b.played().second, *a.path) <
           std::tuple(b.played().first, a.played().second, *b.path);
  });
  std::vector<ShardPart> needed;
  for (const ShardPart& part : parts) {
    if (needed.empty() || part.played().first > needed.back().played().second) {
      needed.push_back(part);
      continue;
    }
    const ShardPart& last = needed.back();
    if (part.played().second > last.played().second) {
      return UsageError(fmt::format(
          "{} and {} both hold a part of the other's seeds ({} {}..{} and {}..{}), which would count twice; "
          "leave one out, and play what is missing then",
          replays::Quoted(*last.path), replays::Quoted(*part.path), name, last.played().first, last.played().second,
          part.played().first, part.played().second));
    }
    if (part.played() != last.played()) continue;
    const SuiteCount& one = part.suite->count;
    const SuiteCount& two = last.suite->count;
    if (one.passed == two.passed && one.failed == two.failed && part.suite->traces == last.suite->traces) continue;
    return UsageError(fmt::format(
        "{} and {} say different things of the same seeds, {} {}..{}: a machine or a build that does not repeat a "
        "seed; "
        "play them again and leave the wrong one out",
        replays::Quoted(*last.path), replays::Quoted(*part.path), name, part.played().first, part.played().second));
  }
  return needed;
}

void AddCurve(const std::map<std::uint64_t, std::uint64_t>& reached, const SeedRange& seeds, SuiteReach& reach) {
  std::vector<std::uint64_t> firsts;  // seeds, counted from 0
  for (const auto& [pair, seed] : reached) firsts.push_back(seed - seeds.first);
  std::ranges::sort(firsts);
  const std::uint64_t all = seeds.second - seeds.first + 1;
  const auto within = [&firsts](std::uint64_t count) {
    return static_cast<std::uint64_t>(std::ranges::lower_bound(firsts, count) - firsts.begin());
  };
  reach.pairs = firsts.size();
  for (std::uint64_t count = 1; count < all; count *= 2) {
    reach.curve.emplace_back(count, within(count));
    if (count > all / 2) break;
  }
  reach.curve.emplace_back(all, reach.pairs);
  reach.new_in_second_half = reach.pairs - within(all - all / 2);
}

void FindMissing(std::string_view name, const std::vector<ShardPart>& parts, const SeedRange& whole,
                 std::vector<MissingSeeds>& missing) {
  std::uint64_t next = whole.first;
  std::string before;
  for (const ShardPart& part : parts) {
    if (part.played().first > next) missing.push_back({std::string(name), {next, part.played().first - 1}, before});
    if (part.played().second >= whole.second) return;  // after 2^64 - 1 there is none
    next = part.played().second + 1;
    before = part.suite->complete() ? "" : *part.path;
  }
  missing.push_back({std::string(name), {next, whole.second}, before});
}

class Merger {
 public:
  Merger(const std::vector<NamedState>& states, const std::map<std::string, SeedRange>& planned)
      : states_(states), planned_(planned) {}

  absl::StatusOr<CampaignReport> Merge() {
    VIGIL_RETURN_IF_ERROR(CheckOneCampaign(states_));
    report_.key = states_.front().state.key;
    for (const NamedState& state : states_) unneeded_[state.path] = true;
    for (const SuiteInfo& suite : kSuites) {
      if (suite.is_drawn) VIGIL_RETURN_IF_ERROR(MergeSuite(suite.name));
    }
    for (const auto& [path, is] : unneeded_) {
      if (is) report_.unneeded.push_back(path);
    }
    TellFailures();
    const auto played = [this](const SuiteInfo& suite) {
      return report_.summary.suites.contains(std::string(suite.name));
    };
    const bool random = played(suites::kRandom) && report_.key.player.empty();
    FindIncomplete(report_.summary, random, played(suites::kCluster));
    return std::move(report_);
  }

 private:
  absl::Status MergeSuite(std::string_view name) {
    VIGIL_ASSIGN_OR_RETURN(const std::vector<ShardPart> parts, PartsOf(name, states_));
    const std::optional<SeedRange> whole = WholeOf(std::string(name));
    if (!whole.has_value()) return absl::OkStatus();
    SuiteCount& count = report_.summary.suites[std::string(name)];
    std::set<std::uint64_t> traces;
    std::map<std::uint64_t, std::uint64_t> reached;
    for (const ShardPart& part : parts) {
      unneeded_[*part.path] = false;
      const SuiteState& suite = *part.suite;
      AddSuiteCount(count, suite.count);
      report_.summary.tally.Add(suite.tally);
      report_.summary.cluster.Add(suite.cluster);
      traces.insert(suite.traces.begin(), suite.traces.end());
      for (const auto& [pair, seed] : suite.reached) {
        std::uint64_t& first = reached.try_emplace(pair, seed).first->second;
        first = std::min(first, seed);
      }
      for (const auto& [seed, id] : suite.first_failed) failed_[std::string(name)].emplace(seed, id);
      for (const auto& [seed, told] : suite.told) told_[std::string(name)].emplace(seed, &told);
    }
    count.given_up = false;  // what was not played is missing
    SuiteReach& reach = report_.reach[std::string(name)];
    reach.traces = traces.size();
    if (count.seeds.has_value()) AddCurve(reached, *count.seeds, reach);
    FindMissing(name, parts, *whole, report_.missing);
    return absl::OkStatus();
  }

  // Nothing: nobody was to play it.
  std::optional<SeedRange> WholeOf(const std::string& name) const {
    std::optional<SeedRange> whole;
    const auto widen = [&whole](const SeedRange& seeds) {
      whole = whole.has_value() ? SeedRange(std::min(whole->first, seeds.first), std::max(whole->second, seeds.second))
                                : seeds;
    };
    if (const auto found = planned_.find(name); found != planned_.end()) widen(found->second);
    for (const NamedState& state : states_) {
      const auto found = state.state.suites.find(name);
      if (found != state.state.suites.end()) widen(found->second.asked);
    }
    return whole;
  }

  // As a campaign in one piece would.
  void TellFailures() {
    std::map<std::string, std::uint64_t> of_rule;
    std::size_t all = 0;
    std::map<std::pair<std::string, std::string>, CampaignFinding> findings;  // by rule and shape
    for (const SuiteInfo& suite : kSuites) {
      const std::string name(suite.name);
      std::set<std::uint64_t> chosen;
      for (const auto& [seed, told] : told_[name]) {
        const CheckFailure& failure = told->failure;
        if (++of_rule[failure.rule] > kFullFailures || ++all > kMostFullFailures) continue;
        chosen.insert(seed);
        const std::string shape = ShapeOf(failure.story);
        const auto [found, is_new] = findings.try_emplace({failure.rule, shape});
        if (is_new) {
          found->second = {failure.rule, shape, failure, {}};
        } else {
          found->second.others.push_back(failure.id);
        }
      }
      if (report_.summary.suites.contains(name)) LeaveUntold(name, chosen);
    }
    for (auto& [key, finding] : findings) report_.findings.push_back(std::move(finding));
  }

  void LeaveUntold(const std::string& name, const std::set<std::uint64_t>& chosen) {
    SuiteCount& count = report_.summary.suites[name];
    count.untold.clear();
    count.untold_count = count.failed - chosen.size();
    for (const auto& [seed, id] : failed_[name]) {
      if (!chosen.contains(seed) && count.untold.size() < kMostUntold) count.untold.push_back(id);
    }
  }

  const std::vector<NamedState>& states_;
  const std::map<std::string, SeedRange>& planned_;
  CampaignReport report_;
  std::map<std::string, bool> unneeded_;                                     // by path
  std::map<std::string, std::map<std::uint64_t, std::string>> failed_;       // by suite and seed: ids
  std::map<std::string, std::map<std::uint64_t, const ToldFailure*>> told_;  // by suite and seed
};

}  // namespace

absl::StatusOr<CampaignReport> MergeStates(std::vector<NamedState> states,
                                           const std::map<std::string, SeedRange>& planned) {
  return Merger(states, planned).Merge();
}

std::string ShapeOf(const std::string& story) {
  std::string shape;
  for (const char c : story) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) {
      shape += c;
    } else if (!shape.ends_with('#')) {
      shape += '#';
    }
  }
  return shape;
}

}  // namespace vigil::properties
