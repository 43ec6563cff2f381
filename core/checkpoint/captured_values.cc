#include "vigil/core/checkpoint/captured_values.h"

#include <utility>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/session/executor_state.h"

namespace vigil {

CapturedValues::CapturedValues(const Env& env, const Session& session, std::vector<Output> outputs)
    : env_(env), graph_(session.graph().Share()), number_(session.number()), outputs_(std::move(outputs)) {}

absl::StatusOr<std::unique_ptr<CapturedValues>> CapturedValues::Take(const Env& env, Session& session,
                                                                     std::vector<Output> outputs) {
  std::unique_ptr<CapturedValues> out(new CapturedValues(env, session, std::move(outputs)));
  const RunSpec spec{.fetches = out->outputs_};
  VIGIL_RETURN_IF_ERROR(session.Run({.spec = spec, .evaluates = true}, &out->values_));
  return out;
}

absl::StatusOr<const Plan*> CapturedValues::PlanOf(const RunSpec& spec) const {
  RunSpec fed = spec;
  fed.feeds.insert(fed.feeds.end(), outputs_.begin(), outputs_.end());
  return PlanFor(*graph_, fed);
}

absl::Status CapturedValues::Prepare(const RunSpec& spec) const { return PlanOf(spec).status(); }

absl::Status CapturedValues::Run(const RunCall& call, std::vector<Tensor>* fetched) {
  VIGIL_ASSIGN_OR_RETURN(const Plan* const plan, PlanOf(call.spec));
  std::vector<Tensor> fed(call.feed_values.begin(), call.feed_values.end());
  fed.insert(fed.end(), values_.begin(), values_.end());
  ResourceManager none(env_);
  const Cancellation never;
  return ExecutorState(env_, *graph_, *plan, none, none, never)
      .Run({.spec = plan->spec, .feed_values = fed}, kNever, none.generation(), fetched);
}

}  // namespace vigil
