// A linear regression that learns y = 1 x0 + 2 x1 + 3 x2: the model of conformance/cluster, its gradients written by
// hand.
//
//   Graph graph(BuiltinOps());
//   Builder b(graph);
//   VIGIL_ASSIGN_OR_RETURN(const Regression model, BuildRegression(env, b, replica, {}));
//   RegressionData data(seed, replica_number);
//   while (...) session.Run(model.train_op, model.Feed(data.Next()));
//
// Variables w [3, 1] and b [1] begin at zero; the loss is the mean of the squared errors; a step is plain gradient
// descent. Beside the graph stands the same arithmetic in plain C++ (LossOf, Descend): an oracle that shares no code
// with the ops.
// Thread safety: plain values; building is as safe as the graph.
#ifndef VIGIL_SIM_WORKLOADS_REGRESSION_H_
#define VIGIL_SIM_WORKLOADS_REGRESSION_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/tensor/tensor.h"
#include "vigil/core/train/fetches.h"
#include "vigil/core/train/optimizers/sync_replicas_optimizer.h"
#include "vigil/core/train/session_run_hook.h"
#include "vigil/sim/workloads/draws.h"
#include "vigil/sim/workloads/replica.h"

namespace vigil::sim {

inline constexpr int kRegressionFeatures = 3;
inline constexpr int kRegressionBatch = 8;  // examples in a step
inline constexpr int kRegressionTestExamples = 64;
inline constexpr float kRegressionRate = 0.01F;

struct RegressionExample {
  std::array<float, kRegressionFeatures> x = {};
  float y = 0;
};
using RegressionBatch = std::vector<RegressionExample>;

struct RegressionParameters {
  std::array<float, kRegressionFeatures> w = {};
  float b = 0;
  friend bool operator==(const RegressionParameters&, const RegressionParameters&) = default;
};

// Features in [-2, 2). Targets are off by up to `noise` either way, evenly: the best loss is noise^2 / 3, whatever the
// training. Endless.
class RegressionData {
 public:
  explicit RegressionData(std::uint64_t seed, std::uint64_t stream = 0, float noise = 0)
      : draws_(seed, stream), noise_(noise) {}
  RegressionBatch Next(int examples = kRegressionBatch);

 private:
  Draws draws_;
  float noise_;
};

// What every run of a seed is judged by; no training sees these examples.
RegressionBatch RegressionTestData(std::uint64_t seed, float noise = 0, int examples = kRegressionTestExamples);

// The mean of the squared errors, in double precision.
double LossOf(const RegressionParameters& parameters, const RegressionBatch& batch);
// One step in single precision, in the order of the graph's operations.
RegressionParameters GradientOf(const RegressionParameters& parameters, const RegressionBatch& batch);
RegressionParameters MeanOf(const std::vector<RegressionParameters>& gradients);
void Descend(RegressionParameters& parameters, const RegressionParameters& gradient, float rate = kRegressionRate);

// The batch as the placeholders take it: [n, 3] and [n].
Tensor FeaturesOf(const RegressionBatch& batch);
Tensor TargetsOf(const RegressionBatch& batch);
// From fetched variables. INVALID_ARGUMENT if they have other types or shapes.
absl::StatusOr<RegressionParameters> ParametersFrom(const Tensor& w, const Tensor& b);

struct Regression {
  Output global_step;
  Output x;  // fed: float [n, 3]
  Output y;  // fed: float [n]
  ops::Variable w;
  ops::Variable b;
  Output loss;
  Output gradient_of_w;
  Output gradient_of_b;
  Output train_op;
  HookPtr sync_hook;  // of synchronous training: belongs to the session's hooks; null otherwise
  std::shared_ptr<SyncReplicasOptimizer> sync;

  Feeds Feed(const RegressionBatch& batch) const;
};

// Parts of the model, for other graphs with the same parameters (evaluation.h): the variables "w" and "b", and the
// loss, given x, y, w and b.
void AddRegressionVariables(Builder& b, ops::Variable& w, ops::Variable& bias);
Output AddRegressionLoss(Builder& b, const Regression& model);

struct RegressionOptions {
  float learning_rate = kRegressionRate;
  // None: asynchronous; each step of each replica updates the variables as it comes. Else this many replicas go in step
  // (SyncReplicasOptimizer), and a step applies the mean of as many gradients.
  std::optional<int> synchronous_replicas;
  int num_tokens = -1;                         // of the chief's hook; 0: the first step waits for all, too
  Behaviour behaviour = Behaviour::Default();  // of synchronous training
};

absl::StatusOr<Regression> BuildRegression(const Env& env, Builder& b, const Replica& replica,
                                           const RegressionOptions& options = {});

}  // namespace vigil::sim

#endif  // VIGIL_SIM_WORKLOADS_REGRESSION_H_
