#include "vigil/properties/campaign/merge_states.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"

namespace vigil::properties {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kVersion[] = "1.2.3";

// A campaign in which every third seed fails, by one of four rules in turn; each pair is reached by its seed first.
ShardState Played(std::uint64_t first, std::uint64_t asked_last, std::uint64_t last) {
  ShardState state;
  state.key.version = kVersion;
  SuiteState& suite = state.suites["random"];
  suite.asked = {first, asked_last};
  suite.count.seeds = {first, last};
  std::map<std::string, int> of_rule;
  int told = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    suite.traces.insert(seed % 7);
    suite.reached.try_emplace(seed / 10, seed);
    ++suite.tally.scenarios;
    if (seed % 3 != 0) {
      ++suite.count.passed;
      continue;
    }
    ++suite.count.failed;
    const std::string id = fmt::format("random_{}", seed);
    if (suite.first_failed.size() < kMostFirstFailed) suite.first_failed.emplace(seed, id);
    const std::string rule = fmt::format("rule.{}", seed / 3 % 4);
    if (++of_rule[rule] > static_cast<int>(kFullFailures) || ++told > static_cast<int>(kMostFullFailures)) continue;
    ToldFailure failure;
    failure.seed = seed;
    failure.failure = {.suite = "random", .id = id, .rule = rule, .text = "FAILED " + id + "\n", .file = ""};
    failure.failure.story = fmt::format("run {} fails with {}", seed, seed % 2 == 0 ? "ABORTED" : "UNAVAILABLE");
    if (seed % 2 == 0) failure.failure.play_limit = "9s";
    suite.told.emplace(seed, failure);
  }
  return state;
}

std::string Show(const CampaignReport& report) {
  std::string text;
  for (const auto& [name, count] : report.summary.suites) {
    text += fmt::format("{}: {} passed, {} failed, {} untold\n", name, count.passed, count.failed, count.untold_count);
    for (const std::string& id : count.untold) text += id + " ";
  }
  for (const auto& [name, reach] : report.reach) {
    text += fmt::format("\n{} traces, {} pairs, {} new", reach.traces, reach.pairs, reach.new_in_second_half);
    for (const auto& [seeds, pairs] : reach.curve) text += fmt::format(" {}:{}", seeds, pairs);
  }
  for (const CampaignFinding& finding : report.findings) {
    text += fmt::format("\n{} | {} | {}", finding.rule, finding.shape, finding.failure.id);
    for (const std::string& other : finding.others) text += " " + other;
  }
  for (const MissingSeeds& missing : report.missing)
    text += fmt::format("\nmissing {}..{} {}", missing.seeds.first, missing.seeds.second, missing.path);
  return text + "\n";
}

std::string Merged(std::vector<NamedState> states, const std::map<std::string, SeedRange>& planned = {}) {
  const absl::StatusOr<CampaignReport> report = MergeStates(std::move(states), planned);
  return report.ok() ? Show(*report) : std::string(MessageOf(report.status()));
}

TEST(MergeStatesTest, IsTheSameForEveryCut) {
  const std::string whole = Merged({{"whole", Played(1, 300, 300)}});
  EXPECT_THAT(whole, HasSubstr("random: 200 passed, 100 failed, 80 untold\n"));
  EXPECT_THAT(whole, HasSubstr("rule.1 | run # fails with UNAVAILABLE | random_3 "));
  for (const std::uint64_t size : {1, 7, 37, 100, 150, 299}) {
    std::vector<NamedState> states;
    for (std::uint64_t first = 1; first <= 300; first += size) {
      const std::uint64_t last = std::min<std::uint64_t>(300, first + size - 1);
      states.push_back({fmt::format("{}", first), Played(first, last, last)});
    }
    EXPECT_EQ(Merged(states), whole) << size;
    std::ranges::reverse(states);
    EXPECT_EQ(Merged(states), whole) << size;
    // Some twice, and one that was interrupted besides.
    states.push_back({"twice", states.front().state});
    const auto [first, last] = states.back().state.suites["random"].asked;
    states.push_back({"half", Played(first, last, first + (last - first) / 2)});
    EXPECT_EQ(Merged(states), whole) << size;
  }
}

