#include "vigil/core/cluster/partition/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/partition/cut_edges.h"
#include "vigil/core/cluster/partition/placement.h"
#include "vigil/core/graph/attr_value.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/session/plan.h"

namespace vigil {
namespace {

void SetAttr(proto::NodeDef& node, const std::string& name, const AttrValue& value) {
  ToProto(value, &(*node.mutable_attr())[name]);
}

std::string InputText(const std::string& node, std::int32_t index) {
  return index == 0 ? node : fmt::format("{}:{}", node, index);
}

// Writes the partitions, node after node.
class PartitionWriter {
 public:
  PartitionWriter(const Graph& graph, const RunSpec& spec, const std::vector<TaskDevice>& devices, int own,
                  const NeededNodes& found, const std::vector<int>& placed, const CutEdges& cuts)
      : graph_(graph),
        spec_(spec),
        devices_(devices),
        own_(own),
        found_(found),
        placed_(placed),
        cuts_(cuts),
        recv_names_(cuts.edges.size()),
        drafts_(devices.size()) {}

  PartitionedGraph Write() {
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (!found_.needed[static_cast<std::size_t>(id)]) continue;
      if (cuts_.HasStep(graph_, id)) {
        WriteStep(id);
      } else if (IsRemoteTarget(id)) {
        WriteNode(placed_[static_cast<std::size_t>(id)], id, {});
      }
    }
    WriteFetches();
    PartitionedGraph out;
    out.fed_fetches = std::move(fed_fetches_);
    for (std::size_t i = 0; i < drafts_.size(); ++i) {
      if (drafts_[i].part.graph.node_size() == 0) continue;
      drafts_[i].part.device = static_cast<int>(i);
      drafts_[i].part.graph.mutable_versions()->set_producer(kGraphDefVersion);
      out.parts.push_back(std::move(drafts_[i].part));
    }
    return out;
  }

 private:
  struct Draft {
    Partition part;
    std::set<NodeId> copied;            // constants and resources that are there
    std::map<Output, std::string> fed;  // by what is fed: the node that gives its value
  };

  // What a _Send and its _Recv have to agree on.
  struct EdgeEnds {
    int number = 0;
    NodeId source = kNoNode;
    DType type = DType::kFloat;
    int from = 0;  // devices
    int to = 0;
    bool may_be_dead = false;
  };

  // A target without work must not go unheard if its task has nothing else to do: the task must be there.
  bool IsRemoteTarget(NodeId id) const {
    const Node& node = graph_.node(id);
    return !node.def->constant && !node.def->is_resource && placed_[static_cast<std::size_t>(id)] != own_ &&
           std::ranges::find(spec_.targets, id) != spec_.targets.end();
  }

  std::string NewName(const std::string& base) {
    std::string name;
    do {
      name = fmt::format("{}/_{}", base, next_name_++);
    } while (graph_.Find(name).has_value());
    return name;
  }

  proto::NodeDef& Add(int device) { return *drafts_[static_cast<std::size_t>(device)].part.graph.add_node(); }
  const TaskDevice& DeviceOf(int device) const { return devices_[static_cast<std::size_t>(device)]; }

  void WriteStep(NodeId id) {
    const auto at = static_cast<std::size_t>(id);
    const int device = placed_[at];
    for (const int read : cuts_.reads_before[at]) WriteSend(read);
    for (const int cut : cuts_.recvs_before[at]) WriteRecv(cut);
    WriteNode(device, id, cuts_.controls_of[at]);
    for (const int cut : cuts_.sends_after[at]) WriteSend(cut);
  }

  void WriteNode(int device, NodeId id, const std::vector<int>& cut_controls) {
    const Node& node = graph_.node(id);
    proto::NodeDef def;
    ToProto(graph_, node, &def);
    def.set_device(DeviceOf(device).device_name());
    def.clear_input();
    for (const Output input : node.inputs) {
      def.add_input(InputOf(device, id, InputOnTask(graph_, found_, placed_, id, input)));
    }
    for (const NodeId before : cuts_.before[static_cast<std::size_t>(id)]) {
      if (placed_[static_cast<std::size_t>(before)] == device) def.add_input("^" + graph_.node(before).name);
    }
    for (const int cut : cut_controls) def.add_input("^" + recv_names_[static_cast<std::size_t>(cut)]);
    Add(device) = std::move(def);
  }

