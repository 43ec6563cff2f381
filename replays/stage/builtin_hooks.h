// The hooks of a scenario, made from its description: probes, and every hook that ships with the library.
#ifndef VIGIL_REPLAYS_STAGE_BUILTIN_HOOKS_H_
#define VIGIL_REPLAYS_STAGE_BUILTIN_HOOKS_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/env/env.h"
#include "vigil/core/train/scaffold.h"
#include "vigil/core/train/session_run_hook.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/stage/model.h"

namespace vigil::replays {

struct ForeignHook;

// What the hooks work with. All must outlive them.
struct HookParts {
  const Env& env;
  const Model& model;                  // `final_ops` adds a tensor of its own to its graph
  std::shared_ptr<Scaffold> scaffold;  // the session's
  Behaviour behaviour;
  std::string directory;  // of checkpoints and events, whether or not the session is given it
  const ForeignHook* foreign = nullptr;
};

// A hook that no scenario can describe, of whoever verifies it: what kForeignHook in a list of hooks stands for. The
// model may get more than its description says, and one session can follow the other, with the same hooks on the same
// graph; faults are for the first one.
struct ForeignHook {
  std::function<absl::Status(Model&)> extend_model;  // may be null
  std::function<absl::StatusOr<HookPtr>(const HookParts&)> make;
  int lives = 1;
  std::function<void()> on_life_end;  // a session is gone, the hooks are not; may be null
};
inline constexpr std::string_view kForeignHook = "foreign";

// The hooks in list order; the error of the first one whose constructor refuses its arguments. `specs` must outlive the
// hooks.
absl::StatusOr<std::vector<HookPtr>> MakeHooks(const std::vector<HookSpec>& specs, const HookParts& parts);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_STAGE_BUILTIN_HOOKS_H_