TEST(MergeStatesTest, NamesWhatIsMissing) {
  EXPECT_THAT(Merged({{"a", Played(1, 10, 6)}, {"b", Played(15, 20, 20)}}, {{"random", {1, 30}}}),
              HasSubstr("\nmissing 7..14 a\nmissing 21..30 \n"));
  ShardState nothing = Played(1, 10, 6);
  nothing.suites["random"] = {.asked = {1, 10}};
  EXPECT_THAT(Merged({{"a", nothing}}), HasSubstr("\nmissing 1..10 \n"));
}

TEST(MergeStatesTest, RefusesWhatWouldCountTwice) {
  EXPECT_THAT(Merged({{"a", Played(1, 10, 10)}, {"b", Played(8, 20, 20)}}),
              HasSubstr("'a' and 'b' both hold a part of the other's seeds (random 1..10 and 8..20)"));
  ShardState other = Played(1, 10, 10);
  other.suites["random"].traces.insert(99);
  EXPECT_THAT(Merged({{"a", Played(1, 10, 10)}, {"b", other}}), HasSubstr("say different things of the same seeds"));
  other = Played(11, 20, 20);
  other.key.plant = "x";
  EXPECT_THAT(Merged({{"a", Played(1, 10, 10)}, {"b", other}}), HasSubstr("different campaigns: --plant '' and 'x'"));
  EXPECT_THAT(Merged({}), HasSubstr("there is no state"));
}

TEST(ShardStateTest, ComesBackFromItsFile) {
  ShardState state = Played(5, 400, 311);
  state.key.plant = "a \"bug\"\n";
  SuiteState& cluster = state.suites["cluster"];
  cluster.asked = {0, 7};
  cluster.count.not_played["why: not"] = 3;
  cluster.cluster.faults["crash"] = {1, 2, 3, 4};
  cluster.cluster.hash = ~std::uint64_t{0};
  cluster.cluster.effective_faults[4] = 9;
  const std::string text = PrintShardState(state);
  const absl::StatusOr<ShardState> again = ParseShardState(text, kVersion);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(PrintShardState(*again), text);
  EXPECT_EQ(again->suites.at("random").next(), 312U);
  EXPECT_EQ(again->suites.at("cluster").next(), 0U);
}

TEST(ShardStateTest, TheLastSeedThereIs) {
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
  ShardState state = Played(1, 9, 9);
  SuiteState& suite = state.suites["random"];
  for (const auto& [first, last] : {SeedRange(kLast - 5, kLast), {kLast, kLast}, {0, kLast - 1}}) {
    suite.asked = {first, kLast};
    suite.count.seeds = {first, last};
    const absl::StatusOr<ShardState> again = ParseShardState(PrintShardState(state), kVersion);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->suites.at("random").count.seeds, SeedRange(first, last));
    EXPECT_EQ(again->suites.at("random").complete(), last == kLast);
  }
  suite.asked = suite.count.seeds.emplace(kLast - 5, kLast);
  EXPECT_THAT(Merged({{"a", state}}), Not(HasSubstr("missing")));
  suite.asked = suite.count.seeds.emplace(kLast - 5, kLast - 1);
  EXPECT_THAT(Merged({{"a", state}}, {{"random", {kLast - 5, kLast}}}),
              HasSubstr(fmt::format("\nmissing {0}..{0} ", kLast)));
}

// Of whatever is cut off or changed nothing is taken for a state.
TEST(ShardStateTest, RefusesEveryDamage) {
  const std::string text = PrintShardState(Played(1, 40, 33));
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(ParseShardState(text.substr(0, size), kVersion).ok()) << size;
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(ParseShardState(changed, kVersion).ok()) << at;
  }
  EXPECT_THAT(MessageOf(ParseShardState(text, "9.9.9").status()),
              HasSubstr("it was kept by vigil 1.2.3, this is 9.9.9: results of different versions do not add up"));
}

}  // namespace
}  // namespace vigil::properties
