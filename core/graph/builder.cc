#include "vigil/core/graph/builder.h"

#include <utility>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/graph/device_spec.h"

namespace vigil {

absl::Status Builder::Place(Node& node, NodeId colocate_with) const {
  for (auto function = device_functions_.rbegin(); function != device_functions_.rend() && *function != nullptr;
       ++function) {
    VIGIL_ASSIGN_OR_RETURN(node.device, CallGuarded([&] { return (*function)(node); }));
  }
  const OpDef* const op = graph_->ops().Find(node.op);
  for (std::size_t i = 0; op != nullptr && colocate_with == kNoNode && i < node.inputs.size(); ++i) {
    if (op->TakesReference(static_cast<int>(i))) colocate_with = node.inputs[i].node;
  }
  if (colocate_with < 0 || colocate_with >= graph_->size()) return absl::OkStatus();
  if (const std::string& there = graph_->node(colocate_with).device; !there.empty()) node.device = there;
  return absl::OkStatus();
}

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
  if (!container.empty()) {
    const OpDef* const def = graph_->ops().Find(node.op);
    if (def != nullptr && def->is_resource) node.attrs.try_emplace("container", container);
  }
  if (absl::Status placed = Place(node, options.colocate_with); !placed.ok()) {
    Fail(std::move(placed));
    return {};
  }
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

DeviceScope::DeviceScope(Builder& builder, DeviceFunction function) : builder_(builder) {
  builder_.device_functions_.push_back(std::move(function));
}

DeviceScope::DeviceScope(Builder& builder, std::string_view device) : builder_(builder) {
  const absl::StatusOr<DeviceSpec> spec = DeviceSpec::Parse(device);
  if (!spec.ok()) builder_.Fail(spec.status());
  builder_.device_functions_.emplace_back(
      [outer = spec.ok() ? *spec : DeviceSpec()](const Node& node) -> absl::StatusOr<std::string> {
        VIGIL_ASSIGN_OR_RETURN(const DeviceSpec inner, DeviceSpec::Parse(node.device));
        return outer.MergedWith(inner).ToString();
      });
}

}  // namespace vigil
