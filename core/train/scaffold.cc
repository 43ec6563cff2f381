#include "vigil/core/train/scaffold.h"

#include <fmt/format.h>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/coord/queue_runner_def.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/default_ops.h"

namespace vigil {
namespace {

// The collection's item, else what `make` gives. USAGE if there are several.
absl::StatusOr<std::optional<Output>> GetOrDefault(Graph& graph, CollectionKey<Output> key, std::string_view argument,
                                                   Output (*make)(Builder& b)) {
  const std::vector<Output>& items = graph.Collection(key);
  if (items.size() > 1) {
    return UsageError(
        fmt::format("More than one item in the collection \"{}\". Please indicate which one to use by passing it "
                    "to the Scaffold as {}.",
                    key.name, argument));
  }
  if (!items.empty()) return std::optional<Output>(items.front());
  return MakeInto(graph, key, make);
}

}  // namespace

Scaffold::Scaffold(const Env& env, Graph& graph, const ScaffoldOptions& options)
    : env_(env), graph_(graph), pieces_(options) {
  if (options.copy_from_scaffold == nullptr) return;
  const ScaffoldOptions& from = options.copy_from_scaffold->pieces_;
  if (!pieces_.init_op.has_value()) pieces_.init_op = from.init_op;
  if (!pieces_.init_feed_dict.has_value()) pieces_.init_feed_dict = from.init_feed_dict;
  if (pieces_.init_fn == nullptr) pieces_.init_fn = from.init_fn;
  if (!pieces_.ready_op.has_value()) pieces_.ready_op = from.ready_op;
  if (!pieces_.ready_for_local_init_op.has_value()) pieces_.ready_for_local_init_op = from.ready_for_local_init_op;
  if (!pieces_.local_init_op.has_value()) pieces_.local_init_op = from.local_init_op;
  if (!pieces_.summary_op.has_value()) pieces_.summary_op = from.summary_op;
  if (pieces_.saver == nullptr) pieces_.saver = from.saver;
  pieces_.copy_from_scaffold = nullptr;
}

const Feeds& Scaffold::init_feed_dict() const {
  static const Feeds kNone;
  return pieces_.init_feed_dict.has_value() ? *pieces_.init_feed_dict : kNone;
}

absl::Status Scaffold::CallInitFn(Session& session) {
  return CallGuarded([&] { return pieces_.init_fn(*this, session); });
}

absl::Status Scaffold::FillInitOps() {
  if (!pieces_.init_op.has_value()) {
    VIGIL_ASSIGN_OR_RETURN(const std::optional<Output> op, GetOrDefault(graph_, kInitOp, "init_op", MakeInitOp));
    pieces_.init_op = op->node;
  }
  if (!pieces_.ready_op.has_value()) {
    VIGIL_ASSIGN_OR_RETURN(pieces_.ready_op, GetOrDefault(graph_, kReadyOp, "ready_op", MakeReadyOp));
  }
  if (!pieces_.ready_for_local_init_op.has_value()) {
    VIGIL_ASSIGN_OR_RETURN(
        pieces_.ready_for_local_init_op,
        GetOrDefault(graph_, kReadyForLocalInitOp, "ready_for_local_init_op", MakeReadyForLocalInitOp));
  }
  if (!pieces_.local_init_op.has_value()) {
    VIGIL_ASSIGN_OR_RETURN(const std::optional<Output> op,
                           GetOrDefault(graph_, kLocalInitOp, "local_init_op", MakeLocalInitOp));
    pieces_.local_init_op = op->node;
  }
  // Once, at the first of the sessions that are made with these pieces.
  if (noted_ || !pieces_.behaviour.queues_start_anew) return absl::OkStatus();
  Builder b(graph_);
  pieces_.local_init_op = WithOpenQueues(b, *pieces_.local_init_op);
  return b.status();
}

absl::Status Scaffold::FillSummaryAndSaver() {
  if (!pieces_.summary_op.has_value()) {
    VIGIL_ASSIGN_OR_RETURN(pieces_.summary_op, GetOrDefault(graph_, kSummaryOp, "summary_op", ops::MergeAllSummaries));
  }
  if (pieces_.saver != nullptr) return absl::OkStatus();
  const std::vector<SaverPtr>& savers = graph_.Collection(kSavers);
  if (savers.size() > 1) {
    return UsageError(
        "More than one item in collection savers. Please indicate which one to use by passing it to the Scaffold.");
  }
  if (savers.size() == 1) {
    pieces_.saver = savers.front();
  } else {
    pieces_.saver = std::make_shared<Saver>(
        env_,
        SaverOptions{
            .sharded = true, .allow_empty = true, .codecs = {QueueRunnerCodec(env_)}, .behaviour = pieces_.behaviour});
    graph_.AddToCollection(kSavers, pieces_.saver);
  }
  return absl::OkStatus();
}

absl::Status Scaffold::Finalize() {
  VIGIL_RETURN_IF_ERROR(FillInitOps());
  VIGIL_RETURN_IF_ERROR(FillSummaryAndSaver());
  VIGIL_RETURN_IF_ERROR(pieces_.saver->Build(graph_));
  if (!noted_) {
    NoteInitOps(graph_, {.init_op = pieces_.init_op,
                         .ready_op = pieces_.ready_op,
                         .ready_for_local_init_op = pieces_.ready_for_local_init_op,
                         .local_init_op = pieces_.local_init_op});
  }
  noted_ = true;
  if (!graph_.finalized()) {
    env_.Emit({.kind = EventKind::kGraphFinalized,
               .has_value = true,
               .value = pieces_.saver->has_nothing_to_save() ? 0.0 : 1.0});
  }
  graph_.Finalize();
  env_.log->Write(Severity::kInfo, "Graph was finalized.");
  return absl::OkStatus();
}

}  // namespace vigil
