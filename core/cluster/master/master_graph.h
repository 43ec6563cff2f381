// A graph as a master keeps it for all sessions that were made with it: imported once, cut up once for each kind of
// step.
//
// A job that recovers from a fault makes its next session with the same graph, as a rule on the same tasks: what was
// worked out for the last one still holds.
// Thread safety: safe from any task. Used through shared_ptr, which sessions hold.
#ifndef VIGIL_CORE_CLUSTER_MASTER_MASTER_GRAPH_H_
#define VIGIL_CORE_CLUSTER_MASTER_MASTER_GRAPH_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/cluster/master_interface.h"
#include "vigil/core/cluster/partition/partition.h"
#include "vigil/core/graph/graph.h"

namespace vigil {

namespace proto {
class GraphDef;
}  // namespace proto

using TaskDevices = std::shared_ptr<const std::vector<TaskDevice>>;

// What one task has to do for one kind of step. See partition.h.
struct CutPart {
  int device = 0;
  std::string graph;  // a GraphDef in bytes
  std::vector<PartitionFeed> feeds;
  std::vector<PartitionFetch> fetches;
};
struct CutGraph {
  std::vector<CutPart> parts;  // in the order of the devices
  std::vector<std::pair<int, int>> fed_fetches;
};

class MasterGraph {
 public:
  // Errors: ImportGraphDef's. The registry is borrowed.
  static absl::StatusOr<std::shared_ptr<MasterGraph>> Import(const OpRegistry& ops, const proto::GraphDef& def);

  const Graph& graph() const { return graph_; }
  // `own`: the device of the master's task. Errors: PartitionGraph's.
  absl::StatusOr<std::shared_ptr<const CutGraph>> Cut(const StepNames& names, const TaskDevices& devices, int own);

 private:
  struct Known {
    TaskDevices devices;
    int own = 0;
    std::shared_ptr<const CutGraph> cut;
    bool Fits(const TaskDevices& wanted, int wanted_own) const;
  };

  explicit MasterGraph(const OpRegistry& ops) : graph_(ops) {}

  Graph graph_;
  SpinLock lock_;
  std::map<StepNames, Known> cuts_;  // for the devices that were asked for last; guarded by lock_
};

// The graphs of a master's latest sessions. Safe from any task.
class MasterGraphs {
 public:
  static constexpr std::size_t kMostKept = 4;
  // Borrowed.
  explicit MasterGraphs(const OpRegistry& ops) : ops_(ops) {}

  // `bytes`: a GraphDef. Errors: INVALID_ARGUMENT if it is none; ImportGraphDef's.
  absl::StatusOr<std::shared_ptr<MasterGraph>> Get(const std::string& bytes);

 private:
  struct Kept {
    std::shared_ptr<const std::string> bytes;
    std::shared_ptr<MasterGraph> graph;
  };
  const OpRegistry& ops_;
  SpinLock lock_;
  std::vector<Kept> kept_;  // the latest last; guarded by lock_
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_MASTER_MASTER_GRAPH_H_
