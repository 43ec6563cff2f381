#include "vigil/cli/plant.h"

#include "fmt/format.h"
#include "vigil/core/base/code.h"
#include "vigil/replays/format/escape.h"

namespace vigil::cli {

absl::Status Plant(const std::string& id, std::optional<properties::PlantedBugScope>& scope) {
  if (id.empty()) return absl::OkStatus();
  if (const absl::Status built = properties::CheckPlantedBugsAreBuilt(); !built.ok())
    return WithMessage(built, fmt::format("--plant: {}", MessageOf(built)));
  scope.emplace(id);
  if (scope->known) return absl::OkStatus();
  return UsageError(
      fmt::format("--plant: no planted bug is called {}; vigil check --planted list names them", replays::Quoted(id)));
}

}  // namespace vigil::cli