  std::string InputOf(int device, NodeId consumer, Output input) {
    if (std::ranges::binary_search(found_.fed, input))
      return device == own_ ? FedNode(input) : FedFromOwn(device, input);
    if (const int cut = cuts_.Find(consumer, input, device); cut >= 0) {
      return recv_names_[static_cast<std::size_t>(cut)];
    }
    if (!cuts_.HasStep(graph_, input.node)) Copy(device, input.node);
    return InputText(graph_.node(input.node).name, input.index);
  }

  // A constant, or the resource that references refer to.
  void Copy(int device, NodeId id) {
    if (!drafts_[static_cast<std::size_t>(device)].copied.insert(id).second) return;
    proto::NodeDef& def = Add(device);
    ToProto(graph_, graph_.node(id), &def);
    def.set_device(DeviceOf(device).device_name());
    def.clear_input();
  }

  // What stands for a fed value on the master's own task.
  std::string FedNode(Output output) {
    Draft& draft = drafts_[static_cast<std::size_t>(own_)];
    const auto [it, added] = draft.fed.try_emplace(output);
    if (!added) return it->second;
    it->second = NewName(graph_.node(output.node).name);
    proto::NodeDef& def = Add(own_);
    def.set_name(it->second);
    def.set_op("Placeholder");
    def.set_device(DeviceOf(own_).device_name());
    SetAttr(def, "dtype", graph_.TypeOf(output));
    const auto feed = std::ranges::find(spec_.feeds, output) - spec_.feeds.begin();
    draft.part.feeds.push_back({static_cast<int>(feed), it->second + ":0"});
    return it->second;
  }

  // What receives it on another one.
  std::string FedFromOwn(int device, Output output) {
    const auto [it, added] = drafts_[static_cast<std::size_t>(device)].fed.try_emplace(output);
    if (!added) return it->second;
    const EdgeEnds ends{
        .number = NewEdge(), .source = output.node, .type = graph_.TypeOf(output), .from = own_, .to = device};
    AddSend(ends, FedNode(output));
    it->second = AddRecv(ends);
    return it->second;
  }

  proto::NodeDef& AddSend(const EdgeEnds& ends, const std::string& value) {
    proto::NodeDef& def = Add(ends.from);
    def.set_name(NewName(graph_.node(ends.source).name));
    def.set_op("_Send");
    def.set_device(DeviceOf(ends.from).device_name());
    def.add_input(value);
    SetAttr(def, "T", ends.type);
    SetEdge(def, ends);
    return def;
  }

  std::string AddRecv(const EdgeEnds& ends) {
    const std::string name = NewName(graph_.node(ends.source).name);
    proto::NodeDef& def = Add(ends.to);
    def.set_name(name);
    def.set_op("_Recv");
    def.set_device(DeviceOf(ends.to).device_name());
    SetAttr(def, "tensor_type", ends.type);
    if (ends.may_be_dead) SetAttr(def, std::string(kMayBeDead), true);
    SetEdge(def, ends);
    return name;
  }

  void SetEdge(proto::NodeDef& def, const EdgeEnds& ends) const {
    const TaskDevice& from = DeviceOf(ends.from);
    SetAttr(def, "tensor_name", fmt::format("edge_{}_{}", ends.number, graph_.node(ends.source).name));
    SetAttr(def, "send_device", from.device_name());
    SetAttr(def, "send_device_incarnation", static_cast<std::int64_t>(from.incarnation));
    SetAttr(def, "recv_device", DeviceOf(ends.to).device_name());
    SetAttr(def, "client_terminated", false);
  }

  EdgeEnds EndsOf(int number) const {
    const CutEdge& cut = cuts_.edges[static_cast<std::size_t>(number)];
    return {.number = number,
            .source = cut.from.node,
            .type = cut.from.index == kControlIndex ? DType::kFloat : graph_.TypeOf(cut.from),
            .from = placed_[static_cast<std::size_t>(cut.from.node)],
            .to = cut.to,
            .may_be_dead = cut.may_be_dead};
  }

