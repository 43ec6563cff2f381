// Graphs with their collections and their saver to and from TensorFlow's MetaGraphDef, which is what a ".meta" file
// holds.
//
// Collections of outputs, of variables (as VariableDef) and of branches' contexts (cond_context.h) are known here.
// Those of other objects (savers, queue runners) belong to layers above: they pass a codec. Names that begin with
// "vigil/" are this library's own and are never written.
// Thread safety: as the graph's.
// Source: meta_graph.proto; framework/meta_graph.py.
#ifndef VIGIL_CORE_OPS_META_GRAPH_H_
#define VIGIL_CORE_OPS_META_GRAPH_H_

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/graph/saver.pb.h"

namespace vigil {

namespace proto {
class MetaGraphDef;
}  // namespace proto

// How the items of a collection of objects are written: as serialized messages, one for each.
struct CollectionCodec {
  std::string name;
  std::function<std::vector<std::string>(const Graph&)> write;
  // `scope`: of the import ("" = none): goes before the names of nodes.
  std::function<absl::Status(Graph&, const std::vector<std::string>& items, const std::string& scope)> read;
};

// Whether the graph has a collection of that name with other items: then nothing can be added to it.
template <typename T>
bool HoldsOtherItems(const Graph& graph, CollectionKey<T> key) {
  return std::ranges::count(graph.CollectionNames(), key.name) != 0 && graph.FindCollection(key) == nullptr;
}

struct ExportMetaGraphOptions {
  std::optional<proto::SaverDef> saver_def = {};
  std::vector<CollectionCodec> codecs = {};
  std::optional<std::vector<std::string>> collections = {};  // only these; nullopt: all
  bool clear_devices = false;
};

// INVALID_ARGUMENT for more than 2 GiB: what a protocol buffer can hold.
absl::StatusOr<proto::MetaGraphDef> ExportMetaGraph(const Graph& graph, const ExportMetaGraphOptions& options = {});

struct ImportMetaGraphOptions {
  ImportOptions graph = {};
  std::vector<CollectionCodec> codecs = {};
};

// Adds nodes and collections; variables are known to VariablesInitializer() and the like. Returns the names of the
// collections that it could not read: those without a codec, and those whose name the graph has for something else.
// Errors: as ImportGraphDef; INVALID_ARGUMENT for a collection's item that is not in the graph, or is no VariableDef of
// a variable. An import that fails, or throws, leaves the graph as it was (what a codec keeps outside of the graph is
// its own affair).
absl::StatusOr<std::vector<std::string>> ImportMetaGraph(const proto::MetaGraphDef& def, Graph& graph,
                                                         const ImportMetaGraphOptions& options = {});

// A ".meta" file; binary unless `as_text`. Written atomically, `sync`ed before it gets its name; the directory is made.
absl::Status WriteMetaGraph(const Env& env, const proto::MetaGraphDef& def, const std::string& path,
                            bool as_text = false, bool sync = false);
// Reads both. USAGE "File ... does not exist."; INVALID_ARGUMENT "Cannot parse file ...".
absl::StatusOr<proto::MetaGraphDef> ReadMetaGraph(const Env& env, const std::string& path);

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_META_GRAPH_H_
