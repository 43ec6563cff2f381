#include "vigil/core/ops/meta_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/graph.pb.h"
#include "vigil/core/graph/meta_graph.pb.h"
#include "vigil/core/graph/node_def.pb.h"
#include "vigil/core/graph/variable.pb.h"
#include "vigil/core/ops/cond_context.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/tensor/proto_util.h"

namespace vigil {
namespace {

using ops::kVariables;

constexpr std::string_view kTrainable = "trainable_variables";

// Those whose items TensorFlow writes as VariableDef.
bool HoldsVariables(std::string_view collection) {
  return collection == kGlobalVariables.name || collection == kLocalVariables.name || collection == kGlobalStep.name ||
         collection == kTrainable || collection == "model_variables" || collection == "metric_variables" ||
         collection == "moving_average_variables";
}

const CollectionCodec* FindCodec(const std::vector<CollectionCodec>& codecs, std::string_view name) {
  static const CollectionCodec* const kCondContextCodec = new CollectionCodec(CondContextCodec());
  const auto it = std::ranges::find(codecs, name, &CollectionCodec::name);
  if (it != codecs.end()) return &*it;
  return name == kCondContextCodec->name ? kCondContextCodec : nullptr;
}

// "node:index", or "node" for one that only runs.
std::string NameOfItem(const Graph& graph, Output item) {
  return graph.Has(item) ? graph.NameOf(item) : graph.node(item.node).name;
}

class Exporter {
 public:
  explicit Exporter(const Graph& graph) : graph_(graph) {
    for (const ops::Variable& variable : graph.Collection(kVariables)) variables_.emplace(variable.ref, variable);
    for (const Output each : graph.Collection(CollectionKey<Output>{kTrainable})) trainable_.insert(each);
  }

  void WriteItems(std::string_view name, const std::vector<Output>& items, proto::CollectionDef* out) const {
    const bool known = std::ranges::all_of(items, [this](Output item) { return variables_.contains(item); });
    if (!HoldsVariables(name) || !known) {
      for (const Output item : items) out->mutable_node_list()->add_value(NameOfItem(graph_, item));
      return;
    }
    for (const Output item : items) {
      out->mutable_bytes_list()->add_value(VariableDefOf(variables_.find(item)->second).SerializeAsString());
    }
  }

 private:
  proto::VariableDef VariableDefOf(const ops::Variable& variable) const {
    const Node& initializer = graph_.node(variable.initializer);
    proto::VariableDef def;
    def.set_variable_name(graph_.NameOf(variable.ref));
    def.set_initializer_name(initializer.name);
    def.set_snapshot_name(graph_.NameOf(variable.read));
    def.set_initial_value_name(graph_.NameOf(initializer.inputs[1]));
    def.set_is_resource(ops::IsResourceVariable(graph_, variable.ref));
    def.set_trainable(trainable_.contains(variable.ref));
    if (variable.slice.has_value()) {
      proto::SaveSliceInfoDef& slice = *def.mutable_save_slice_info_def();
      slice.set_full_name(variable.slice->full_name);
      for (const std::int64_t size : variable.slice->full_shape) slice.add_full_shape(size);
      for (const std::int64_t offset : variable.slice->offset) slice.add_var_offset(offset);
      for (const std::int64_t size : variable.slice->shape) slice.add_var_shape(size);
    }
    return def;
  }

  const Graph& graph_;
  std::map<Output, ops::Variable> variables_;
  std::set<Output> trainable_;
};

class Importer {
 public:
  Importer(Graph& graph, const ImportMetaGraphOptions& options) : graph_(graph), options_(options) {
    for (const ops::Variable& variable : graph.Collection(kVariables)) variables_.insert(variable.ref);
  }

