// Evaluation beside training: restores the newest checkpoint of a regression's directory again and again, and says how
// good it is.
//
//   Evaluator evaluator(env, *BuildEvaluation(env, b, seed), "/shared/run");
//   VIGIL_ASSIGN_OR_RETURN(const std::optional<Evaluated> seen, evaluator.Look(session));   // nothing: nothing new
//
// It has a graph of its own and reads the parameters under the names that BuildRegression gives them. The loss is that
// of RegressionTestData(seed), computed by the graph; the parameters come with it, so that LossOf() can check it. A
// checkpoint that is deleted between being found and being read is not an error: the trainer has gone on, look again.
// Thread safety: one task at a time.
#ifndef VIGIL_SIM_WORKLOADS_EVALUATION_H_
#define VIGIL_SIM_WORKLOADS_EVALUATION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/session.h"
#include "vigil/sim/workloads/regression.h"

namespace vigil::sim {

struct Evaluation {
  Output global_step;
  ops::Variable w;
  ops::Variable b;
  Output loss;
  SaverPtr saver;
};

// On one device, whatever the cluster: an evaluator needs no parameter servers.
absl::StatusOr<Evaluation> BuildEvaluation(const Env& env, Builder& b, std::uint64_t seed);

struct Evaluated {
  std::string checkpoint;
  std::int64_t step = 0;
  double loss = 0;
  RegressionParameters parameters;
};

class Evaluator {
 public:
  Evaluator(const Env& env, Evaluation evaluation, std::string directory)
      : env_(env), evaluation_(std::move(evaluation)), directory_(std::move(directory)) {}

  // The newest checkpoint, if it is another one than the last time. Errors: what finding and restoring fail with, but
  // for a checkpoint that is gone. `session`: a raw one of the evaluation's graph.
  absl::StatusOr<std::optional<Evaluated>> Look(Session& session);

 private:
  const Env env_;
  const Evaluation evaluation_;
  const std::string directory_;
  std::string last_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_WORKLOADS_EVALUATION_H_
