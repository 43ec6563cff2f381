#include "vigil/core/cluster/partition/cut_edges.h"

#include <algorithm>
#include <map>
#include <utility>

#include "vigil/core/graph/group.h"
#include "vigil/core/session/read_behind.h"

namespace vigil {
namespace {

// How far each task is known to have come: by device the last node known to have run there.
using Progress = std::vector<NodeId>;

class EdgeFinder {
 public:
  EdgeFinder(const Graph& graph, const NeededNodes& found, const std::vector<int>& placed, int devices)
      : graph_(graph),
        found_(found),
        needed_(found.needed),
        fed_(found.fed),
        placed_(placed),
        devices_(static_cast<std::size_t>(devices)),
        known_(devices_, Progress(devices_, kNoNode)),
        known_after_(needed_.size()) {
    out_.conditional = FindConditional(graph, found);
    out_.sends_after.resize(needed_.size());
    out_.reads_before.resize(needed_.size());
    out_.recvs_before.resize(needed_.size());
    out_.controls_of.resize(needed_.size());
    out_.before.resize(needed_.size());
  }

  CutEdges Find() {
    for (NodeId id = 0; id < graph_.size(); ++id) {
      const auto at = static_cast<std::size_t>(id);
      if (!needed_[at]) continue;
      FindBefore(id);
      if (!HasStep(id)) continue;
      CutInputs(id);
      CutControls(id);
      Progress& here = Known(placed_[at]);
      here[static_cast<std::size_t>(placed_[at])] = id;
      known_after_[at] = here;
    }
    return std::move(out_);
  }

 private:
  Progress& Known(int device) { return known_[static_cast<std::size_t>(device)]; }
  int DeviceOf(NodeId id) const { return placed_[static_cast<std::size_t>(id)]; }
  bool HasStep(NodeId id) const { return out_.HasStep(graph_, id); }
  bool MayBeDead(NodeId id) const {
    return !out_.conditional.empty() && out_.conditional[static_cast<std::size_t>(id)];
  }
  bool IsFed(Output output) const { return std::ranges::binary_search(fed_, output); }

  // A node without work passes on what it waits for itself.
  void AddBefore(std::vector<NodeId>& before, NodeId id) const {
    if (HasStep(id)) {
      before.push_back(id);
      return;
    }
    const std::vector<NodeId>& further = out_.before[static_cast<std::size_t>(id)];
    before.insert(before.end(), further.begin(), further.end());
  }

  void FindBefore(NodeId id) {
    const Node& node = graph_.node(id);
    std::vector<NodeId>& before = out_.before[static_cast<std::size_t>(id)];
    for (const NodeId control : node.control_inputs) AddBefore(before, control);
    for (const Output input : node.inputs) {
      if (!IsFed(input) && !HasStep(input.node)) AddBefore(before, input.node);
    }
    std::ranges::sort(before);
    before.erase(std::unique(before.begin(), before.end()), before.end());
  }

  int Cut(Output from, int to) {
    const bool is_branch =
        from.index != kControlIndex && graph_.node(from.node).def->control_flow == ControlFlow::kSwitch;
    out_.edges.push_back({from, to, is_branch || MayBeDead(from.node)});
    return static_cast<int>(out_.edges.size()) - 1;
  }

  void Learn(int device, const Progress& news) {
    Progress& known = Known(device);
    for (std::size_t i = 0; i < devices_; ++i) known[i] = std::max(known[i], news[i]);
  }

  void CutInputs(NodeId id) {
    const Node& node = graph_.node(id);
    const int device = DeviceOf(id);
    for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
      const Output input = InputOnTask(graph_, found_, placed_, id, node.inputs[static_cast<std::size_t>(i)]);
      const Node& from = graph_.node(input.node);
      const bool copied = from.def->constant && !HasStep(input.node);
      if (IsFed(input) || copied || node.TakesReference(i) || DeviceOf(input.node) == device) continue;
      if (HasStep(input.node)) {
        CutValue(id, input, device);
      } else {
        CutRead(id, input, device);
      }
    }
  }

  void CutValue(NodeId id, Output input, int device) {
    const auto [it, added] = out_.values.try_emplace({input, device});
    if (!added) return;
    it->second = Cut(input, device);
    out_.sends_after[static_cast<std::size_t>(input.node)].push_back(it->second);
    out_.recvs_before[static_cast<std::size_t>(id)].push_back(it->second);
    Learn(device, known_after_[static_cast<std::size_t>(input.node)]);
  }

  void CutRead(NodeId id, Output input, int device) {
    const auto [it, added] = out_.reads.try_emplace({input, id});
    if (!added) return;
    it->second = Cut(input, device);
    out_.reads_before[static_cast<std::size_t>(id)].push_back(it->second);
    out_.recvs_before[static_cast<std::size_t>(id)].push_back(it->second);
    Learn(device, Known(DeviceOf(input.node)));
  }

  // Of what has to run before on another task the last one suffices: tasks run in order. None does if it is known
  // already. But of what may be dead it must be heard.
  void CutControls(NodeId id) {
    const auto at = static_cast<std::size_t>(id);
    const int device = DeviceOf(id);
    const std::vector<NodeId>& before = out_.before[at];
    for (std::size_t i = before.size(); i-- > 0;) {
      const NodeId last = before[i];
      const int there = DeviceOf(last);
      if (there == device) continue;
      if (!MayBeDead(last) && Known(device)[static_cast<std::size_t>(there)] >= last) continue;
      const auto [it, added] = controls_.try_emplace({last, device}, -1);
      if (!added) {
        out_.controls_of[at].push_back(it->second);
        continue;
      }
      const int cut = it->second = Cut({last, kControlIndex}, device);
      out_.sends_after[static_cast<std::size_t>(last)].push_back(cut);
      out_.recvs_before[at].push_back(cut);
      out_.controls_of[at].push_back(cut);
      Learn(device, known_after_[static_cast<std::size_t>(last)]);
    }
  }

  const Graph& graph_;
  const NeededNodes& found_;
  const std::vector<bool>& needed_;
  const std::vector<Output>& fed_;
  const std::vector<int>& placed_;
  const std::size_t devices_;
  std::map<std::pair<NodeId, int>, int> controls_;  // by source and device
  std::vector<Progress> known_;                     // by device: now
  std::vector<Progress> known_after_;               // by node: on its device, when it has run
  CutEdges out_;
};

}  // namespace

bool HasStep(const Node& node, bool may_be_dead) {
  return (!node.def->constant || may_be_dead) && !node.def->is_resource && HasWork(node);
}

int CutEdges::Find(NodeId consumer, Output from, int device) const {
  if (const auto it = values.find({from, device}); it != values.end()) return it->second;
  if (const auto it = reads.find({from, consumer}); it != reads.end()) return it->second;
  return -1;
}

Output InputOnTask(const Graph& graph, const NeededNodes& found, const std::vector<int>& placed, NodeId id,
                   Output input) {
  const Output behind = ReadBehind(graph, found.fed, graph.node(id), input);
  const bool is_here = placed[static_cast<std::size_t>(behind.node)] == placed[static_cast<std::size_t>(id)];
  return is_here ? behind : input;
}

CutEdges FindCutEdges(const Graph& graph, const NeededNodes& found, const std::vector<int>& placed, int devices) {
  return EdgeFinder(graph, found, placed, devices).Find();
}

}  // namespace vigil
