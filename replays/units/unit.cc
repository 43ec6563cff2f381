#include "vigil/replays/units/unit.h"

#include <fmt/format.h>

#include <optional>

#include "vigil/core/base/code.h"
#include "vigil/replays/format/names.h"

namespace vigil::replays {
namespace {

using UnitPlayer = absl::Status (*)(const UnitSpec& unit, const Env& env, std::vector<std::string>& lines);

constexpr Named<UnitPlayer> kPlayers[] = {
    {"arguments", PlayArguments},
    {"coordinator", PlayCoordinator},
    {"saver", PlaySaver},
    {"device_setter", PlayDeviceSetter},
    {"looper", PlayLooper},
    {"timer", PlayTimer},
    {"checkpoint_manager", PlayCheckpointManager},
};

}  // namespace

absl::Status PlayUnit(const UnitSpec& unit, const Env& env, std::vector<std::string>& lines) {
  const std::optional<UnitPlayer> player = FromName(kPlayers, unit.unit);
  if (!player.has_value()) return UsageError(fmt::format("no unit is called \"{}\"", unit.unit));
  return (*player)(unit, env, lines);
}

}  // namespace vigil::replays
