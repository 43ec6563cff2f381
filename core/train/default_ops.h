// The ops that Scaffold and Supervisor make where a model brings none: initialisation and the questions whether it is
// done.
//
// Each is made at each call; who calls keeps it (in the collection of the graph that it belongs to). Errors stick to
// the builder.
// Thread safety: as the builder's. Source: monitored_session.py (Scaffold), supervisor.py.
#ifndef VIGIL_CORE_TRAIN_DEFAULT_OPS_H_
#define VIGIL_CORE_TRAIN_DEFAULT_OPS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "vigil/core/base/event.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/graph.h"

namespace vigil {

// Initialises all global variables.
Output MakeInitOp(Builder& b);
// The names of the global and local variables that are not initialised.
Output MakeReadyOp(Builder& b);
// The names of the global variables that are not initialised.
Output MakeReadyForLocalInitOp(Builder& b);
// Initialises all local variables and tables.
Output MakeLocalInitOp(Builder& b);
// What initialises locally and also opens the queues that the graph's queue runners close, so that a session begins its
// input anew where another one has ended. `local_init` itself where there are none, or where the graph is finalized.
NodeId WithOpenQueues(Builder& b, NodeId local_init);

// What `make` gives, added to the collection; nullopt where it makes none (an output without a node).
absl::StatusOr<std::optional<Output>> MakeInto(Graph& graph, CollectionKey<Output> key, Output (*make)(Builder& b));

// Notes in the graph what a run of each of them is for (core/session/classify.h); those that are missing are left out.
struct InitOps {
  std::optional<NodeId> init_op;
  std::optional<Output> ready_op;
  std::optional<Output> ready_for_local_init_op;
  std::optional<NodeId> local_init_op;
};
void NoteInitOps(Graph& graph, const InitOps& init_ops);

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_DEFAULT_OPS_H_
