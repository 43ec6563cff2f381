#include "vigil/core/graph/graph_def.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <map>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/attr_value.h"
#include "vigil/core/graph/attr_value.pb.h"
#include "vigil/core/graph/graph.pb.h"
#include "vigil/core/graph/node_def.pb.h"
#include "vigil/core/tensor/proto_util.h"
#include "vigil/core/tensor/tensor_proto.h"

namespace vigil {
namespace {

template <typename... Args>
absl::Status Invalid(fmt::format_string<Args...> format, Args&&... args) {
  return MakeStatus(Code::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...));
}

// The same error, with the node's name before it.
absl::Status Of(const proto::NodeDef& node, const absl::Status& error) {
  return WithMessage(error, fmt::format("Node '{}' ({}): {}", node.name(), node.op(), MessageOf(error)));
}

// An entry of NodeDef.input.
struct Input {
  std::string_view node;
  std::int32_t index = 0;
  bool control = false;
  int place = 0;  // of the node in the GraphDef
};

absl::StatusOr<Input> ParseInput(std::string_view text) {
  if (text.starts_with('^')) return Input{.node = text.substr(1), .control = true};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return Input{.node = text};
  Input input{.node = text.substr(0, colon)};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, input.index);
  if (error != std::errc() || stop != end || input.index < 0) return Invalid("'{}' names no output of a node.", text);
  return input;
}

// Whether a value says what follows anyhow. False may also mean that this must be looked at more closely.
bool SaysImplied(const proto::AttrValue& said, const ImpliedAttr& attr, const Graph& graph, const Node& node) {
  const auto first = static_cast<std::size_t>(attr.i);
  const auto is_type = [&said](DType type) {
    return said.value_case() == proto::AttrValue::kType && said.type() == ToProto(type);
  };
  if (!said.GetReflection()->GetUnknownFields(said).empty()) return false;
  switch (attr.kind) {
    case ImpliedAttr::Kind::kInputType:
      return is_type(graph.TypeOf(node.inputs[first]));
    case ImpliedAttr::Kind::kOutputType:
      return is_type(node.output_types[first]);
    case ImpliedAttr::Kind::kInputCount:
      return said.value_case() == proto::AttrValue::kI &&
             said.i() == static_cast<std::int64_t>(node.inputs.size()) - attr.i;
    default:
      return false;
  }
}

// A graph in another form, kept with it.
class WrittenGraph final : public Attachment {
 public:
  static constexpr std::string_view kBytes = "graph in bytes";
  static constexpr std::string_view kText = "graph as text";

  // Null: it was not written yet, or has grown since.
  static const std::string* Find(const Graph& graph, std::string_view form) {
    for (const Attachment* at = graph.attachments(); at != nullptr; at = at->next()) {
      if (at->kind() != form) continue;
      const auto* const known = static_cast<const WrittenGraph*>(at);
      if (known->nodes_ == graph.size()) return &known->contents_;
    }
    return nullptr;
  }
  static const std::string* Keep(const Graph& graph, std::string_view form, std::string contents) {
    auto made = std::make_unique<WrittenGraph>(form, graph.size(), std::move(contents));
    const std::string* const kept = &made->contents_;
    graph.Attach(std::move(made));
    return kept;
  }

  WrittenGraph(std::string_view form, int nodes, std::string contents)
      : Attachment(form), nodes_(nodes), contents_(std::move(contents)) {}

 private:
  const int nodes_;
  const std::string contents_;
};

// Brings the nodes of a GraphDef into a graph.
class Importer {
 public:
  Importer(const proto::GraphDef& def, Graph& graph, const ImportOptions& options)
      : def_(def), graph_(graph), options_(options) {}

  absl::Status Import() {
    VIGIL_RETURN_IF_ERROR(ReadNames());
    VIGIL_RETURN_IF_ERROR(CheckOps());
    VIGIL_RETURN_IF_ERROR(ReadInputs());
    VIGIL_ASSIGN_OR_RETURN(const std::vector<int> order, Order());
    // Also where memory runs out on the way.
    struct Undo {
      ~Undo() { graph.TakeBack(size); }
      Graph& graph;
      int size;
    } undo{graph_, graph_.size()};
    added_.resize(order.size());
    for (const int i : order) {
      if (absl::Status status = AddNode(i); !status.ok()) return Of(def_.node(i), status);
    }
    undo.size = graph_.size();
    return absl::OkStatus();
  }

