// tf.train.Scaffold: the pieces that every model needs (init, readiness, local init, summary, saver), found or made.
//
// Nothing is made before Finalize(), which fills each missing piece in this order by "the collection's item, else a
// default that is added to the collection": init_op, ready_op, ready_for_local_init_op, local_init_op, summary_op,
// saver; then builds the saver and finalizes the graph. Pieces given by the user are not added to collections.
// Errors: USAGE, e.g. for a collection with more than one item. Thread safety: one task at a time.
// Ownership: the graph must outlive the scaffold. Source: monitored_session.py (Scaffold).
#ifndef VIGIL_CORE_TRAIN_SCAFFOLD_H_
#define VIGIL_CORE_TRAIN_SCAFFOLD_H_

#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/session/session.h"
#include "vigil/core/train/fetches.h"

namespace vigil {

class Scaffold;

// Called after init_op, with the scaffold that the session was made from.
using InitFn = std::function<absl::Status(Scaffold&, Session&)>;

struct ScaffoldOptions {
  std::optional<NodeId> init_op;
  std::optional<Feeds> init_feed_dict;
  InitFn init_fn;
  std::optional<Output> ready_op;
  std::optional<Output> ready_for_local_init_op;
  std::optional<NodeId> local_init_op;
  std::optional<Output> summary_op;
  SaverPtr saver;
  // What is not given here is taken from there (its init_fn is then called with the new scaffold).
  const Scaffold* copy_from_scaffold = nullptr;
  Behaviour behaviour = Behaviour::Default();  // of a saver that is made here
};

class Scaffold {
 public:
  Scaffold(const Env& env, Graph& graph, const ScaffoldOptions& options = {});

  // Idempotent: a further one makes nothing new. USAGE: a collection that should have one item has several; a graph
  // that is finalized already and lacks a piece. What was made before an error stays. Emits kGraphFinalized when the
  // graph was not finalized before.
  absl::Status Finalize();

  // Events of a further Finalize go to `sink`, which outlives it.
  void Watch(EventSink& sink) { env_.events = &sink; }

  Graph& graph() const { return graph_; }
  std::optional<NodeId> init_op() const { return pieces_.init_op; }
  const Feeds& init_feed_dict() const;
  bool has_init_fn() const { return pieces_.init_fn != nullptr; }
  // What it returns; an exception is OTHER. REQUIRES: has_init_fn().
  absl::Status CallInitFn(Session& session);
  std::optional<Output> ready_op() const { return pieces_.ready_op; }
  std::optional<Output> ready_for_local_init_op() const { return pieces_.ready_for_local_init_op; }
  std::optional<NodeId> local_init_op() const { return pieces_.local_init_op; }
  std::optional<Output> summary_op() const { return pieces_.summary_op; }
  const SaverPtr& saver() const { return pieces_.saver; }

 private:
  absl::Status FillInitOps();
  absl::Status FillSummaryAndSaver();

  Env env_;
  Graph& graph_;
  ScaffoldOptions pieces_;
  bool noted_ = false;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_SCAFFOLD_H_
