// The hooks of a scenario, made from its description: probes, and every hook that ships with the library.
#ifndef VIGIL_REPLAYS_BUILTIN_HOOKS_H_
#define VIGIL_REPLAYS_BUILTIN_HOOKS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/env/env.h"
#include "vigil/core/train/scaffold.h"
#include "vigil/core/train/session_run_hook.h"
#include "vigil/replays/model.h"
#include "vigil/replays/scenario.h"

namespace vigil::replays {

// What the hooks work with. All must outlive them.
struct HookParts {
  const Env& env;
  const Model& model;                  // `final_ops` adds a tensor of its own to its graph
  std::shared_ptr<Scaffold> scaffold;  // the session's
  Behaviour behaviour;
  std::string directory;  // of checkpoints and events, whether or not the session is given it
};

// The hooks in list order; the error of the first one whose constructor refuses its arguments. `specs` must outlive the hooks.
absl::StatusOr<std::vector<HookPtr>> MakeHooks(const std::vector<HookSpec>& specs, const HookParts& parts);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_BUILTIN_HOOKS_H_
