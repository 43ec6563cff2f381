// The checkpoint directory of a scenario: what an earlier process left in it, what damage it took, what is in it at the
// end.
#ifndef VIGIL_REPLAYS_STAGE_DIRECTORY_H_
#define VIGIL_REPLAYS_STAGE_DIRECTORY_H_

#include <string>

#include "absl/status/status.h"
#include "vigil/core/env/env.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::replays {

// Saves spec.preload as an earlier process would have, then damages the result. Emits no events.
absl::Status PrepareDirectory(const Env& env, const std::string& directory, const CheckpointSpec& spec);

FinalState StateOfDirectory(const Env& env, const std::string& directory);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_STAGE_DIRECTORY_H_
