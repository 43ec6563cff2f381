// The option --plant: a planted bug that is on while a command works, to see what its failures look like.
//
// Thread safety: main thread, before any other is started.
#ifndef VIGIL_CLI_PLANT_H_
#define VIGIL_CLI_PLANT_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "vigil/properties/planted/campaign.h"

namespace vigil::cli {

// Turns it on as long as `scope` lives; nothing for "". USAGE, with words, for an unknown one, and in a build that has
// none.
absl::Status Plant(const std::string& id, std::optional<properties::PlantedBugScope>& scope);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_PLANT_H_
