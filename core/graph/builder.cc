#include "vigil/core/graph/builder.h"

#include <utility>

namespace vigil {

Output Builder::Op(std::string op, std::vector<Output> inputs, NodeOptions options) {
  if (!status_.ok()) return {};
  Node node;
  node.name = std::move(options.name);
  node.op = std::move(op);
  node.inputs = std::move(inputs);
  node.control_inputs = control_inputs;
  node.control_inputs.insert(node.control_inputs.end(), options.control_inputs.begin(), options.control_inputs.end());
  node.attrs = std::move(options.attrs);
  node.device = device;
  absl::StatusOr<NodeId> id = graph_->Add(std::move(node));
  if (!id.ok()) {
    Fail(id.status());
    return {};
  }
  return {*id, 0};
}

Output Builder::Const(std::string name, Tensor value) {
  Attrs attrs;
  attrs.emplace("dtype", value.dtype());
  attrs.emplace("value", std::move(value));
  return Op("Const", {}, {.name = std::move(name), .attrs = std::move(attrs)});
}

Output Builder::Group(std::string name, const std::vector<NodeId>& after) {
  return Op("NoOp", {}, {.name = std::move(name), .control_inputs = after});
}

}  // namespace vigil
