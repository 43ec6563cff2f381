#include "vigil/properties/campaign/shard_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/properties/campaign/kept_lines.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/json.h"
#include "vigil/replays/format/json_writer.h"

namespace vigil::properties {
namespace {

using replays::Json;
using replays::JsonKind;
using replays::JsonWriter;

constexpr std::size_t kHashesALine = 4096;
constexpr KeptKind kShardFile = {
    .head = "{\"vigil campaign state\":1,",
    .most_bytes = std::size_t{1} << 30,  // what a campaign of ten million scenarios keeps is below
    .most_is = "no shard keeps so much",
    .wrong_head = "it is no state of a campaign's shard, as vigil check --state keeps it",
    .anew = "that shard begins anew",
};

void Write(JsonWriter& w, std::uint64_t value) { w.Natural(value); }
void Write(JsonWriter& w, const std::string& value) { w.String(value); }
void Write(JsonWriter& w, const std::vector<std::uint64_t>& values) {
  w.Open('[');
  for (const std::uint64_t value : values) w.Natural(value);
  w.Close(']');
}
void Write(JsonWriter& w, const ClusterTally::FaultKind& kind) {
  Write(w, std::vector<std::uint64_t>{kind.jobs, kind.planned, kind.fired, kind.effective});
}
template <typename Key, typename Value>
void Write(JsonWriter& w, const std::map<Key, Value>& values) {
  w.Open('{');
  for (const auto& [key, value] : values) Write(w.Key(fmt::format("{}", key)), value);
  w.Close('}');
}

bool Read(Json json, std::uint64_t& value) {
  if (json.is_natural()) value = json.natural();
  return json.is_natural();
}
bool Read(Json json, std::string& value) {
  if (json.kind() != JsonKind::kString) return false;
  value = json.string();
  return true;
}
bool Read(Json json, bool& value) {
  if (json.kind() != JsonKind::kBool) return false;
  value = json.boolean();
  return true;
}
bool Read(Json json, std::vector<std::uint64_t>& values) {
  if (json.kind() != JsonKind::kArray) return false;
  values.clear();
  for (const Json item : json) {
    if (!Read(item, values.emplace_back())) return false;
  }
  return true;
}
bool Read(Json json, ClusterTally::FaultKind& kind) {
  std::vector<std::uint64_t> four;
  if (!Read(json, four) || four.size() != 4) return false;
  kind = {four[0], four[1], four[2], four[3]};
  return true;
}
bool ReadKey(std::string_view text, std::string& key) {
  key = text;
  return true;
}
bool ReadKey(std::string_view text, std::uint64_t& key) { return TakeNumber(text, key, 10) && text.empty(); }
template <typename Key, typename Value>
bool Read(Json json, std::map<Key, Value>& values) {
  if (json.kind() != JsonKind::kObject) return false;
  for (const Json member : json) {
    Key key;
    if (!ReadKey(member.key(), key) || !Read(member, values[key])) return false;
  }
  return true;
}

// A member of an object that must be there.
template <typename Value>
bool ReadMember(Json json, std::string_view name, Value& value) {
  for (const Json member : json) {
    if (member.key() == name) return Read(member, value);
  }
  return false;
}

// What of the suite is counted, each with its name, for writing and reading.
template <typename Suite, typename Field>
bool ForEachCount(Suite& suite, const Field& field) {
  return field("passed", suite.count.passed) && field("failed", suite.count.failed) &&
         field("not_played", suite.count.not_played) && field("first_failed", suite.first_failed) &&
         field("scenarios", suite.tally.scenarios) && field("armed", suite.tally.armed) &&
         field("violated", suite.tally.violated) && field("fired", suite.tally.fired) &&
         field("features", suite.tally.features) && field("modelled", suite.tally.modelled) &&
         field("refused", suite.tally.refused) && field("jobs", suite.cluster.jobs) &&
         field("recovered", suite.cluster.recovered) && field("steps", suite.cluster.steps) &&
         field("messages", suite.cluster.messages) && field("hash", suite.cluster.hash) &&
         field("virtual_us", suite.cluster.virtual_us) && field("faults", suite.cluster.faults) &&
         field("invariants_armed", suite.cluster.armed) && field("invariants_violated", suite.cluster.violated) &&
         field("outcomes", suite.cluster.outcomes) && field("effective_faults", suite.cluster.effective_faults);
}

std::string CountsLine(const std::string& name, const SuiteState& suite) {
  JsonWriter w;
  w.Open('{').Key("suite").String(name);
  w.Key("next").Natural(suite.next()).Key("given_up").Bool(suite.count.given_up);
  ForEachCount(suite, [&w](std::string_view field, const auto& value) {
    Write(w.Key(field), value);
    return true;
  });
  w.Close('}');
  return w.Take() + "\n";
}

std::string FailureLine(const std::string& name, const ToldFailure& told) {
  const CheckFailure& failure = told.failure;
  JsonWriter w;
  w.Open('{').Key("suite").String(name).Key("failed").Natural(told.seed).Key("id").String(failure.id);
  w.Key("rule").String(failure.rule).Key("text").String(failure.text).Key("story").String(failure.story);
  w.Key("why").String(failure.why).Key("record").String(failure.record);
  w.Key("play_limit").String(failure.play_limit).Close('}');
  return w.Take() + "\n";
}

// {"suite":"random","traces":"HASH HASH ..."}: so many a line.
template <typename Items, typename Text>
std::string HashLines(const std::string& name, std::string_view what, const Items& items, const Text& text) {
  std::string lines;
  std::size_t number = 0;
  for (const auto& item : items) {
    const bool begins = number % kHashesALine == 0;
    if (begins) lines += fmt::format("{}{{\"suite\":\"{}\",\"{}\":\"", number > 0 ? "\"}\n" : "", name, what);
    lines += (begins ? "" : " ") + text(item);
    ++number;
  }
  return number > 0 ? lines + "\"}\n" : lines;
}

bool ReadReached(std::string_view text, std::map<std::uint64_t, std::uint64_t>& reached) {
  do {
    std::uint64_t hash = 0;
    std::uint64_t seed = 0;
    if (!TakeNumber(text, hash, 16) || !TakeCharacter(text, ':') || !TakeNumber(text, seed, 10)) return false;
    reached.emplace(hash, seed);
  } while (TakeCharacter(text, ' '));
  return text.empty();
}

class StateReader {
 public:
  explicit StateReader(std::string_view version) : version_(version) {}

