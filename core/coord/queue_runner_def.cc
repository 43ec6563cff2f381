#include "vigil/core/coord/queue_runner_def.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/graph/queue_runner.pb.h"

namespace vigil {
namespace {

std::vector<std::string> Write(const Graph& graph) {
  std::vector<std::string> items;
  const auto name = [&graph](NodeId op) { return op == kNoNode ? std::string() : graph.node(op).name; };
  for (const QueueRunnerPtr& runner : graph.Collection(kQueueRunners)) {
    const QueueRunnerOptions& options = runner->options();
    proto::QueueRunnerDef def;
    def.set_queue_name(options.queue_name);
    for (const NodeId op : options.enqueue_ops) def.add_enqueue_op_name(name(op));
    def.set_close_op_name(name(options.close_op));
    def.set_cancel_op_name(name(options.cancel_op));
    for (const Code code : options.queue_closed_codes) {
      // TensorFlow knows no others.
      if (code <= Code::kUnauthenticated) def.add_queue_closed_exception_types(static_cast<int>(code));
    }
    items.push_back(def.SerializeAsString());
  }
  return items;
}

// Names of ops under a scope. "" is no op.
struct Finder {
  const Graph& graph;
  const std::string& scope;

  std::string Scoped(const std::string& name) const { return scope.empty() ? name : fmt::format("{}/{}", scope, name); }
  absl::StatusOr<NodeId> Find(const std::string& name) const {
    if (name.empty()) return kNoNode;
    if (const std::optional<NodeId> op = graph.Find(Scoped(name))) return *op;
    return MakeStatus(Code::kInvalidArgument, fmt::format("'{}' is not in the graph", Scoped(name)));
  }
};

absl::StatusOr<QueueRunnerOptions> OptionsOf(const Finder& finder, const std::string& bytes) {
  proto::QueueRunnerDef def;
  if (!def.ParseFromString(bytes)) return MakeStatus(Code::kInvalidArgument, "an item is no QueueRunnerDef");
  QueueRunnerOptions options{.queue_name = finder.Scoped(def.queue_name()), .enqueue_ops = {}};
  for (const std::string& name : def.enqueue_op_name()) {
    if (name.empty()) {
      return MakeStatus(Code::kInvalidArgument,
                        fmt::format("an enqueue op of the queue runner '{}' has no name", def.queue_name()));
    }
    VIGIL_ASSIGN_OR_RETURN(options.enqueue_ops.emplace_back(), finder.Find(name));
  }
  VIGIL_ASSIGN_OR_RETURN(options.close_op, finder.Find(def.close_op_name()));
  VIGIL_ASSIGN_OR_RETURN(options.cancel_op, finder.Find(def.cancel_op_name()));
  if (def.queue_closed_exception_types_size() > 0) options.queue_closed_codes.clear();  // none: the default
  for (const int code : def.queue_closed_exception_types()) {
    if (code <= 0 || code > static_cast<int>(Code::kUnauthenticated)) {
      return MakeStatus(Code::kInvalidArgument, fmt::format("{} is no code of an error", code));
    }
    options.queue_closed_codes.push_back(static_cast<Code>(code));
  }
  return options;
}

}  // namespace

CollectionCodec QueueRunnerCodec(const Env& env) {
  const auto read = [env](Graph& graph, const std::vector<std::string>& items, const std::string& scope) {
    for (const std::string& item : items) {
      VIGIL_ASSIGN_OR_RETURN(QueueRunnerOptions options, OptionsOf({graph, scope}, item));
      VIGIL_ASSIGN_OR_RETURN(QueueRunnerPtr runner, QueueRunner::Create(env, std::move(options)));
      graph.AddToCollection(kQueueRunners, std::move(runner));
    }
    return absl::OkStatus();
  };
  return {.name = std::string(kQueueRunners.name), .write = Write, .read = read};
}

}  // namespace vigil
