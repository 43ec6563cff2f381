// The nodes that a saver runs: added to a graph, or found again by the names in a SaverDef.
//
// Thread safety: as the graph's. Errors: USAGE in TensorFlow's words.
// Source: saver.py (BaseSaverBuilder), saveable_object_util.py.
#ifndef VIGIL_CORE_CHECKPOINT_SAVER_OPS_H_
#define VIGIL_CORE_CHECKPOINT_SAVER_OPS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/graph/saver.pb.h"
#include "vigil/core/session/session.h"

namespace vigil {

// Variables, and iterators for their state, by the names that they have in the checkpoint.
using NamedVariables = std::map<std::string, Output>;

// A list: each has its node's name, an iterator "<node>:0_STATE". "At least two variables have the same name: v";
// "Variable to save is not a Variable: ...".
absl::StatusOr<NamedVariables> NameVariables(const Graph& graph, const std::vector<Output>& variables);
// A map that a caller gives. "The same saveable will be restored with two names: b"; "names_to_saveables must be a dict
// mapping string names to Tensors/Variables. Not a variable: ...".
absl::Status CheckNamedVariables(const Graph& graph, const NamedVariables& variables);

struct SaverOps {
  // Fed: the prefix and, if the parts of a sharded checkpoint are in a place of their own first, a TemporarySuffix that
  // no other save has. Fetches the prefix of what was written.
  RunSpec save;
  RunSpec restore;            // fed: the prefix
  std::vector<Output> saved;  // whose values are written, ascending
  proto::SaverDef
      def;  // the names of those nodes and, if it was read, what it says on keeping; else only names and `sharded`
};

struct SaverOpsOptions {
  std::string name = "save";  // the scope; made unique
  std::string filename = "model";
  bool reshape = false;
  bool sharded = false;
  bool synced = true;        // files before they get their names
  std::uint64_t unique = 0;  // in the graph's own TemporarySuffix, for who runs the nodes without feeding one
};

// Where the parts of a sharded checkpoint are written, after its prefix: "_temp_00000000000000ff/part". In the place of
// TensorFlow's "_temp_<uuid>/part"; a graph has one, and every save of a Saver its own, so that two of one step never
// write the same files.
inline constexpr std::string_view kTemporaryFolder = "_temp";
std::string TemporarySuffix(std::uint64_t unique);

// Adds them and notes them as well-known calls. REQUIRES: variables is not empty.
absl::StatusOr<SaverOps> AddSaverOps(Graph& graph, const NamedVariables& variables, const SaverOpsOptions& options);

// Finds them; `scope` goes before the names ("" = none). "saver_def must specify the save_tensor_name: ..."; a name
// that the graph does not have; UNIMPLEMENTED for a version other than V2; INVALID_ARGUMENT for numbers that are
// negative.
absl::StatusOr<SaverOps> FindSaverOps(Graph& graph, const proto::SaverDef& def, const std::string& scope);

}  // namespace vigil

#endif  // VIGIL_CORE_CHECKPOINT_SAVER_OPS_H_
