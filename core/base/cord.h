// absl::Cord where this library's own types are the standard's: Debian's absl has a string_view and an optional of its
// own.
// Thread safety: pure functions.
#ifndef VIGIL_CORE_BASE_CORD_H_
#define VIGIL_CORE_BASE_CORD_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/cord.h"

namespace vigil {

inline std::string_view ViewOf(absl::string_view text) { return {text.data(), text.size()}; }

// All of it, if it is in one piece; valid as long as the cord is not changed.
inline std::optional<std::string_view> FlatOf(const absl::Cord& cord) {
  const auto flat = cord.TryFlat();
  return flat.has_value() ? std::optional(ViewOf(*flat)) : std::nullopt;
}

// What is small is copied: one allocation, not a second owner.
inline constexpr std::size_t kSharedCordBytes = std::size_t{1} << 15;
inline absl::Cord CordOf(std::string bytes) {
  return bytes.size() < kSharedCordBytes ? absl::Cord(absl::string_view(bytes)) : absl::Cord(std::move(bytes));
}

// Bytes that live as long as `owner`, or a copy of it, which the cord keeps.
template <typename Owner>
absl::Cord SharedCord(std::string_view bytes, Owner owner) {
  return absl::MakeCordFromExternal({bytes.data(), bytes.size()}, [kept = std::move(owner)] {});
}

// calls visit(std::string_view) with each piece, in order.
template <typename Visit>
void ForEachPiece(const absl::Cord& cord, Visit visit) {
  for (const absl::string_view piece : cord.Chunks()) visit(ViewOf(piece));
}

}  // namespace vigil

#endif  // VIGIL_CORE_BASE_CORD_H_
