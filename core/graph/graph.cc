#include "vigil/core/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/inference_context.h"

namespace vigil {
namespace {

bool IsLetterOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// TensorFlow's rule: [A-Za-z0-9.][A-Za-z0-9_.\/>-]*
bool IsValidName(std::string_view name) {
  if (name.empty() || !(IsLetterOrDigit(name.front()) || name.front() == '.')) return false;
  return std::ranges::all_of(
      name, [](char c) { return IsLetterOrDigit(c) || std::string_view("_.\\/>-").find(c) != std::string_view::npos; });
}

}  // namespace

bool Node::IsPerSession() const {
  if (!def->per_session) return false;
  const auto attr = attrs.find("shared_name");
  const std::string* const shared = attr == attrs.end() ? nullptr : std::get_if<std::string>(&attr->second);
  return shared == nullptr || shared->empty();
}

PartialShape DeclaredShape(const Node& node) {
  const auto declared = node.attrs.find("shape");
  const Shape* const shape = declared == node.attrs.end() ? nullptr : std::get_if<Shape>(&declared->second);
  return shape == nullptr ? PartialShape() : PartialShape(*shape);
}

Graph::State::~State() {
  const Attachment* attachment = attachments.load();
  while (attachment != nullptr) delete std::exchange(attachment, attachment->next());
}

Graph::Graph(const OpRegistry& ops) : state_(std::make_shared<State>(ops)) {}
Graph::Graph(std::shared_ptr<State> state) : state_(std::move(state)) {}
Graph::~Graph() = default;

std::shared_ptr<const Graph> Graph::Share() const { return std::shared_ptr<const Graph>(new Graph(state_)); }

absl::StatusOr<NodeId> Graph::Add(Node node) {
  if (finalized_) return UsageError("Graph is finalized and cannot be modified.");
  VIGIL_RETURN_IF_ERROR(Check(node));
  node.name = FreeName(node.name.empty() ? node.op : node.name);
  VIGIL_RETURN_IF_ERROR(InferShapes(*this, node));
  const NodeId id = size();
  nodes_.push_back(std::move(node));
  by_name_.emplace(nodes_.back().name, id);
  return id;
}

void Graph::TakeBack(int size) {
  for (; this->size() > size; nodes_.pop_back()) by_name_.erase(nodes_.back().name);
}

Graph::Mark Graph::Now() const {
  Mark mark;
  mark.size = size();
  mark.next_suffix = next_suffix_;
  mark.collections = collections_;
  return mark;
}

void Graph::TakeBack(Mark mark) {
  TakeBack(mark.size);
  next_suffix_ = std::move(mark.next_suffix);
  collections_ = std::move(mark.collections);
}

void Graph::WrongItems(std::string_view collection) {
  CheckFailed(__FILE__, __LINE__, fmt::format("the collection '{}' holds items of another type", collection).c_str());
}

// Fills in what the graph knows of the node: its definition and its output types.
absl::Status Graph::Check(Node& node) const {
  node.def = ops_.Find(node.op);
  if (node.def == nullptr) return MakeStatus(Code::kNotFound, fmt::format("Op type not registered '{}'", node.op));
  if (!node.name.empty() && !IsValidName(node.name)) {
    return UsageError(fmt::format("'{}' is not a valid node name", node.name));
  }
  const int given = static_cast<int>(node.inputs.size());
  if (node.def->inputs >= 0 && node.def->inputs != given) {
    return UsageError(
        fmt::format("'{}' Op takes {} inputs, but '{}' is given {}.", node.op, node.def->inputs, node.name, given));
  }
  std::vector<DType> types;
  types.reserve(node.inputs.size());
  for (const Output input : node.inputs) {
    if (!Has(input)) {
      return UsageError(fmt::format("Input {} of '{}' ({}) is not an output of a node of this graph.", types.size(),
                                    node.name.empty() ? node.op : node.name, node.op));
    }
    types.push_back(TypeOf(input));
  }
  node.refers_to = FindReferred(node, types);
  for (int i = 0; i < given; ++i) VIGIL_RETURN_IF_ERROR(CheckReference(node, i));
  for (const NodeId control : node.control_inputs) {
    if (control < 0 || control >= size()) {
      return UsageError(fmt::format("A control input of '{}' is not a node of this graph.", node.name));
    }
  }
  node.output_types.clear();
  if (node.def->output_types) {
    VIGIL_ASSIGN_OR_RETURN(node.output_types, node.def->output_types(node, types));
  }
  return absl::OkStatus();
}

NodeId Graph::FindReferred(const Node& node, const std::vector<DType>& inputs) const {
  if (node.def->is_resource || node.def->fills_resource) return size();  // its id
  const bool passes_handle = node.def->passes_handles && !inputs.empty() && inputs[0] == DType::kResource;
  if (node.inputs.empty() || !(node.def->forwards_ref || passes_handle)) return kNoNode;
  return this->node(node.inputs[0].node).refers_to;
}

bool Graph::IsHandle(Output output) const {
  const Node& from = node(output.node);
  if (from.refers_to == kNoNode) return false;
  if (TypeOf(output) == DType::kResource) return true;
  const bool refers = output.index == 0 || from.def->refers_by_any_output;
  const OpDef& holder = *node(from.refers_to).def;
  return refers && holder.is_resource && holder.read == nullptr;
}

// A reference must come from what stands for a resource; a value cannot be had from a handle.
absl::Status Graph::CheckReference(const Node& node, int i) const {
  const Output input = node.inputs[static_cast<std::size_t>(i)];
  const Node& from = this->node(input.node);
  if (node.TakesReference(i)) {
    if (from.refers_to != kNoNode && (input.index == 0 || from.def->refers_by_any_output)) return absl::OkStatus();
    return UsageError(fmt::format("Input {} of '{}' Op must be a reference to a resource; '{}' ({}) is none.", i,
                                  node.op, from.name, from.op));
  }
  if (!IsHandle(input)) return absl::OkStatus();
  return UsageError(
      fmt::format("Input {} of '{}' Op takes a value, but '{}' ({}) is a handle.", i, node.op, from.name, from.op));
}

std::string Graph::FreeName(const std::string& wanted) {
  if (!by_name_.contains(wanted)) return wanted;
  int& suffix = next_suffix_[wanted];
  while (true) {
    std::string name = fmt::format("{}_{}", wanted, ++suffix);
    if (!by_name_.contains(name)) return name;
  }
}

const PartialShape& Graph::ShapeOf(Output output) const {
  static const PartialShape kUnknown;
  const std::vector<PartialShape>& known = node(output.node).output_shapes;
  return known.empty() ? kUnknown : known[static_cast<std::size_t>(output.index)];
}

bool Graph::Has(Output output) const {
  return output.node >= 0 && output.node < size() && output.index >= 0 &&
         static_cast<std::size_t>(output.index) < node(output.node).output_types.size();
}

std::optional<NodeId> Graph::Find(std::string_view name) const {
  const auto it = by_name_.find(name);
  if (it == by_name_.end()) return std::nullopt;
  return it->second;
}

std::optional<Output> Graph::FindOutput(std::string_view name) const {
  Output output;
  if (const std::size_t colon = name.rfind(':'); colon != std::string_view::npos) {
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + colon + 1, end, output.index);
    if (error != std::errc() || stop != end) return std::nullopt;
    name = name.substr(0, colon);
  }
  const std::optional<NodeId> id = Find(name);
  if (!id.has_value()) return std::nullopt;
  output.node = *id;
  return Has(output) ? std::optional(output) : std::nullopt;
}

std::string Graph::NameOf(Output output) const { return fmt::format("{}:{}", node(output.node).name, output.index); }

void Graph::ClearCollection(std::string_view name) {
  if (const auto it = collections_.find(name); it != collections_.end()) collections_.erase(it);
}

std::vector<std::string> Graph::CollectionNames() const {
  std::vector<std::string> names;
  for (const auto& [name, items] : collections_) names.push_back(name);
  return names;
}

void Graph::Attach(std::unique_ptr<Attachment> attachment) const {
  Attachment* const added = attachment.release();
  added->next_ = attachments_.load(std::memory_order_relaxed);
  while (
      !attachments_.compare_exchange_weak(added->next_, added, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

}  // namespace vigil