 private:
  std::string NameOf(const proto::NodeDef& node) const {
    return options_.scope.empty() ? node.name() : fmt::format("{}/{}", options_.scope, node.name());
  }
  absl::Status ReadNames();
  absl::Status CheckOps() const;
  absl::Status ReadInputs();
  absl::StatusOr<std::vector<int>> Order() const;
  absl::Status AddNode(int i);
  absl::Status ReadAttrs(const proto::NodeDef& from, Node& node);
  absl::Status CheckImplied(const proto::NodeDef& from, const Node& node) const;

  const proto::GraphDef& def_;
  Graph& graph_;
  const ImportOptions& options_;
  std::map<std::string_view, int, std::less<>> by_name_;  // places in the GraphDef
  std::vector<std::vector<Input>> inputs_;                // by place
  std::vector<NodeId> added_;                             // by place
  std::int64_t may_fill_ = kMostFilledBytes;
};

absl::Status Importer::ReadNames() {
  for (int i = 0; i < def_.node_size(); ++i) {
    const proto::NodeDef& node = def_.node(i);
    if (node.name().empty()) return Invalid("Node {} of the GraphDef has no name.", i);
    const std::string name = NameOf(node);
    if (graph_.Find(name).has_value()) return Invalid("Node name '{}' already exists in the Graph.", name);
    if (!by_name_.emplace(node.name(), i).second) return Invalid("The GraphDef has two nodes named '{}'.", node.name());
  }
  return absl::OkStatus();
}

// What there is not here is told all at once, with the nodes that want it.
absl::Status Importer::CheckOps() const {
  static constexpr std::string_view kLoops[] = {"Enter",    "Exit",    "NextIteration",    "LoopCond", "ControlTrigger",
                                                "RefEnter", "RefExit", "RefNextIteration", "RefMerge"};
  static constexpr std::string_view kCalls[] = {"PartitionedCall", "StatefulPartitionedCall", "If",  "StatelessIf",
                                                "While",           "StatelessWhile",          "Case"};
  std::set<std::string_view> functions;
  for (const auto& function : def_.library().function()) functions.insert(function.signature().name());
  std::map<std::string_view, std::vector<std::string>> unknown, loops, calls;  // nodes by op
  int nodes = 0;
  for (const proto::NodeDef& node : def_.node()) {
    if (graph_.ops().Find(node.op()) != nullptr) continue;
    const bool is_loop = std::ranges::find(kLoops, node.op()) != std::end(kLoops);
    const bool is_call = functions.contains(node.op()) || std::ranges::find(kCalls, node.op()) != std::end(kCalls);
    (is_call ? calls : is_loop ? loops : unknown)[node.op()].push_back(node.name());
    ++nodes;
  }
  if (nodes == 0) return absl::OkStatus();
  if (nodes == 1 && !unknown.empty()) {
    return MakeStatus(Code::kNotFound,
                      fmt::format("Node '{}' ({}): Op type not registered '{}'", unknown.begin()->second[0],
                                  unknown.begin()->first, unknown.begin()->first));
  }
  std::string message = fmt::format("The GraphDef has {} nodes that cannot be run here.", nodes);
  const auto tell = [&message](std::string_view what, const auto& ops) {
    if (ops.empty()) return;
    message += fmt::format(" {}:", what);
    for (const auto& [op, names] : ops) {
      message += fmt::format(" {} ('{}'){}", op, fmt::join(names, "', '"), op == ops.rbegin()->first ? "." : ",");
    }
  };
  tell("Op types not registered", unknown);
  tell("There are no loops", loops);
  tell("There are no calls of functions", calls);
  return MakeStatus(unknown.empty() ? Code::kUnimplemented : Code::kNotFound, message);
}

