// One scenario, or job, played with a planted bug: which rules say so.
//
// The switch of the bug is the caller's (PlantedBugScope). Thread safety: pure functions but for the runner, which
// belongs to one thread.
#ifndef VIGIL_PROPERTIES_PLANTED_PLAY_WITH_BUG_H_
#define VIGIL_PROPERTIES_PLANTED_PLAY_WITH_BUG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "vigil/properties/planted/registry.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/play/runner.h"

namespace vigil::properties {

// What one scenario showed; nothing if it went as it should.
struct ShownByBug {
  std::vector<std::string> rules;
  std::string text;  // of what was violated first, or of what went wrong where there is no rule
  bool any() const { return !rules.empty() || !text.empty(); }
};

// From one process to another (replays/crew/packed.h).
template <typename Archive>
void PackFields(Archive& archive, ShownByBug& shown) {
  archive(shown.rules, shown.text);
}

// The scenario of that seed, as this bug can be shown to it.
replays::Scenario ScenarioWithBug(const PlantedBug& bug, std::uint64_t seed);

// By chance, from the scenario's seed; a session once more by the choices that were made.
ShownByBug PlayWithBug(replays::Runner& runner, const replays::Scenario& scenario);

// Whether that rule, or one of the others that findings may have, is broken: by the scenario's choices.
bool ShowsBug(replays::Runner& runner, const replays::Scenario& scenario, std::string_view rule);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_PLANTED_PLAY_WITH_BUG_H_
