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

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/graph/graph.h"

namespace vigil {

struct NodeOptions {
  std::string name = {};                    // empty: the op's
  std::vector<NodeId> control_inputs = {};  // besides those of the enclosing builder
  Attrs attrs = {};
  NodeId colocate_with = kNoNode;  // goes where that node is, if it is anywhere, whatever the scopes say
};

// Where a node is to go, given the node with the device that it has from scopes further in (its id, its final name and
// its output types do not exist yet). An error fails the builder.
using DeviceFunction = std::function<absl::StatusOr<std::string>(const Node& node)>;

class Builder {
 public:
  explicit Builder(Graph& graph) : graph_(&graph) {}

  Graph& graph() const { return *graph_; }
  const absl::Status& status() const { return status_; }
  void Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  // Of every node made from now on. The device is where the scopes (DeviceScope) begin to add to.
  std::string device;
  std::vector<NodeId> control_inputs;
  // Of every variable, queue, ... made from now on that says no other (tf.container): what Reset() is told. "": the
  // default one.
  std::string container;

  Output Op(std::string op, std::vector<Output> inputs, NodeOptions options = {});
  Output Const(std::string name, Tensor value);
  // A node without value that runs after those (tf.group).
  Output Group(std::string name, const std::vector<NodeId>& after);

 private:
  friend class DeviceScope;

  absl::Status Place(Node& node, NodeId colocate_with) const;

  Graph* graph_;
  absl::Status status_;
  std::vector<DeviceFunction> device_functions_;  // outermost first
};

// Nodes made while this lives are placed by a function or a string (tf.device). Scopes nest: the innermost is asked
// first, so what it says wins over what a string says further out. A node that refers to a variable is colocated with
// it.
//
//   DeviceScope scope(b, "/job:worker");
//   { DeviceScope gpu(b, "/gpu:1"); ... }    // "/job:worker/device:GPU:1"
class DeviceScope {
 public:
  // A null function: scopes further out do not count in here.
  DeviceScope(Builder& builder, DeviceFunction function);
  DeviceScope(Builder& builder, std::nullptr_t) : DeviceScope(builder, DeviceFunction()) {}
  // USAGE of a string that is none (DeviceSpec::Parse) fails the builder.
  DeviceScope(Builder& builder, std::string_view device);
  ~DeviceScope() { builder_.device_functions_.pop_back(); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  Builder& builder_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_GRAPH_BUILDER_H_