absl::Status Importer::ReadInputs() {
  inputs_.resize(static_cast<std::size_t>(def_.node_size()));
  for (int i = 0; i < def_.node_size(); ++i) {
    const proto::NodeDef& node = def_.node(i);
    for (const std::string& text : node.input()) {
      absl::StatusOr<Input> input = ParseInput(text);
      if (!input.ok()) return Of(node, input.status());
      const auto from = by_name_.find(input->node);
      if (from == by_name_.end()) return Of(node, Invalid("its input '{}' is not in the GraphDef.", text));
      input->place = from->second;
      inputs_[static_cast<std::size_t>(i)].push_back(*input);
    }
  }
  return absl::OkStatus();
}

// Inputs first; among those that could be next, the one that the GraphDef has first.
absl::StatusOr<std::vector<int>> Importer::Order() const {
  std::vector<int> missing(inputs_.size(), 0);  // inputs that have no place in the order yet
  std::vector<std::vector<int>> consumers(inputs_.size());
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    missing[i] = static_cast<int>(inputs_[i].size());
    if (missing[i] == 0) ready.push(static_cast<int>(i));
    for (const Input& input : inputs_[i]) {
      consumers[static_cast<std::size_t>(input.place)].push_back(static_cast<int>(i));
    }
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int next = ready.top();
    ready.pop();
    order.push_back(next);
    for (const int consumer : consumers[static_cast<std::size_t>(next)]) {
      if (--missing[static_cast<std::size_t>(consumer)] == 0) ready.push(consumer);
    }
  }
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (missing[i] > 0) return Of(def_.node(static_cast<int>(i)), Invalid("it depends on itself, or on a cycle."));
  }
  return order;
}

absl::Status Importer::AddNode(int i) {
  const proto::NodeDef& from = def_.node(i);
  Node node;
  node.name = NameOf(from);
  node.op = from.op();
  if (!options_.clear_devices) node.device = from.device();
  for (const Input& input : inputs_[static_cast<std::size_t>(i)]) {
    const NodeId id = added_[static_cast<std::size_t>(input.place)];
    if (input.control) {
      node.control_inputs.push_back(id);
    } else {
      node.inputs.push_back({id, input.index});
    }
  }
  VIGIL_RETURN_IF_ERROR(ReadAttrs(from, node));
  VIGIL_ASSIGN_OR_RETURN(const NodeId id, graph_.Add(std::move(node)));
  added_[static_cast<std::size_t>(i)] = id;
  return CheckImplied(from, graph_.node(id));
}

bool IsImplied(const OpDef& op, std::string_view attr) {
  for (const ImpliedAttr& implied : op.implied_attrs) {
    const bool is_shape =
        implied.kind == ImpliedAttr::Kind::kUnknownShape || implied.kind == ImpliedAttr::Kind::kUnknownShapes;
    if (implied.name == attr) return !is_shape;  // a known shape is news
  }
  return false;
}

absl::Status Importer::ReadAttrs(const proto::NodeDef& from, Node& node) {
  const OpDef* const op = graph_.ops().Find(node.op);
  if (op == nullptr) return absl::OkStatus();  // Add() will say so
  // The order of the map means nothing, not even for which of two errors is told.
  std::map<std::string_view, const proto::AttrValue*> ordered;
  for (const auto& [name, value] : from.attr()) ordered.emplace(name, &value);
  for (const auto& [name, value] : ordered) {
    if (IsImplied(*op, name)) continue;
    absl::StatusOr<std::optional<AttrValue>> read = FromProto(*value, &may_fill_);
    // An underscore marks what is said to TensorFlow's own passes.
    if (!read.ok() && name.starts_with('_')) continue;
    if (!read.ok())
      return WithMessage(read.status(), fmt::format("attribute '{}': {}", name, MessageOf(read.status())));
    if (read->has_value()) node.attrs.emplace(name, **std::move(read));
  }
  return absl::OkStatus();
}