  // False: there is no way to read it.
  absl::StatusOr<bool> Read(const std::string& name, const proto::CollectionDef& def) {
    if (const CollectionCodec* codec = FindCodec(options_.codecs, name); codec != nullptr && def.has_bytes_list()) {
      const auto& items = def.bytes_list().value();
      VIGIL_RETURN_IF_ERROR(codec->read(graph_, {items.begin(), items.end()}, options_.graph.scope));
      return true;
    }
    const CollectionKey<Output> key{name};
    if (HoldsOtherItems(graph_, key) || name.starts_with("vigil/")) return false;
    if (def.has_node_list()) {
      for (const std::string& item : def.node_list().value()) {
        VIGIL_ASSIGN_OR_RETURN(const Output found, Find(item));
        graph_.AddToCollection(key, found);
      }
      return true;
    }
    if (!def.has_bytes_list() || !HoldsVariables(name)) return false;
    for (const std::string& item : def.bytes_list().value()) {
      VIGIL_ASSIGN_OR_RETURN(const ops::Variable variable, ReadVariable(item));
      graph_.AddToCollection(key, variable.ref);
      if (variables_.insert(variable.ref).second) graph_.AddToCollection(kVariables, variable);
    }
    return true;
  }

 private:
  absl::StatusOr<Output> Find(const std::string& name) const {
    const std::string scoped = options_.graph.scope.empty() ? name : fmt::format("{}/{}", options_.graph.scope, name);
    if (const std::optional<Output> output = graph_.FindOutput(scoped)) return *output;
    if (const std::optional<NodeId> node = graph_.Find(scoped)) return Output{*node, 0};
    return MakeStatus(Code::kInvalidArgument, fmt::format("'{}' is not in the graph", scoped));
  }

  absl::StatusOr<ops::Variable> ReadVariable(const std::string& bytes) const {
    proto::VariableDef def;
    if (!def.ParseFromString(bytes)) return MakeStatus(Code::kInvalidArgument, "an item is no VariableDef");
    ops::Variable variable;
    if (def.has_save_slice_info_def()) {
      VIGIL_ASSIGN_OR_RETURN(variable.slice, SliceOf(def));
    }
    VIGIL_ASSIGN_OR_RETURN(variable.ref, Find(def.variable_name()));
    VIGIL_ASSIGN_OR_RETURN(const Output initializer, Find(def.initializer_name()));
    variable.initializer = initializer.node;
    VIGIL_ASSIGN_OR_RETURN(variable.read, Find(def.snapshot_name()));
    const bool is_resource = ops::IsResourceVariable(graph_, variable.ref);
    if (!ops::IsVariable(graph_, variable.ref) || is_resource != def.is_resource()) {
      return Not(def.variable_name(), def.is_resource() ? "a resource variable" : "a variable");
    }
    // What is written of it later: the value that it assigns.
    const Node& assign = graph_.node(initializer.node);
    const bool assigns = is_resource ? assign.op == "AssignVariableOp" : assign.def->forwards_ref;
    if (!assigns || assign.inputs.size() != 2 || assign.inputs[0] != variable.ref) {
      return Not(def.initializer_name(), fmt::format("an assignment to '{}'", def.variable_name()));
    }
    if (!graph_.Has(variable.read) || graph_.TypeOf(variable.read) != ops::VariableType(graph_, variable.ref)) {
      return Not(def.snapshot_name(), fmt::format("the value of '{}'", def.variable_name()));
    }
    return variable;
  }

  static absl::StatusOr<ops::SaveSlice> SliceOf(const proto::VariableDef& def) {
    const proto::SaveSliceInfoDef& info = def.save_slice_info_def();
    ops::SaveSlice slice{.full_name = info.full_name(),
                         .full_shape = {info.full_shape().begin(), info.full_shape().end()},
                         .offset = {info.var_offset().begin(), info.var_offset().end()},
                         .shape = {info.var_shape().begin(), info.var_shape().end()}};
    const std::size_t rank = slice.full_shape.size();
    bool fits = rank > 0 && slice.offset.size() == rank && slice.shape.size() == rank && !slice.full_name.empty();
    for (std::size_t i = 0; fits && i < rank; ++i) {
      fits = slice.offset[i] >= 0 && slice.shape[i] >= 0 && slice.full_shape[i] >= slice.shape[i] &&
             slice.offset[i] <= slice.full_shape[i] - slice.shape[i];
    }
    if (fits) return slice;
    return MakeStatus(Code::kInvalidArgument,
                      fmt::format("the save_slice_info_def of '{}' is no part of a variable: {}", def.variable_name(),
                                  info.ShortDebugString()));
  }

