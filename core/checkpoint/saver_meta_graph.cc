#include "vigil/core/checkpoint/saver_meta_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/meta_graph.pb.h"
#include "vigil/core/graph/node_def.pb.h"

namespace vigil {
namespace {

// "save_1/" of a saver whose prefix is "save_1/Const:0": all its nodes are there.
std::string ScopeOf(const proto::SaverDef& def) {
  const std::string& name = def.filename_tensor_name();
  return name.substr(0, name.rfind('/') + 1);
}

// Takes out what belongs to savers of the collection other than `kept`.
void RemoveOtherSavers(const Graph& graph, const Saver* kept, proto::MetaGraphDef& def) {
  std::set<std::string> scopes;
  for (const SaverPtr& saver : graph.Collection(kSavers)) {
    if (saver.get() != kept && saver->AsSaverDef() != nullptr) scopes.insert(ScopeOf(*saver->AsSaverDef()));
  }
  const auto gone = [&scopes](const proto::NodeDef& node) {
    return std::ranges::any_of(scopes, [&node](const std::string& scope) { return node.name().starts_with(scope); });
  };
  auto& nodes = *def.mutable_graph_def()->mutable_node();
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), gone), nodes.end());
  auto& collections = *def.mutable_collection_def();
  collections.erase(std::string(kSavers.name));
  if (kept != nullptr && kept->AsSaverDef() != nullptr) {
    collections[std::string(kSavers.name)].mutable_bytes_list()->add_value(kept->AsSaverDef()->SerializeAsString());
  }
}

}  // namespace

CollectionCodec SaverCodec(const Env& env, const Behaviour& behaviour) {
  CollectionCodec codec{.name = std::string(kSavers.name)};
  codec.write = [](const Graph& graph) {
    std::vector<std::string> items;
    for (const SaverPtr& saver : graph.Collection(kSavers)) {
      if (const proto::SaverDef* def = saver->AsSaverDef()) items.push_back(def->SerializeAsString());
    }
    return items;
  };
  codec.read = [env, behaviour](Graph& graph, const std::vector<std::string>& items, const std::string& scope) {
    for (const std::string& item : items) {
      proto::SaverDef def;
      if (!def.ParseFromString(item)) return MakeStatus(Code::kInvalidArgument, "an item is no SaverDef");
      VIGIL_ASSIGN_OR_RETURN(SaverPtr saver, Saver::FromDef(env, graph, def, scope, {.behaviour = behaviour}));
      graph.AddToCollection(kSavers, std::move(saver));
    }
    return absl::OkStatus();
  };
  return codec;
}

absl::StatusOr<proto::MetaGraphDef> ExportMetaGraphFile(const Env& env, const Graph& graph,
                                                        const ExportToFileOptions& options) {
  ExportMetaGraphOptions parts = options.meta_graph;
  proto::MetaGraphDef def;
  if (options.saver != nullptr) {
    VIGIL_ASSIGN_OR_RETURN(def, options.saver->ExportMetaGraph(graph, std::move(parts)));
  } else {
    parts.codecs.push_back(SaverCodec(env));
    VIGIL_ASSIGN_OR_RETURN(def, ExportMetaGraph(graph, parts));
  }
  if (options.clear_extraneous_savers) RemoveOtherSavers(graph, options.saver, def);
  if (!options.filename.empty()) {
    VIGIL_RETURN_IF_ERROR(WriteMetaGraph(env, def, options.filename, options.as_text));
  }
  return def;
}

absl::StatusOr<SaverPtr> ImportMetaGraphWithSaver(const Env& env, const proto::MetaGraphDef& def, Graph& graph,
                                                  const ImportSaverOptions& options) {
  ImportMetaGraphOptions parts = options.meta_graph;
  parts.codecs.push_back(SaverCodec(env, options.saver.behaviour));
  VIGIL_RETURN_IF_ERROR(ImportMetaGraph(def, graph, parts).status());
  if (def.has_saver_def()) {
    return Saver::FromDef(env, graph, def.saver_def(), options.meta_graph.graph.scope, options.saver);
  }
  if (graph.Collection(kGlobalVariables).empty()) {
    env.log->Write(Severity::kInfo, "Saver not created because there are no variables in the graph to restore");
    return SaverPtr();
  }
  auto saver = std::make_shared<Saver>(env, options.saver);
  VIGIL_RETURN_IF_ERROR(saver->Build(graph));
  return saver;
}

absl::StatusOr<SaverPtr> ImportMetaGraphFile(const Env& env, const std::string& filename, Graph& graph,
                                             const ImportSaverOptions& options) {
  VIGIL_ASSIGN_OR_RETURN(const proto::MetaGraphDef def, ReadMetaGraph(env, filename));
  return ImportMetaGraphWithSaver(env, def, graph, options);
}

}  // namespace vigil