  void WriteSend(int number) {
    const CutEdge& cut = cuts_.edges[static_cast<std::size_t>(number)];
    const int device = placed_[static_cast<std::size_t>(cut.from.node)];
    const Node& from = graph_.node(cut.from.node);
    std::string value = InputText(from.name, std::max(cut.from.index, 0));
    if (cut.from.index == kControlIndex) {
      value = NewName(from.name);
      proto::NodeDef& nothing = Add(device);
      nothing.set_name(value);
      nothing.set_op("Const");
      nothing.set_device(DeviceOf(device).device_name());
      SetAttr(nothing, "value", Tensor::Scalar<float>(0));
      SetAttr(nothing, "dtype", DType::kFloat);
    } else if (!cuts_.HasStep(graph_, cut.from.node)) {
      Copy(device, cut.from.node);
    }
    proto::NodeDef& def = AddSend(EndsOf(number), value);
    if (cut.from.index == kControlIndex) def.add_input("^" + from.name);
  }

  void WriteRecv(int number) { recv_names_[static_cast<std::size_t>(number)] = AddRecv(EndsOf(number)); }

  void WriteFetches() {
    for (int i = 0; i < static_cast<int>(spec_.fetches.size()); ++i) {
      const Output fetch = spec_.fetches[static_cast<std::size_t>(i)];
      if (const auto fed = std::ranges::find(spec_.feeds, fetch); fed != spec_.feeds.end()) {
        fed_fetches_.emplace_back(i, static_cast<int>(fed - spec_.feeds.begin()));
        continue;
      }
      const Node& node = graph_.node(fetch.node);
      const int device = node.def->constant && !cuts_.HasStep(graph_, fetch.node)
                             ? own_
                             : placed_[static_cast<std::size_t>(fetch.node)];
      if (!cuts_.HasStep(graph_, fetch.node)) Copy(device, fetch.node);
      const bool is_sent = device != own_ && DeviceOf(device).of_tensorflow;
      std::vector<PartitionFetch>& fetches = drafts_[static_cast<std::size_t>(is_sent ? own_ : device)].part.fetches;
      std::string name = is_sent ? SentToOwn(device, fetch) : graph_.NameOf(fetch);
      const auto same = std::ranges::find(fetches, name, &PartitionFetch::name);
      if (same != fetches.end()) {
        same->fetches.push_back(i);
      } else {
        fetches.push_back({{i}, std::move(name)});
      }
    }
  }

  // What receives it on the master's own task.
  std::string SentToOwn(int device, Output output) {
    const auto [it, added] = sent_.try_emplace(output);
    if (!added) return it->second;
    const EdgeEnds ends{.number = NewEdge(),
                        .source = output.node,
                        .type = graph_.TypeOf(output),
                        .from = device,
                        .to = own_,
                        .may_be_dead = true};
    AddSend(ends, InputText(graph_.node(output.node).name, output.index));
    it->second = AddRecv(ends) + ":0";
    return it->second;
  }
  // Beyond those that join nodes of the graph.
  int NewEdge() { return static_cast<int>(cuts_.edges.size()) + more_edges_++; }

  const Graph& graph_;
  const RunSpec& spec_;
  const std::vector<TaskDevice>& devices_;
  const int own_;
  const NeededNodes& found_;
  const std::vector<int>& placed_;
  const CutEdges& cuts_;
  std::vector<std::string> recv_names_;  // by cut
  std::vector<Draft> drafts_;            // by device
  std::vector<std::pair<int, int>> fed_fetches_;
  int next_name_ = 0;
  int more_edges_ = 0;
  std::map<Output, std::string> sent_;  // by what is fetched: what has it on the master's own task
};

absl::Status CheckFedReferences(const Graph& graph, const NeededNodes& found) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!found.needed[static_cast<std::size_t>(id)]) continue;
    const Node& node = graph.node(id);
    for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
      const Output input = node.inputs[static_cast<std::size_t>(i)];
      if (!node.TakesReference(i) || !std::ranges::binary_search(found.fed, input)) continue;
      return MakeStatus(Code::kInvalidArgument, fmt::format("'{}' is fed, but '{}' takes a reference from it.",
                                                            graph.NameOf(input), node.name));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PartitionedGraph> PartitionGraph(const Graph& graph, const RunSpec& spec,
                                                const std::vector<TaskDevice>& devices, int own) {
  VIGIL_ASSIGN_OR_RETURN(const NeededNodes found, FindNeeded(graph, spec));
  VIGIL_RETURN_IF_ERROR(CheckFedReferences(graph, found));
  VIGIL_ASSIGN_OR_RETURN(const std::vector<int> placed, PlaceNodes(graph, found.needed, devices, own));
  const CutEdges cuts = FindCutEdges(graph, found, placed, static_cast<int>(devices.size()));
  return PartitionWriter(graph, spec, devices, own, found, placed, cuts).Write();
}

}  // namespace vigil
