// The pieces of a model that a supervisor works with: given, the first item of a collection, or made. For core/train
// itself.
//
// What is made is added to its collection, so that another supervisor of the same graph finds it. Unlike a scaffold's,
// a collection with several items is no error: the first is taken, and it is logged.
// Thread safety: none; runs while the graph is built. Source: supervisor.py (Supervisor._init_...).
#ifndef VIGIL_CORE_TRAIN_SUPERVISOR_SUPERVISOR_MODEL_H_
#define VIGIL_CORE_TRAIN_SUPERVISOR_SUPERVISOR_MODEL_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/train/supervisor/supervisor_options.h"

namespace vigil {

struct SupervisorModel {
  std::optional<Output> ready_op;
  std::optional<Output> ready_for_local_init_op;
  std::optional<NodeId> init_op;
  std::optional<NodeId> local_init_op;
  SaverPtr saver;  // built; null: none
  std::optional<Output> summary_op;
  std::optional<Output> global_step;
};

// Errors: USAGE if something must be made in a graph that is finalized.
absl::StatusOr<SupervisorModel> FindOrMakePieces(const Env& env, Graph& graph, const SupervisorOptions& options);

// USAGE "When using replicas, all Variables must have their device set: ..." for the first variable without one.
absl::Status CheckVariablesHaveDevices(const Graph& graph);

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_SUPERVISOR_SUPERVISOR_MODEL_H_
