// The switches of the planted bugs (properties/planted/README.md), where they are compiled (VIGIL_PLANTED_BUGS); all
// are off at first.
//
// Thread safety: the switches are atomic and belong to the whole process. Whoever plays with a bug plays nothing else
// meanwhile.
#ifndef VIGIL_PROPERTIES_PLANTED_SWITCHES_H_
#define VIGIL_PROPERTIES_PLANTED_SWITCHES_H_

#include <string_view>

namespace vigil {

// False: there is no such bug.
bool TurnOnPlantedBug(std::string_view id);
bool PlantedBugIsOn(std::string_view id);
void TurnOffPlantedBugs();

}  // namespace vigil

#endif  // VIGIL_PROPERTIES_PLANTED_SWITCHES_H_
