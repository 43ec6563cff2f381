// Meta graphs with their savers: what a ".meta" file holds.
//
//   VIGIL_ASSIGN_OR_RETURN(SaverPtr saver, ImportMetaGraphFile(env, graph, "/dir/model.ckpt-7.meta"));
//   VIGIL_RETURN_IF_ERROR(saver->Restore(session, "/dir/model.ckpt-7"));
//
// Thread safety: as the graph's. Source: saver.py (export_meta_graph, import_meta_graph).
#ifndef VIGIL_CORE_CHECKPOINT_SAVER_META_GRAPH_H_
#define VIGIL_CORE_CHECKPOINT_SAVER_META_GRAPH_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/ops/meta_graph.h"

namespace vigil {

namespace proto {
class MetaGraphDef;
}  // namespace proto

// Writes and reads kSavers as SaverDef. Savers that are not built or have nothing to save are not written; those that
// are read belong to `env` and behave as `behaviour` says.
CollectionCodec SaverCodec(const Env& env, const Behaviour& behaviour = Behaviour::Default());

// Of the graph, with `saver` (null: with none). A file is written too if `filename` is given.
// Errors: as ExportMetaGraph; the file seam's.
struct ExportToFileOptions {
  const Saver* saver = nullptr;
  std::string filename;
  bool as_text = false;
  ExportMetaGraphOptions meta_graph = {};
  // Without the nodes and the collection's items of other savers.
  bool clear_extraneous_savers = false;
};
absl::StatusOr<proto::MetaGraphDef> ExportMetaGraphFile(const Env& env, const Graph& graph,
                                                        const ExportToFileOptions& options);

struct ImportSaverOptions {
  ImportMetaGraphOptions meta_graph = {};
  SaverOptions saver = {};  // what SaverDef does not say
};
// Adds what the meta graph holds to the graph. The saver that it names; else a new one of all variables; null (and an
// INFO line) if there are none. Errors: as ImportMetaGraph, FindSaverOps; of a file as ReadMetaGraph.
absl::StatusOr<SaverPtr> ImportMetaGraphWithSaver(const Env& env, const proto::MetaGraphDef& def, Graph& graph,
                                                  const ImportSaverOptions& options = {});
absl::StatusOr<SaverPtr> ImportMetaGraphFile(const Env& env, const std::string& filename, Graph& graph,
                                             const ImportSaverOptions& options = {});

}  // namespace vigil

#endif  // VIGIL_CORE_CHECKPOINT_SAVER_META_GRAPH_H_
