// What the maker of a hook under verification is given: a small model, its graph and the seams of a simulated process.
//
//   [](vigil::HookWorld& w) { return std::make_unique<MyHook>(w.loss()); }
//
// The model: a global step that the train op counts up by one, a loss that falls as 1/step down to 1/4 (in some
// scenarios it becomes NaN), a value that can be fed. Everything lives as long as the hook. Thread safety: as the
// graph's.
#ifndef VIGIL_PROPERTIES_VERIFY_HOOK_WORLD_H_
#define VIGIL_PROPERTIES_VERIFY_HOOK_WORLD_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/train/scaffold.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

struct HookWorldParts {
  Env env;  // seams that watch the hook
  Graph* graph = nullptr;
  Output loss, global_step, train_op, feedable;
  std::shared_ptr<Scaffold> scaffold;
  Behaviour behaviour;
  std::string directory;
};

class HookWorld {
 public:
  explicit HookWorld(HookWorldParts parts) : parts_(std::move(parts)) {}

  const Env& env() const { return parts_.env; }
  Files& files() const { return *parts_.env.files; }
  Graph& graph() const { return *parts_.graph; }
  Output loss() const { return parts_.loss; }                // a float, after the step
  Output global_step() const { return parts_.global_step; }  // an int64: the step before the train op of the same run
  Output train_op() const { return parts_.train_op; }        // an int64: the step after it
  Output feedable() const { return parts_.feedable; }        // an int64; 0 if nobody feeds it
  // The session's.
  const std::shared_ptr<Scaffold>& scaffold() const { return parts_.scaffold; }
  const Behaviour& behaviour() const { return parts_.behaviour; }
  // Where the session's checkpoints are.
  const std::string& directory() const { return parts_.directory; }

 private:
  HookWorldParts parts_;
};

// Makes a new hook each time. What it returns may be a unique_ptr, a shared_ptr or a StatusOr of a hook's type.
using HookMaker = std::function<absl::StatusOr<HookPtr>(HookWorld&)>;

}  // namespace vigil

#endif  // VIGIL_PROPERTIES_VERIFY_HOOK_WORLD_H_
