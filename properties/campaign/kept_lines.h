// What the files that a campaign keeps and goes on from have in common (shard_state.h, corpus.h): lines of JSON, of
// which the first says what it is and by which rules it was kept, and the last is a checksum of all before it.
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_CAMPAIGN_KEPT_LINES_H_
#define VIGIL_PROPERTIES_CAMPAIGN_KEPT_LINES_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace vigil::properties {

// Of the list of rules, 16 hex digits: what was kept counts against rules by their numbers.
std::string RulesHash();

struct KeptKind {
  std::string_view head;        // how the first line begins
  std::size_t most_bytes = 0;   // longer files are not read
  std::string_view most_is;     // "no shard keeps so much"
  std::string_view wrong_head;  // what is said of another file
  std::string_view anew;        // what comes of it if the file is removed
};

// With the line that ends it.
std::string Sealed(std::string text);
// The lines before that one. USAGE, and what to do: empty, too long, of another kind, not whole, or changed.
absl::StatusOr<std::string_view> Unsealed(std::string_view text, const KeptKind& kind);

// "HASH HASH ...", in hex digits. False: it is not that.
bool ReadHashes(std::string_view text, std::set<std::uint64_t>& hashes);
// Takes a number, or that character, off the front; false if there is none.
bool TakeNumber(std::string_view& text, std::uint64_t& value, int base);
bool TakeCharacter(std::string_view& text, char wanted);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_CAMPAIGN_KEPT_LINES_H_
