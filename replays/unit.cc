#include "vigil/replays/unit.h"

#include "vigil/replays/names.h"

namespace vigil::replays {
namespace {

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

UnitPlayer FindUnitPlayer(std::string_view unit) { return FromName(kPlayers, unit).value_or(nullptr); }

}  // namespace vigil::replays
