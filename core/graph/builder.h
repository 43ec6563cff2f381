// Building a graph without a check after every line: the first error sticks, later calls do nothing and give no output.
//
//   Builder b(graph);
//   const Output two = b.Const("two", Tensor::Scalar<std::int64_t>(2));
//   const Output sum = b.Op("AddV2", {x, two}, {.name = "sum"});
//   VIGIL_RETURN_IF_ERROR(b.status());
//
// The ops of core/ops have functions of their own on top of Op() (core/ops/ops.h).
// Thread safety: as the graph's.
#ifndef VIGIL_CORE_GRAPH_BUILDER_H_
#define VIGIL_CORE_GRAPH_BUILDER_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/graph/graph.h"

namespace vigil {

struct NodeOptions {
  std::string name = {};                    // empty: the op's
  std::vector<NodeId> control_inputs = {};  // besides those of the enclosing builder
  Attrs attrs = {};
};

class Builder {
 public:
  explicit Builder(Graph& graph) : graph_(&graph) {}

  Graph& graph() const { return *graph_; }
  const absl::Status& status() const { return status_; }
  void Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  // Of every node made from now on.
  std::string device;
  std::vector<NodeId> control_inputs;

  Output Op(std::string op, std::vector<Output> inputs, NodeOptions options = {});
  Output Const(std::string name, Tensor value);
  // A node without value that runs after those (tf.group).
  Output Group(std::string name, const std::vector<NodeId>& after);

 private:
  Graph* graph_;
  absl::Status status_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_GRAPH_BUILDER_H_
