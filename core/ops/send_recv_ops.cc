// _Send and _Recv: what a partition of a graph has in the place of an edge to another partition. Attributes as
// TensorFlow's: tensor_name, send_device, send_device_incarnation, recv_device; the type is T of the one and
// tensor_type of the other.
#include "vigil/core/graph/rendezvous.h"
#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/registration.h"

namespace vigil {
namespace {

using Types = absl::StatusOr<std::vector<DType>>;

absl::Status NoRendezvous(const KernelContext& c) {
  return MakeStatus(Code::kInternal,
                    fmt::format("Op kernel context needs to provide a rendezvous: '{}' belongs to a part of a graph.",
                                c.node().name));
}

absl::Status Send(KernelContext& c) {
  return c.rendezvous() == nullptr ? NoRendezvous(c)
                                   : c.rendezvous()->Send(c.node(), c.is_dead() ? Tensor() : c.input(0));
}

absl::Status Recv(KernelContext& c) {
  if (c.rendezvous() == nullptr) return NoRendezvous(c);
  VIGIL_ASSIGN_OR_RETURN(Tensor value, c.rendezvous()->Recv(c.node(), c.deadline()));
  const DType wanted = c.node().output_types[0];
  const bool is_dead = !value.valid() && c.attr_or<bool>(kMayBeDead, false);
  if (value.dtype() != wanted && !is_dead) {
    return MakeStatus(Code::kInternal, fmt::format("'{}' was sent a value of type {}, not {}.", c.node().name,
                                                   DTypeName(value.dtype()), DTypeName(wanted)));
  }
  c.set_output(0, std::move(value));
  return absl::OkStatus();
}

absl::Status RequireEdge(const Node& node) {
  VIGIL_RETURN_IF_ERROR(RequireAttr<std::string>(node, "tensor_name"));
  VIGIL_RETURN_IF_ERROR(RequireAttr<std::string>(node, "send_device"));
  VIGIL_RETURN_IF_ERROR(RequireAttr<std::int64_t>(node, "send_device_incarnation"));
  return RequireAttr<std::string>(node, "recv_device");
}

Types SendTypes(const Node& node, const std::vector<DType>&) {
  VIGIL_RETURN_IF_ERROR(RequireEdge(node));
  return std::vector<DType>{};
}

Types RecvTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireEdge(node));
  return FromAttr("tensor_type")(node, inputs);
}

}  // namespace

void RegisterSendRecvOps(OpRegistry& registry) {
  registry.Register(
      {.name = "_Send", .inputs = 1, .output_types = SendTypes, .compute = Send, .control_flow = ControlFlow::kSend});
  registry.Register({.name = "_Recv", .output_types = RecvTypes, .compute = Recv, .control_flow = ControlFlow::kRecv});
  registry.Imply("_Send", {{"T", ImpliedAttr::Kind::kInputType, 0}});
}

}  // namespace vigil
