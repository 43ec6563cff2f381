// Another scenario like one that is worth it: parts of it changed, taken away, or taken from a second one.
//
// What stands in the same place of both texts may be put in the place of the other: a fault among faults, a code for a
// code, a statement into a body. What names a scenario, and how it is to be played, stays. The edits know little of the
// format; the parser decides whether what comes out is a scenario.
// Thread safety: pure but for `draw`.
#ifndef VIGIL_REPLAYS_FORMAT_MUTATE_H_
#define VIGIL_REPLAYS_FORMAT_MUTATE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace vigil::replays {

// Uniform over [0, bound).
using DrawBelow = std::function<std::uint64_t(std::uint64_t bound)>;

// The text of the changed scenario, with that id and seed and without choices; nullopt where nothing could be changed.
// It may be no scenario: parse it. Of a job only the plan of its faults is changed, and the longer time until all is
// healed holds.
std::optional<std::string> MutatedRecord(std::string_view record, std::string_view donor, std::string_view id,
                                         std::uint64_t seed, const DrawBelow& draw);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_MUTATE_H_