  static absl::Status Not(std::string_view name, std::string_view what) {
    return MakeStatus(Code::kInvalidArgument, fmt::format("'{}' is not {}", name, what));
  }

  Graph& graph_;
  const ImportMetaGraphOptions& options_;
  std::set<Output> variables_;
};

}  // namespace

absl::StatusOr<proto::MetaGraphDef> ExportMetaGraph(const Graph& graph, const ExportMetaGraphOptions& options) {
  proto::MetaGraphDef def;
  def.mutable_meta_info_def();
  *def.mutable_graph_def() = ToGraphDef(graph);
  if (options.clear_devices) {
    for (proto::NodeDef& node : *def.mutable_graph_def()->mutable_node()) node.clear_device();
  }
  if (options.saver_def.has_value()) *def.mutable_saver_def() = *options.saver_def;
  const Exporter exporter(graph);
  auto& collections = *def.mutable_collection_def();
  for (const std::string& name : options.collections.value_or(graph.CollectionNames())) {
    if (name.starts_with("vigil/")) continue;
    if (const CollectionCodec* codec = FindCodec(options.codecs, name)) {
      for (const std::string& item : codec->write(graph)) collections[name].mutable_bytes_list()->add_value(item);
    } else if (const std::vector<Output>* items = graph.FindCollection(CollectionKey<Output>{name});
               items != nullptr && !items->empty()) {
      exporter.WriteItems(name, *items, &collections[name]);
    }
  }
  if (const std::size_t size = def.ByteSizeLong(); size >= std::size_t{2} << 30) {
    return MakeStatus(Code::kInvalidArgument,
                      fmt::format("A MetaGraphDef cannot be larger than 2GB; this is {} bytes.", size));
  }
  return def;
}

absl::StatusOr<std::vector<std::string>> ImportMetaGraph(const proto::MetaGraphDef& def, Graph& graph,
                                                         const ImportMetaGraphOptions& options) {
  struct Undo {
    explicit Undo(Graph& into) : graph(into), mark(into.Now()) {}
    ~Undo() {
      if (mark.has_value()) graph.TakeBack(*std::move(mark));
    }
    Graph& graph;
    std::optional<Graph::Mark> mark;
  } undo(graph);
  VIGIL_RETURN_IF_ERROR(ImportGraphDef(def.graph_def(), graph, options.graph));
  // The map's order means nothing.
  std::map<std::string, const proto::CollectionDef*> collections;
  for (const auto& [name, collection] : def.collection_def()) collections.emplace(name, &collection);
  std::vector<std::string> unread;
  Importer importer(graph, options);
  for (const auto& [name, collection] : collections) {
    const absl::StatusOr<bool> read = importer.Read(name, *collection);
    if (!read.ok()) {
      return WithMessage(read.status(), fmt::format("Collection '{}': {}", name, MessageOf(read.status())));
    }
    if (!*read) unread.push_back(name);
  }
  undo.mark.reset();
  return unread;
}

absl::Status WriteMetaGraph(const Env& env, const proto::MetaGraphDef& def, const std::string& path, bool as_text,
                            bool sync) {
  std::string bytes;
  if (as_text) {
    bytes = PrintProtoText(def);
  } else {
    VIGIL_ASSIGN_OR_RETURN(bytes, SerializeDeterministically(def));
  }
  if (const std::string directory = Dirname(path); !directory.empty()) {
    VIGIL_RETURN_IF_ERROR(env.files->MakeDirectory(directory));
  }
  return WriteAtomically(*env.files, path, bytes, sync);
}

absl::StatusOr<proto::MetaGraphDef> ReadMetaGraph(const Env& env, const std::string& path) {
  VIGIL_ASSIGN_OR_RETURN(const bool there, Exists(*env.files, path));
  if (!there) return UsageError(fmt::format("File {} does not exist.", path));
  VIGIL_ASSIGN_OR_RETURN(const std::string bytes, ReadAll(*env.files, path));
  proto::MetaGraphDef def;
  if (def.ParseFromString(bytes)) return def;
  def.Clear();
  const absl::Status status = ParseProtoText(bytes, &def);
  if (!status.ok()) return WithMessage(status, fmt::format("Cannot parse file {}: {}", path, MessageOf(status)));
  return def;
}

}  // namespace vigil