  absl::StatusOr<ShardState> Read(std::string_view text) {
    VIGIL_ASSIGN_OR_RETURN(text, Unsealed(text, kShardFile));
    for (std::size_t number = 1; !text.empty(); ++number) {
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end + 1);
      if (!document_.Parse(line).ok() || document_.root().kind() != JsonKind::kObject)
        return UsageError(fmt::format("line {} is no JSON object", number));
      if (number == 1) {
        if (absl::Status status = ReadHead(document_.root()); !status.ok()) return status;
      } else if (!ReadLine(document_.root())) {
        return UsageError(fmt::format("line {} is not as it was kept", number));
      }
    }
    return std::move(state_);
  }

 private:
  absl::Status ReadHead(Json head) {
    std::string rules;
    std::map<std::string, std::vector<std::uint64_t>> suites;
    if (!ReadMember(head, "version", state_.key.version) || !ReadMember(head, "rules", rules) ||
        !ReadMember(head, "plant", state_.key.plant) || !ReadMember(head, "player", state_.key.player) ||
        !ReadMember(head, "suites", suites))
      return UsageError("line 1 is not as it was kept");
    if (state_.key.version != version_ || rules != RulesHash()) {
      return UsageError(fmt::format(
          "it was kept by vigil {}{}, this is {}: results of different versions do not add up; "
          "play all shards with one version",
          replays::Escaped(state_.key.version), state_.key.version == version_ ? " with other rules" : "", version_));
    }
    for (const auto& [name, asked] : suites) {
      if (asked.size() != 2 || asked[0] > asked[1]) return UsageError("line 1 is not as it was kept");
      state_.suites[name].asked = {asked[0], asked[1]};
    }
    return absl::OkStatus();
  }

