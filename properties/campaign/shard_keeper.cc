#include "vigil/properties/campaign/shard_keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/replays/format/escape.h"

namespace vigil::properties {
namespace {

// The first time soon, then seldom: a state grows with what was played.
constexpr Duration kKeepShardFirst = std::chrono::seconds(1);
constexpr Duration kKeepShardEvery = std::chrono::seconds(8);

absl::Status CheckSameShard(const ShardState& kept, const ShardState& asked) {
  const auto differs = [](std::string_view what, std::string_view is, std::string_view wanted) {
    return UsageError(fmt::format("it was kept with {} '{}', not '{}'; name another file, or the same options", what,
                                  replays::Escaped(is), replays::Escaped(wanted)));
  };
  if (kept.key.plant != asked.key.plant) return differs("--plant", kept.key.plant, asked.key.plant);
  if (kept.key.player != asked.key.player) return differs("--player", kept.key.player, asked.key.player);
  const auto text = [](const ShardState& state) {
    std::string all;
    for (const auto& [name, suite] : state.suites)
      all += fmt::format("{}{} {}..{}", all.empty() ? "" : ", ", name, suite.asked.first, suite.asked.second);
    return all;
  };
  if (text(kept) != text(asked)) return differs("the seeds", text(kept), text(asked));
  return absl::OkStatus();
}

}  // namespace

ShardKeeper::ShardKeeper(Files& files, std::string path, ShardState state)
    : files_(&files), path_(std::move(path)), state_(std::move(state)), keep_every_(kKeepShardFirst) {
  for (auto& [name, suite] : state_.suites) {
    first_[name] = suite.next();
    suite.count.given_up = false;  // it is tried again
  }
}

absl::StatusOr<ShardKeeper> ShardKeeper::Open(Files& files, std::string path, ShardState asked) {
  const auto named = [&path](const absl::Status& status) {
    return WithMessage(status,
                       fmt::format("the state file {} cannot be used: {}", replays::Quoted(path), MessageOf(status)));
  };
  absl::StatusOr<std::string> text = ReadAll(files, path);
  if (CodeOf(text.status()) == Code::kNotFound) return ShardKeeper(files, std::move(path), std::move(asked));
  if (!text.ok()) return named(text.status());
  absl::StatusOr<ShardState> kept = ParseShardState(*text, asked.key.version);
  if (!kept.ok()) return named(kept.status());
  if (const absl::Status same = CheckSameShard(*kept, asked); !same.ok()) return named(same);
  return ShardKeeper(files, std::move(path), *std::move(kept));
}

std::uint64_t ShardKeeper::FirstSeed(std::string_view suite) const { return first_.find(suite)->second; }

void ShardKeeper::Add(std::string_view suite, std::uint64_t seed, const std::string& id, const SuiteCount& one,
                      const std::optional<Tally>& tally, const std::optional<ClusterTally>& cluster,
                      const std::optional<ReachedByPlay>& reached) {
  SuiteState& state = state_.suites.find(std::string(suite))->second;
  AddSuiteCount(state.count, one);
  state.count.seeds = {state.asked.first, seed};
  if (tally.has_value()) state.tally.Add(*tally);
  if (cluster.has_value()) state.cluster.Add(*cluster);
  if (one.failed > 0 && state.first_failed.size() < kMostFirstFailed) state.first_failed.emplace(seed, id);
  if (!reached.has_value()) return;
  state.traces.insert(reached->trace);
  for (const std::uint64_t pair : reached->pairs) state.reached.try_emplace(pair, seed);
}

void ShardKeeper::Tell(std::string_view suite, std::uint64_t seed, CheckFailure failure) {
  if (!failure.line.empty() && failure.text.ends_with(failure.line))
    failure.text.resize(failure.text.size() - failure.line.size());
  failure.file = failure.line = "";
  state_.suites.find(std::string(suite))->second.told.emplace(seed, ToldFailure{std::move(failure), seed});
}

bool ShardKeeper::IsDue(Time now) {
  if (!kept_at_.has_value()) kept_at_ = now;
  if (now - *kept_at_ < keep_every_) return false;
  kept_at_ = now;
  keep_every_ = std::min<Duration>(2 * keep_every_, kKeepShardEvery);
  return true;
}

absl::Status ShardKeeper::Keep() {
  const absl::Status status = WriteAtomically(*files_, path_, PrintShardState(state_));
  if (status.ok()) return status;
  return WithMessage(status, fmt::format("cannot keep the state in {}: {}; free the place and start again: it goes on "
                                         "from what was kept before",
                                         replays::Quoted(path_), MessageOf(status)));
}

}  // namespace vigil::properties
