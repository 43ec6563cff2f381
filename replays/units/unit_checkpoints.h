// What the units that write checkpoints have in common: the lines on what is in their directory, and its damage.
//
// Thread safety: functions without state.
#ifndef VIGIL_REPLAYS_UNITS_UNIT_CHECKPOINTS_H_
#define VIGIL_REPLAYS_UNITS_UNIT_CHECKPOINTS_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::replays {

inline constexpr char kUnitDirectory[] = "/checkpoints";

// Names one after the other; of paths, only their last parts.
std::string Joined(const std::vector<std::string>& names, std::string_view separator);
std::vector<std::string> Basenames(const std::vector<std::string>& paths);

// "disk index=model.ckpt-1 meta= state=model.ckpt-1 all=model.ckpt-1".
std::string DiskLine(const Env& env);

// Plays the unit's operations, one after the other: "advance" lets time pass, and says nothing; every other one gives
// the line that `execute` returns, or that it failed, and the line `disk`.
void PlayCheckpointOps(const UnitSpec& unit, const Env& env,
                       const std::function<absl::StatusOr<std::string>(const UnitOp&)>& execute,
                       const std::function<std::string()>& disk, std::vector<std::string>& lines);

// Operation "damage" on checkpoints of that name: its line.
absl::StatusOr<std::string> DamageCheckpoints(const Env& env, const Args& args, std::string_view checkpoint_name);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_UNITS_UNIT_CHECKPOINTS_H_
