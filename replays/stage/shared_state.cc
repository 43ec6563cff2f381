#include "vigil/replays/stage/shared_state.h"

#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/session/direct_session.h"

namespace vigil::replays {

SharedState::SharedState(const Env& env, const Model& model)
    : env_(env), model_(model), resources_(std::make_shared<ResourceManager>(env)) {
  env_.events = nullptr;
  env_.process = &chief_;
}

absl::Status SharedState::ChiefInit(std::optional<NodeId> init_op, std::int64_t step) {
  if (!init_op.has_value()) return UsageError("A chief cannot initialise a model whose scaffold is not finalized yet.");
  if (model_.set_op == kNoNode) return UsageError("A chief cannot set the global step of a model without one.");
  const std::unique_ptr<Session> session = NewDirectSession(env_, *model_.graph, {.shared_resources = resources_});
  VIGIL_RETURN_IF_ERROR(RunTarget(*session, *init_op));
  const RunSpec spec{.feeds = {model_.bump}, .fetches = {}, .targets = {model_.set_op}, .unresolved = {}};
  const std::vector<Tensor> values = {Tensor::Scalar<std::int64_t>(step)};
  std::vector<Tensor> nothing;
  VIGIL_RETURN_IF_ERROR(session->Run({.spec = spec, .feed_values = values}, &nothing));
  return session->Close();
}

}  // namespace vigil::replays
