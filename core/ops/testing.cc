#include "vigil/core/ops/testing.h"

#include <fmt/format.h>

#include <utility>

#include "vigil/core/base/status_macros.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

template <typename T>
std::string Elements(const Tensor& tensor) {
  std::string out;
  for (const T& element : tensor.flat<T>()) out += fmt::format(" {}", element);
  return out;
}

std::string Elements(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kFloat:
      return Elements<float>(tensor);
    case DType::kDouble:
      return Elements<double>(tensor);
    case DType::kInt32:
      return Elements<std::int32_t>(tensor);
    case DType::kInt64:
      return Elements<std::int64_t>(tensor);
    case DType::kBool:
      return Elements<bool>(tensor);
    case DType::kString:
      return Elements<std::string>(tensor);
    default:
      return " ?";
  }
}

}  // namespace

std::string Show(const absl::Status& status) { return fakes::Text(status); }

std::string Show(const absl::StatusOr<Tensor>& value) {
  return value.ok() ? value->Describe() + Elements(*value) : Show(value.status());
}

absl::StatusOr<Tensor> OpRunner::Get(Output output) {
  VIGIL_RETURN_IF_ERROR(b_.status());
  return ValueOf(output, kNever);
}

absl::Status OpRunner::Run(NodeId node, Time deadline) {
  VIGIL_RETURN_IF_ERROR(b_.status());
  return Outputs(node, deadline).status();
}

absl::Status OpRunner::RunAll(NodeId node, Time deadline, std::vector<Tensor>* values) {
  VIGIL_ASSIGN_OR_RETURN(*values, Outputs(node, deadline));
  return absl::OkStatus();
}

absl::StatusOr<Tensor> OpRunner::ValueOf(Output output, Time deadline) {
  VIGIL_ASSIGN_OR_RETURN(const std::vector<Tensor> all, Outputs(output.node, deadline));
  return all[static_cast<std::size_t>(output.index)];
}

absl::StatusOr<std::vector<Tensor>> OpRunner::Outputs(NodeId id, Time deadline) {
  const Node& node = graph_.node(id);
  for (const NodeId control : node.control_inputs) VIGIL_RETURN_IF_ERROR(Outputs(control, deadline).status());
  if (node.def->constant) return std::vector<Tensor>{node.def->constant(node)};
  std::vector<Tensor> values(node.inputs.size());
  std::vector<const Tensor*> inputs;
  const bool own = node.def->is_resource || node.def->keeps_state;
  const Node* holder = own ? &node : nullptr;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Node& from = graph_.node(node.inputs[i].node);
    const bool reference = node.TakesReference(static_cast<int>(i));
    if (reference && holder == nullptr) holder = &graph_.node(from.refers_to);
    if (!reference || !from.def->is_resource) {
      VIGIL_ASSIGN_OR_RETURN(values[i], ValueOf(node.inputs[i], deadline));
    }
    inputs.push_back(reference ? nullptr : &values[i]);
  }
  std::vector<Tensor> outputs(node.output_types.size());
  std::shared_ptr<Resource> cached;
  const Kernel& kernel = node.def->is_resource ? node.def->read : node.def->compute;
  if (!kernel) return outputs;
  KernelContext context(env_, graph_, resources_, resources_, cancellation_);
  context.Start(deadline);
  const KernelCall call{.node = &node,
                        .kernel = &kernel,
                        .holder = holder,
                        .inputs = inputs.data(),
                        .outputs = outputs.data(),
                        .cached = &cached};
  context.Enter(call);
  VIGIL_RETURN_IF_ERROR(kernel(context));
  return outputs;
}

}  // namespace vigil
