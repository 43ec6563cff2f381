#include "vigil/sim/workloads/evaluation.h"

#include <memory>
#include <utility>
#include <vector>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/checkpoint_state.h"
#include "vigil/core/train/training_util.h"

namespace vigil::sim {

absl::StatusOr<Evaluation> BuildEvaluation(const Env& env, Builder& b, std::uint64_t seed) {
  Evaluation evaluation;
  VIGIL_ASSIGN_OR_RETURN(evaluation.global_step, GetOrCreateGlobalStep(env, b));
  const RegressionBatch data = RegressionTestData(seed);
  Regression model;
  AddRegressionVariables(b, evaluation.w, evaluation.b);
  model.w = evaluation.w;
  model.b = evaluation.b;
  model.x = b.Const("x", FeaturesOf(data));
  model.y = b.Const("y", TargetsOf(data));
  evaluation.loss = AddRegressionLoss(b, model);
  VIGIL_RETURN_IF_ERROR(b.status());
  evaluation.saver = std::make_shared<Saver>(env);
  VIGIL_RETURN_IF_ERROR(evaluation.saver->Build(b.graph()));
  return evaluation;
}

absl::StatusOr<std::optional<Evaluated>> Evaluator::Look(Session& session) {
  VIGIL_ASSIGN_OR_RETURN(const std::optional<std::string> newest, LatestCheckpoint(env_, directory_));
  if (!newest.has_value() || *newest == last_) return std::optional<Evaluated>();
  if (absl::Status restored = evaluation_.saver->Restore(session, *newest); !restored.ok()) {
    VIGIL_ASSIGN_OR_RETURN(const bool there, CheckpointExists(env_, *newest));
    if (!there) return std::optional<Evaluated>();
    return restored;
  }
  const RunSpec spec{.fetches = {evaluation_.global_step, evaluation_.loss, evaluation_.w.ref, evaluation_.b.ref}};
  std::vector<Tensor> values;
  VIGIL_RETURN_IF_ERROR(session.Run({.spec = spec, .evaluates = true}, &values));
  Evaluated seen{.checkpoint = *newest, .loss = static_cast<double>(values[1].scalar<float>())};
  VIGIL_ASSIGN_OR_RETURN(seen.step, GlobalStepValue(values[0]));
  VIGIL_ASSIGN_OR_RETURN(seen.parameters, ParametersFrom(values[2], values[3]));
  last_ = *newest;
  return std::optional<Evaluated>(std::move(seen));
}

}  // namespace vigil::sim
