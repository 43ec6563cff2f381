// The model that a HookWorld shows.
// Thread safety: as the graph's.
#ifndef VIGIL_PROPERTIES_VERIFY_HOOK_MODEL_H_
#define VIGIL_PROPERTIES_VERIFY_HOOK_MODEL_H_

#include "absl/status/status.h"
#include "vigil/replays/stage/model.h"

namespace vigil {

// Its loss becomes 1/step, from the fourth step on 1/4. Errors: the graph's.
absl::Status LetLossFall(replays::Model& model);

}  // namespace vigil

#endif  // VIGIL_PROPERTIES_VERIFY_HOOK_MODEL_H_
