#include "vigil/properties/campaign/corpus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/properties/generators/draws.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/json.h"
#include "vigil/replays/format/json_writer.h"
#include "vigil/replays/format/mutate.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/print.h"

namespace vigil::properties {
namespace {

using replays::Action;
using replays::Scenario;

constexpr std::string_view kCorpusHead = "{\"vigil corpus\":1,";
constexpr std::size_t kMostCorpusBytes = std::size_t{256} << 20;
constexpr int kMostTriesToChange = 8;
constexpr int kFreshPercent = 25;
constexpr int kOfTheNewestPercent = 50;
constexpr int kCandidates = 4;  // of which the one that reaches the rarest is taken

// Numbers of rules stand in the pairs.
std::uint64_t HashOfRules() {
  std::string ids;
  for (const RuleFactory rule : AllRules()) ids += fmt::format("{} ", rule()->info().id);
  return XXH64(ids.data(), ids.size(), 0);
}

std::string CorpusHead() { return fmt::format("{}\"rules\":\"{:016x}\"}}\n", kCorpusHead, HashOfRules()); }
std::string CorpusEnd(std::string_view text) {
  return fmt::format("{{\"complete\":\"{:016x}\"}}\n", XXH64(text.data(), text.size(), 0));
}

bool ReadPairs(std::string_view text, std::set<std::uint64_t>& pairs) {
  while (!text.empty()) {
    std::uint64_t pair = 0;
    const std::from_chars_result read = std::from_chars(text.data(), text.data() + text.size(), pair, 16);
    if (read.ec != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    if (text.starts_with(' ')) text.remove_prefix(1);
    pairs.insert(pair);
  }
  return true;
}

bool ReadEntry(std::string_view line, replays::JsonDocument& document, CorpusEntry& entry) {
  if (!document.Parse(line).ok() || document.root().kind() != replays::JsonKind::kObject) return false;
  for (const replays::Json member : document.root()) {
    if (member.kind() != replays::JsonKind::kString) return false;
    if (member.key() == "record") entry.record = member.string();
    if (member.key() == "pairs" && !ReadPairs(member.string(), entry.pairs)) return false;
  }
  return !entry.pairs.empty() && replays::ParseRecording(entry.record).ok();
}

absl::StatusOr<std::vector<CorpusEntry>> ParseCorpus(std::string_view text) {
  if (text.empty()) return UsageError("it is empty; remove it, and a new one is begun");
  if (text.size() > kMostCorpusBytes)
    return UsageError(fmt::format("it has {} bytes: no corpus has so many", text.size()));
  if (!text.starts_with(kCorpusHead)) return UsageError("it is no corpus, as vigil check --corpus keeps it");
  const std::size_t last = text.substr(0, text.size() - 1).rfind('\n') + 1;
  if (last == 0 || text.substr(last) != CorpusEnd(text.substr(0, last)))
    return UsageError("it is damaged or not whole: its checksum is another; remove it, and a new one is begun");
  if (!text.starts_with(CorpusHead()))
    return UsageError("it was kept by a vigil with other rules; remove it, and a new one is begun");
  text = text.substr(0, last);
  text.remove_prefix(text.find('\n') + 1);
  std::vector<CorpusEntry> entries;
  replays::JsonDocument document;
  for (std::size_t number = 2; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    if (!ReadEntry(text.substr(0, end), document, entries.emplace_back()))
      return UsageError(fmt::format("line {} is not as it was kept", number));
    text.remove_prefix(end + 1);
  }
  return entries;
}

// As the generators keep it: a failure that may cause a recovery must not come back with every call.
bool MayEnd(const Scenario& scenario) {
  for (const replays::HookSpec& hook : scenario.hooks) {
    if (hook.hook == "global_step_waiter") return false;  // it waits for a step that nobody may make any more
    for (const replays::PlanEntry& entry : hook.plan) {
      const bool fails = entry.action == Action::kRaise || entry.action == Action::kReport;
      if (fails && entry.calls.empty() && entry.method != "end") return false;
    }
  }
  return std::ranges::none_of(scenario.faults, [](const replays::Fault& fault) { return fault.calls.empty(); });
}

}  // namespace

std::string CorpusPath(const std::string& folder, std::string_view suite) {
  return JoinPath(folder, fmt::format("{}.corpus", suite));
}

absl::StatusOr<Corpus> Corpus::Open(Files& files, const std::string& folder, std::string_view suite) {
  const std::string path = CorpusPath(folder, suite);
  Corpus corpus;
  const absl::StatusOr<std::string> text = ReadAll(files, path);
  if (CodeOf(text.status()) == Code::kNotFound) return corpus;
  absl::StatusOr<std::vector<CorpusEntry>> entries = text.ok() ? ParseCorpus(*text) : text.status();
  if (!entries.ok()) {
    return WithMessage(entries.status(), fmt::format("the corpus {} cannot be used: {}", replays::Quoted(path),
                                                     MessageOf(entries.status())));
  }
  for (const CorpusEntry& entry : *entries) corpus.Add(entry.record, entry.pairs);
  for (std::size_t i = 0; i < corpus.entries_.size(); ++i) corpus.opened_.push_back(i);
  std::ranges::stable_sort(corpus.opened_, {},
                           [&corpus](std::size_t i) { return corpus.RarestOf(corpus.entries_[i]); });
  return corpus;
}

std::uint64_t Corpus::RarestOf(const CorpusEntry& entry) const {
  std::uint64_t rarest = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t pair : entry.pairs) rarest = std::min(rarest, times_.find(pair)->second);
  return rarest;
}

const CorpusEntry& Corpus::Choose(const std::function<std::uint64_t(std::uint64_t)>& below) const {
  const std::uint64_t all = entries_.size();
  const std::uint64_t newest = below(100) < kOfTheNewestPercent ? (all + 3) / 4 : all;
  const CorpusEntry* chosen = nullptr;
  for (int i = 0; i < kCandidates; ++i) {
    const CorpusEntry& candidate = entries_[all - 1 - below(newest)];
    if (chosen == nullptr || RarestOf(candidate) < RarestOf(*chosen)) chosen = &candidate;
  }
  return *chosen;
}

Scenario Corpus::Draw(std::uint64_t first, std::uint64_t seed,
                      const std::function<Scenario(std::uint64_t)>& fresh) const {
  if (seed - first < opened_.size())
    return std::move(replays::ParseRecording(entries_[opened_[seed - first]].record)->scenario);
  Draws draws = Draws(seed).Split("corpus");
  if (entries_.empty() || draws.Chance(kFreshPercent)) return fresh(seed);
  const std::function<std::uint64_t(std::uint64_t)> below = [&draws](std::uint64_t bound) {
    return draws.Below(bound);
  };
  for (int i = 0; i < kMostTriesToChange; ++i) {
    const CorpusEntry& entry = Choose(below);
    // A part of another one that is kept, or of a new one.
    const std::string donor =
        draws.Chance(50) ? Choose(below).record : replays::PrintRecord(fresh(seed + draws.Below(1000)));
    const std::optional<std::string> text =
        replays::MutatedRecord(entry.record, donor, fmt::format("corpus_{}", seed), seed, below);
    if (!text.has_value()) continue;
    absl::StatusOr<replays::Recording> changed = replays::ParseRecording(*text);
    if (changed.ok() && MayEnd(changed->scenario)) return std::move(changed->scenario);
  }
  return fresh(seed);
}

bool Corpus::HasAll(const std::set<std::uint64_t>& pairs) const {
  return std::ranges::all_of(pairs, [this](std::uint64_t pair) { return times_.contains(pair); });
}

bool Corpus::Add(const std::string& record, const std::set<std::uint64_t>& pairs) {
  bool is_new = false;
  for (const std::uint64_t pair : pairs) is_new = ++times_[pair] == 1 || is_new;
  if (is_new) entries_.push_back({record, pairs});
  return is_new;
}

void Corpus::Add(const Corpus& other) {
  for (const CorpusEntry& entry : other.entries_) {
    Add(entry.record, entry.pairs);
    // It may be the shorter one.
    if (entries_.empty() || entries_.back().record != entry.record) entries_.push_back(entry);
  }
}

std::vector<const CorpusEntry*> Corpus::Least() const {
  std::vector<const CorpusEntry*> all;
  for (const CorpusEntry& entry : entries_) all.push_back(&entry);
  std::ranges::sort(all, [](const CorpusEntry* a, const CorpusEntry* b) {
    return std::pair(a->record.size(), std::string_view(a->record)) <
           std::pair(b->record.size(), std::string_view(b->record));
  });
  // From the longest on: what the others reach, too, goes.
  std::map<std::uint64_t, std::uint64_t> held;
  std::erase_if(all, [&held, last = static_cast<const CorpusEntry*>(nullptr)](const CorpusEntry* entry) mutable {
    const bool twice = last != nullptr && last->record == entry->record;
    last = entry;
    if (!twice) {
      for (const std::uint64_t pair : entry->pairs) ++held[pair];
    }
    return twice;
  });
  std::vector<const CorpusEntry*> least;
  for (auto entry = all.rbegin(); entry != all.rend(); ++entry) {
    const std::set<std::uint64_t>& pairs = (*entry)->pairs;
    const bool needed = std::ranges::any_of(pairs, [&held](std::uint64_t pair) { return held[pair] == 1; });
    if (needed) {
      least.push_back(*entry);
    } else {
      for (const std::uint64_t pair : pairs) --held[pair];
    }
  }
  std::ranges::reverse(least);
  return least;
}

absl::Status Corpus::Save(Files& files, const std::string& folder, std::string_view suite) const {
  std::string text = CorpusHead();
  for (const CorpusEntry* const entry : Least()) {
    replays::JsonWriter w;
    w.Open('{').Key("record").String(entry->record);
    w.Key("pairs").String(fmt::format("{:x}", fmt::join(entry->pairs, " "))).Close('}');
    text += w.Take() + "\n";
  }
  const std::string path = CorpusPath(folder, suite);
  absl::Status status = files.MakeDirectory(folder);
  if (status.ok()) status = WriteAtomically(files, path, text + CorpusEnd(text));
  if (status.ok()) return status;
  return WithMessage(status, fmt::format("cannot keep the corpus in {}: {}", replays::Quoted(path), MessageOf(status)));
}

}  // namespace vigil::properties
