#include "vigil/core/cluster/master/master_graph.h"

#include <algorithm>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/wire.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/tensor/proto_util.h"

namespace vigil {
namespace {

RunSpec SpecOf(const Graph& graph, const StepNames& names) {
  RunSpec spec;
  for (const std::string& name : names.feeds) spec.feeds.push_back(graph.FindOutput(name).value_or(Output()));
  for (const std::string& name : names.fetches) {
    if (const auto fetch = graph.FindOutput(name); fetch.has_value()) {
      spec.fetches.push_back(*fetch);
    } else {
      spec.unresolved.push_back(name);
    }
  }
  for (const std::string& name : names.targets) {
    if (const auto target = graph.Find(name); target.has_value()) {
      spec.targets.push_back(*target);
    } else {
      spec.unresolved.push_back(name);
    }
  }
  return spec;
}

}  // namespace

absl::StatusOr<std::shared_ptr<MasterGraph>> MasterGraph::Import(const OpRegistry& ops, const proto::GraphDef& def) {
  std::shared_ptr<MasterGraph> made(new MasterGraph(ops));
  VIGIL_RETURN_IF_ERROR(ImportGraphDef(def, made->graph_));
  made->graph_.Finalize();
  return made;
}

// A restarted task matters only where the cut names it: there its new incarnation must stand.
bool MasterGraph::Known::Fits(const TaskDevices& wanted, int wanted_own) const {
  if (own != wanted_own) return false;
  if (devices == wanted) return true;
  const auto same_task = [](const TaskDevice& a, const TaskDevice& b) {
    return a.task == b.task && a.job == b.job && a.of_tensorflow == b.of_tensorflow;
  };
  return std::ranges::equal(*devices, *wanted, same_task) && std::ranges::all_of(cut->parts, [&](const CutPart& part) {
           const auto at = static_cast<std::size_t>(part.device);
           return (*devices)[at].incarnation == (*wanted)[at].incarnation;
         });
}

absl::StatusOr<std::shared_ptr<const CutGraph>> MasterGraph::Cut(const StepNames& names, const TaskDevices& devices,
                                                                 int own) {
  {
    SpinGuard lock(lock_);
    if (const auto it = cuts_.find(names); it != cuts_.end() && it->second.Fits(devices, own)) return it->second.cut;
  }
  VIGIL_ASSIGN_OR_RETURN(PartitionedGraph parts, PartitionGraph(graph_, SpecOf(graph_, names), *devices, own));
  auto cut = std::make_shared<CutGraph>();
  cut->fed_fetches = std::move(parts.fed_fetches);
  for (Partition& from : parts.parts) {
    CutPart& part = cut->parts.emplace_back();
    part.device = from.device;
    VIGIL_ASSIGN_OR_RETURN(part.graph, SerializeDeterministically(from.graph));
    part.feeds = std::move(from.feeds);
    part.fetches = std::move(from.fetches);
  }
  Known known{devices, own, std::move(cut)};
  SpinGuard lock(lock_);
  Known& kept = cuts_[names];
  std::swap(kept, known);  // what was known before is destroyed after the lock is released
  return kept.cut;
}

absl::StatusOr<std::shared_ptr<MasterGraph>> MasterGraphs::Get(const std::string& bytes) {
  std::vector<Kept> known;
  {
    SpinGuard lock(lock_);
    known = kept_;
  }
  for (const Kept& kept : known) {
    if (*kept.bytes == bytes) return kept.graph;
  }
  proto::GraphDef def;
  if (!def.ParseFromString(bytes)) return NotParsed();
  VIGIL_ASSIGN_OR_RETURN(std::shared_ptr<MasterGraph> graph, MasterGraph::Import(ops_, def));
  Kept oldest;  // destroyed after the lock is released
  SpinGuard lock(lock_);
  if (kept_.size() == kMostKept) {
    oldest = std::move(kept_.front());
    kept_.erase(kept_.begin());
  }
  kept_.push_back({std::make_shared<const std::string>(bytes), graph});
  return graph;
}

}  // namespace vigil