// What the GraphDef says of types and numbers of inputs is so.
absl::Status Importer::CheckImplied(const proto::NodeDef& from, const Node& node) const {
  for (const ImpliedAttr& attr : node.def->implied_attrs) {
    const auto it = from.attr().find(attr.name);
    if (it == from.attr().end() || !IsImplied(*node.def, attr.name)) continue;
    if (SaysImplied(it->second, attr, graph_, node)) continue;
    const proto::AttrValue implied = ImpliedValue(attr, graph_, node);
    if (implied.SerializeAsString() == it->second.SerializeAsString()) continue;
    return Invalid("attribute '{}' is {}, but must be {}", attr.name, it->second.ShortDebugString(),
                   implied.ShortDebugString());
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> InputTexts(const Graph& graph, const Node& node) {
  std::vector<std::string> texts;
  for (const Output input : node.inputs) {
    const std::string& from = graph.node(input.node).name;
    texts.push_back(input.index == 0 ? from : fmt::format("{}:{}", from, input.index));
  }
  for (const NodeId control : node.control_inputs) texts.push_back("^" + graph.node(control).name);
  return texts;
}

void ToProto(const Graph& graph, const Node& node, proto::NodeDef* out) {
  out->set_name(node.name);
  out->set_op(node.op);
  out->set_device(node.device);
  for (std::string& input : InputTexts(graph, node)) out->add_input(std::move(input));
  auto& attrs = *out->mutable_attr();
  for (const ImpliedAttr& attr : node.def->implied_attrs) attrs[attr.name] = ImpliedValue(attr, graph, node);
  for (const auto& [name, value] : node.attrs) ToProto(value, &attrs[name]);
}

proto::GraphDef ToGraphDef(const Graph& graph) {
  proto::GraphDef def;
  for (NodeId id = 0; id < graph.size(); ++id) ToProto(graph, graph.node(id), def.add_node());
  def.mutable_versions()->set_producer(kGraphDefVersion);
  return def;
}

absl::StatusOr<const std::string*> GraphDefBytes(const Graph& graph) {
  if (const std::string* const known = WrittenGraph::Find(graph, WrittenGraph::kBytes)) return known;
  VIGIL_ASSIGN_OR_RETURN(std::string bytes, SerializeDeterministically(ToGraphDef(graph)));
  return WrittenGraph::Keep(graph, WrittenGraph::kBytes, std::move(bytes));
}

absl::Status ImportGraphDef(const proto::GraphDef& def, Graph& graph, const ImportOptions& options) {
  if (def.versions().min_consumer() > kGraphDefVersion) {
    return Invalid("The GraphDef is for readers of version {} or later; this is version {}.",
                   def.versions().min_consumer(), kGraphDefVersion);
  }
  if (std::ranges::count(def.versions().bad_consumers(), kGraphDefVersion) != 0) {
    return Invalid("The GraphDef says that readers of version {} cannot read it.", kGraphDefVersion);
  }
  if (graph.finalized()) return UsageError("Graph is finalized and cannot be modified.");
  return Importer(def, graph, options).Import();
}

absl::StatusOr<std::string> WriteGraphText(const Env& env, const Graph& graph, const std::string& directory,
                                           std::string_view name) {
  VIGIL_RETURN_IF_ERROR(env.files->MakeDirectory(directory));
  std::string path = JoinPath(directory, name);
  // A session that is created anew writes the same once more.
  const std::string* text = WrittenGraph::Find(graph, WrittenGraph::kText);
  if (text == nullptr) text = WrittenGraph::Keep(graph, WrittenGraph::kText, PrintProtoText(ToGraphDef(graph)));
  VIGIL_RETURN_IF_ERROR(WriteAtomically(*env.files, path, *text));
  return path;
}

absl::StatusOr<proto::GraphDef> ReadGraphText(const Env& env, const std::string& path) {
  VIGIL_ASSIGN_OR_RETURN(const std::string text, ReadAll(*env.files, path));
  proto::GraphDef def;
  if (absl::Status status = ParseProtoText(text, &def); !status.ok()) {
    return WithMessage(status, fmt::format("{}:{}", path, MessageOf(status)));
  }
  return def;
}

}  // namespace vigil
