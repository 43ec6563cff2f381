// Attributes of nodes to and from TensorFlow's protocol buffer.
// Thread safety: pure functions.
#ifndef VIGIL_CORE_GRAPH_ATTR_VALUE_H_
#define VIGIL_CORE_GRAPH_ATTR_VALUE_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "vigil/core/graph/graph.h"

namespace vigil {

namespace proto {
class AttrValue;
}  // namespace proto

void ToProto(const AttrValue& value, proto::AttrValue* out);

// nullopt: a value that says nothing (none, an empty list, a shape of unknown rank, a list with one): the node goes
// without it. In shapes -1 is a dimension that is not known.
// Errors: UNIMPLEMENTED for kinds of values and element types that there are not here; what FromProto of a tensor gives
// (tensor_proto.h, where `may_fill` is told).
absl::StatusOr<std::optional<AttrValue>> FromProto(const proto::AttrValue& value, std::int64_t* may_fill);

// The value of an attribute that follows from the rest of the node. REQUIRES: the node is one of the graph's.
proto::AttrValue ImpliedValue(const ImpliedAttr& attr, const Graph& graph, const Node& node);

}  // namespace vigil

#endif  // VIGIL_CORE_GRAPH_ATTR_VALUE_H_
