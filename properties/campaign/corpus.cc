#include "vigil/properties/campaign/corpus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/properties/campaign/kept_lines.h"
#include "vigil/properties/generators/draws.h"
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

constexpr KeptKind kCorpusFile = {
    .head = "{\"vigil corpus\":1,",
    .most_bytes = std::size_t{256} << 20,
    .most_is = "no corpus has so many",
    .wrong_head = "it is no corpus, as vigil check --corpus keeps it",
    .anew = "a new one is begun",
};
constexpr int kMostTriesToChange = 8;
constexpr int kFreshPercent = 25;
constexpr int kOfTheNewestPercent = 50;
constexpr int kCandidates = 4;  // of which the one that reaches the rarest is taken

// Numbers of rules stand in the pairs.
std::string CorpusHead() { return fmt::format("{}\"rules\":\"{}\"}}\n", kCorpusFile.head, RulesHash()); }

bool ReadEntry(std::string_view line, replays::JsonDocument& document, CorpusEntry& entry) {
  if (!document.Parse(line).ok() || document.root().kind() != replays::JsonKind::kObject) return false;
  for (const replays::Json member : document.root()) {
    if (member.kind() != replays::JsonKind::kString) return false;
    if (member.key() == "record") entry.record = member.string();
    if (member.key() == "pairs" && !ReadHashes(member.string(), entry.pairs)) return false;
  }
  return !entry.pairs.empty() && replays::ParseRecording(entry.record).ok();
}

absl::StatusOr<std::vector<CorpusEntry>> ParseCorpus(std::string_view text) {
  VIGIL_ASSIGN_OR_RETURN(text, Unsealed(text, kCorpusFile));
  if (!text.starts_with(CorpusHead()))
    return UsageError("it was kept by a vigil with other rules; remove it, and a new one is begun");
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
  if (status.ok()) status = WriteAtomically(files, path, Sealed(std::move(text)));
  if (status.ok()) return status;
  return WithMessage(status, fmt::format("cannot keep the corpus in {}: {}", replays::Quoted(path), MessageOf(status)));
}

}  // namespace vigil::properties
