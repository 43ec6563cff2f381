// Graphs to and from TensorFlow's GraphDef.
//
// Equal graphs give equal bytes. What is written TensorFlow reads: each node gets the attributes that TensorFlow's
// definition of its op wants (op.h, ImpliedAttr). Not written: shapes of outputs, functions.
// Thread safety: as the graph's.
// Source: graph.proto; framework/importer.py, graph_io.py (write_graph).
#ifndef VIGIL_CORE_GRAPH_GRAPH_DEF_H_
#define VIGIL_CORE_GRAPH_GRAPH_DEF_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"

namespace vigil {

namespace proto {
class GraphDef;
class NodeDef;
}  // namespace proto

// The version of graphs that this library writes and reads: TensorFlow 2.21's.
inline constexpr int kGraphDefVersion = 2474;

proto::GraphDef ToGraphDef(const Graph& graph);
// The same in bytes. Made once for a graph of that size and kept with it. INVALID_ARGUMENT for more than 2 GiB.
absl::StatusOr<const std::string*> GraphDefBytes(const Graph& graph);
// A node's inputs, as a NodeDef has them: "node", "node:1", "^node".
std::vector<std::string> InputTexts(const Graph& graph, const Node& node);
// One node of the graph.
void ToProto(const Graph& graph, const Node& node, proto::NodeDef* out);

struct ImportOptions {
  std::string scope = {};      // "a": every node gets "a/" before its name
  bool clear_devices = false;  // nodes forget their devices
};

// Adds the nodes of `def`, in its order as far as inputs come first. An import that fails changes nothing. Errors:
// NOT_FOUND for unknown ops, UNIMPLEMENTED for loops and calls of functions (one error lists all such nodes);
// INVALID_ARGUMENT for an input that there is not, a cycle, two nodes of one name, a name that the graph has already,
// an attribute that contradicts the node's types, a format of the future; UNIMPLEMENTED for what there is not here
// (element types, functions); INVALID_ARGUMENT also for values that the message leaves out and that would take more
// than kMostFilledBytes (tensor_proto.h); what Graph::Add gives. Each names the node.
absl::Status ImportGraphDef(const proto::GraphDef& def, Graph& graph, const ImportOptions& options = {});

// Writes the graph as protocol-buffer text to "<directory>/<name>", atomically; the directory is made. Returns that
// path.
absl::StatusOr<std::string> WriteGraphText(const Env& env, const Graph& graph, const std::string& directory,
                                           std::string_view name = "graph.pbtxt");
// The reverse: what a text file of that path holds. INVALID_ARGUMENT with line and column if it is no GraphDef.
absl::StatusOr<proto::GraphDef> ReadGraphText(const Env& env, const std::string& path);

}  // namespace vigil

#endif  // VIGIL_CORE_GRAPH_GRAPH_DEF_H_
