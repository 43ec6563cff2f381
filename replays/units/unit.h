// Unit recordings: one part of the layer on its own (a timer, the constructors of the hooks, ...), driven by a list of
// operations. Each operation gives a line of text; there is no session and nothing else is compared.
//
// Thread safety: constants and functions without state.
#ifndef VIGIL_REPLAYS_UNITS_UNIT_H_
#define VIGIL_REPLAYS_UNITS_UNIT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/env/env.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::replays {

// Plays a unit in a task of a simulated process and appends its lines. A status is a failure of the set-up, not of the
// unit.
absl::Status PlayUnit(const UnitSpec& unit, const Env& env, std::vector<std::string>& lines);

// One file each.
absl::Status PlayCoordinator(const UnitSpec& unit, const Env& env, std::vector<std::string>& lines);
absl::Status PlayArguments(const UnitSpec& unit, const Env& env, std::vector<std::string>& lines);
absl::Status PlayCheckpointManager(const UnitSpec& unit, const Env& env, std::vector<std::string>& lines);
absl::Status PlaySaver(const UnitSpec& unit, const Env& env, std::vector<std::string>& lines);
absl::Status PlayDeviceSetter(const UnitSpec& unit, const Env& env, std::vector<std::string>& lines);
absl::Status PlayLooper(const UnitSpec& unit, const Env& env, std::vector<std::string>& lines);
absl::Status PlayTimer(const UnitSpec& unit, const Env& env, std::vector<std::string>& lines);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_UNITS_UNIT_H_
