// Scenarios that are worth playing again: each reached a pair of a rule's state and events that none before it had
// (coverage.h). Campaigns play them first, and then, besides new ones, changed ones (mutate.h).
//
// Kept as a file for each suite in a folder, DIR/random.corpus and DIR/cluster.corpus: lines of JSON, the first says
// which rules there were, the last is a checksum. What is kept is the least that reaches what was reached: no scenario
// all of whose pairs shorter ones reach.
// Thread safety: a Corpus belongs to one thread.
#ifndef VIGIL_PROPERTIES_CAMPAIGN_CORPUS_H_
#define VIGIL_PROPERTIES_CAMPAIGN_CORPUS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/files.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::properties {

struct CorpusEntry {
  std::string record;             // a line of JSON without choices and newline
  std::set<std::uint64_t> pairs;  // that it reaches
};

class Corpus {
 public:
  // Nothing is in it where there is no file. USAGE, naming the file and what to do: it is no corpus, damaged, or of
  // other rules.
  static absl::StatusOr<Corpus> Open(Files& files, const std::string& folder, std::string_view suite);

  // What a campaign that begins at seed `first` plays for this seed: one after the other all that is kept; then, drawn
  // from the seed, one of them changed, or what `fresh` draws. Depends on nothing but these and what was added.
  replays::Scenario Draw(std::uint64_t first, std::uint64_t seed,
                         const std::function<replays::Scenario(std::uint64_t)>& fresh) const;

  bool HasAll(const std::set<std::uint64_t>& pairs) const;
  // What was played, and what it has reached. True: something new. `record` is not looked at otherwise.
  bool Add(const std::string& record, const std::set<std::uint64_t>& pairs);
  void Add(const Corpus& other);

  // The least that reaches the same.
  std::vector<const CorpusEntry*> Least() const;
  // Writes the least; the folder is made. The message of an error names the file.
  absl::Status Save(Files& files, const std::string& folder, std::string_view suite) const;

  std::size_t size() const { return entries_.size(); }
  std::size_t pairs() const { return times_.size(); }

 private:
  const CorpusEntry& Choose(const std::function<std::uint64_t(std::uint64_t)>& below) const;
  std::uint64_t RarestOf(const CorpusEntry& entry) const;

  std::vector<CorpusEntry> entries_;              // in the order in which they were added
  std::map<std::uint64_t, std::uint64_t> times_;  // pair: how many plays have reached it
  std::vector<std::size_t> opened_;               // what is played first: the rarest first
};

// "DIR/random.corpus"
std::string CorpusPath(const std::string& folder, std::string_view suite);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_CAMPAIGN_CORPUS_H_
