// The state that a scenario's sessions share with those of other workers ("shared_state"): the variables of a parameter
// server, without the server. Local variables are shared too, as on a real server that all sessions use (each session's
// local init sets them again); queues and iterators stay each session's own.
//
// Thread safety: as ResourceManager; ChiefInit by one task at a time.
#ifndef VIGIL_REPLAYS_STAGE_SHARED_STATE_H_
#define VIGIL_REPLAYS_STAGE_SHARED_STATE_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/graph/resource.h"
#include "vigil/replays/stage/model.h"

namespace vigil::replays {

class SharedState {
 public:
  // `model` must outlive the state. The state is empty: nothing is initialized.
  SharedState(const Env& env, const Model& model);

  const std::shared_ptr<ResourceManager>& resources() const { return resources_; }

  // What the chief does from another process, unseen: runs `init_op`, then sets the global step. USAGE without either.
  absl::Status ChiefInit(std::optional<NodeId> init_op, std::int64_t step);

 private:
  Process chief_;  // its sessions do not count as the worker's
  Env env_;
  const Model& model_;
  const std::shared_ptr<ResourceManager> resources_;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_STAGE_SHARED_STATE_H_