  bool ReadLine(Json line) {
    std::string name;
    if (!ReadMember(line, "suite", name) || !state_.suites.contains(name)) return false;
    SuiteState& suite = state_.suites[name];
    std::string text;
    if (ReadMember(line, "traces", text)) return ReadHashes(text, suite.traces);
    if (ReadMember(line, "reached", text)) return ReadReached(text, suite.reached);
    if (ReadMember(line, "id", text)) return ReadFailure(line, name, suite);
    return ReadCounts(line, suite);
  }

  static bool ReadFailure(Json line, const std::string& name, SuiteState& suite) {
    ToldFailure told;
    CheckFailure& failure = told.failure;
    failure.suite = name;
    if (!ReadMember(line, "failed", told.seed) || !ReadMember(line, "id", failure.id) ||
        !ReadMember(line, "rule", failure.rule) || !ReadMember(line, "text", failure.text) ||
        !ReadMember(line, "story", failure.story) || !ReadMember(line, "why", failure.why) ||
        !ReadMember(line, "record", failure.record) || !ReadMember(line, "play_limit", failure.play_limit))
      return false;
    return suite.told.emplace(told.seed, std::move(told)).second;
  }

  static bool ReadCounts(Json line, SuiteState& suite) {
    std::uint64_t next = 0;
    const bool read =
        ReadMember(line, "next", next) && ReadMember(line, "given_up", suite.count.given_up) &&
        ForEachCount(suite, [&line](std::string_view field, auto& value) { return ReadMember(line, field, value); });
    if (!read || suite.tally.armed.size() != AllRules().size() || suite.tally.violated.size() != AllRules().size())
      return false;
    const auto& [first, last] = suite.asked;
    if (next == first) return true;         // nothing is played
    const std::uint64_t played = next - 1;  // of 0: 2^64 - 1
    if (played < first || played > last) return false;
    suite.count.seeds = {first, played};
    return true;
  }

  const std::string_view version_;
  replays::JsonDocument document_;
  ShardState state_;
};

}  // namespace

std::string PrintShardState(const ShardState& state) {
  JsonWriter w;
  w.Open('{').Key("vigil campaign state").Natural(1).Key("version").String(state.key.version);
  w.Key("rules").String(RulesHash()).Key("plant").String(state.key.plant);
  w.Key("player").String(state.key.player).Key("suites").Open('{');
  for (const auto& [name, suite] : state.suites)
    Write(w.Key(name), std::vector<std::uint64_t>{suite.asked.first, suite.asked.second});
  w.Close('}').Close('}');
  std::string text = w.Take() + "\n";
  for (const auto& [name, suite] : state.suites) {
    text += CountsLine(name, suite);
    for (const auto& [seed, told] : suite.told) text += FailureLine(name, told);
    text += HashLines(name, "traces", suite.traces, [](std::uint64_t hash) { return fmt::format("{:x}", hash); });
    text += HashLines(name, "reached", suite.reached,
                      [](const auto& pair) { return fmt::format("{:x}:{}", pair.first, pair.second); });
  }
  return Sealed(std::move(text));
}

absl::StatusOr<ShardState> ParseShardState(std::string_view text, std::string_view version) {
  return StateReader(version).Read(text);
}

void AddSuiteCount(SuiteCount& to, const SuiteCount& from) {
  to.passed += from.passed;
  to.failed += from.failed;
  to.unreadable += from.unreadable;
  for (const auto& [reason, times] : from.not_played) to.not_played[reason] += times;
  to.given_up = to.given_up || from.given_up;
  to.untold_count += from.untold_count;
  for (const std::string& id : from.untold) {
    if (to.untold.size() < kMostUntold) to.untold.push_back(id);
  }
  if (!from.seeds.has_value()) return;
  if (!to.seeds.has_value()) {
    to.seeds = from.seeds;
  } else {
    to.seeds = {std::min(to.seeds->first, from.seeds->first), std::max(to.seeds->second, from.seeds->second)};
  }
}

}  // namespace vigil::properties
