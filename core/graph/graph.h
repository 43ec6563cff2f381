// TensorFlow's graph: named nodes with an op, inputs, control inputs, attributes and a device; collections; finalized
// once.
//
// There is no default graph: the graph is passed. Node ids are dense, in order of creation, which is a topological
// order (inputs exist before their consumers). A finalized graph refuses every change but Unfinalize().
// Thread safety: none while it is built; const access from any task once finalized.
// Ownership: a session shares the graph (Share), so that a run that outlives the graph reads no freed node.
// Source: spec of tf.Graph; GraphKeys for the names of collections.
#ifndef VIGIL_CORE_GRAPH_GRAPH_H_
#define VIGIL_CORE_GRAPH_GRAPH_H_

#include <any>
#include <atomic>
#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>  // lookup only
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/graph/op.h"
#include "vigil/core/tensor/partial_shape.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

using NodeId = std::int32_t;
inline constexpr NodeId kNoNode = -1;

// One output of a node ("name:index"). As an op without value: only the node counts.
struct Output {
  NodeId node = kNoNode;
  std::int32_t index = 0;
  friend auto operator<=>(const Output&, const Output&) = default;
};

using AttrVariant = std::variant<std::int64_t, double, bool, std::string, DType, Shape, Tensor,
                                 std::vector<std::string>, std::vector<DType>, std::vector<std::int64_t>,
                                 std::vector<double>, std::vector<bool>, std::vector<Shape>>;
// A variant (std::get, std::visit work on it) whose copying and destroying stand in one source: every source that
// handles a node would otherwise compile them anew, for thirteen types.
struct AttrValue : AttrVariant {
  using AttrVariant::AttrVariant;
  using AttrVariant::operator=;
  AttrValue();
  AttrValue(const AttrValue& other);
  AttrValue(AttrValue&& other) noexcept;
  AttrValue& operator=(const AttrValue& other);
  AttrValue& operator=(AttrValue&& other) noexcept;
  ~AttrValue();
};
using Attrs = std::map<std::string, AttrValue, std::less<>>;

// What Add() is given. Of a graph: never changed while the graph is finalized.
struct Node {
  std::string name;
  std::string op;
  std::vector<Output> inputs;
  std::vector<NodeId> control_inputs;
  Attrs attrs;
  std::string device;
  std::vector<DType> output_types;  // filled in by the graph
  // What is known of the outputs' shapes before a run; empty: nothing. Filled in by the graph.
  std::vector<PartialShape> output_shapes;
  const OpDef* def = nullptr;  // filled in by the graph
  // Whose resource its outputs refer to, where they are taken as references: its own, or that of its first input.
  // kNoNode: they do not. Filled in by the graph.
  NodeId refers_to = kNoNode;

  // Whether what it stands for, or keeps for itself, is its session's alone.
  bool IsPerSession() const;
  // Whether input i is not a value but a reference.
  bool TakesReference(int i) const {
    return def->TakesReference(i) || (i == 0 && def->passes_handles && refers_to != kNoNode);
  }
};

// What the attribute `shape` says of what a variable holds, a placeholder is fed, an accumulator takes; without one
// nothing is known.
PartialShape DeclaredShape(const Node& node);

// Names an object that a graph carries along: a collection's items are std::vector<T>.
template <typename T>
struct CollectionKey {
  std::string_view name;
};

// What a layer above derives from the graph and keeps with it for all sessions (plans). Safe from any task.
class Attachment {
 public:
  // `kind` tells whose it is; it must outlive the attachment.
  explicit Attachment(std::string_view kind) : kind_(kind) {}
  virtual ~Attachment() = default;
  std::string_view kind() const { return kind_; }
  const Attachment* next() const { return next_; }  // attached before this one

 private:
  friend class Graph;
  std::string_view kind_;
  const Attachment* next_ = nullptr;
};

class Graph {
 public:
  // The registry must outlive the graph.
  explicit Graph(const OpRegistry& ops);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // The same graph under another owner: it lives until the last of them goes. Safe from any task once finalized.
  std::shared_ptr<const Graph> Share() const;

  // Which graph it is, for whoever keeps what belongs to it: the same under each owner, and never that of another one,
  // also after its end, when another one may stand in its place. By default that of none.
  class Identity {
   public:
    Identity() = default;
    friend bool operator==(const Identity& a, const Identity& b) {
      return !a.of_.owner_before(b.of_) && !b.of_.owner_before(a.of_);
    }

   private:
    friend class Graph;
    explicit Identity(std::weak_ptr<const void> of) : of_(std::move(of)) {}
    std::weak_ptr<const void> of_;  // its memory is not given to another one as long as this is kept
  };
  Identity identity() const { return Identity(state_); }

  // Adds a node; a taken name gets "_1", "_2", ...; an empty one is the op's. Errors: NOT_FOUND for an unknown op;
  // USAGE "Graph is finalized and cannot be modified.", bad name, wrong number of inputs, unknown input, types that do
  // not fit; INVALID_ARGUMENT, in TensorFlow's words, where what is known of the inputs' shapes and values lets no run
  // of the node succeed.
  absl::StatusOr<NodeId> Add(Node node);
  // The name that Add() would give a node: for whoever has to know it before. A suffix is given out once.
  std::string FreeName(const std::string& wanted);
  // The reverse, for whoever cannot finish what it began: the graph has `size` nodes again. REQUIRES: nobody has seen
  // the others; their names were free.
  void TakeBack(int size);

  // What the graph held at some time: nodes, collections. For whoever adds more than nodes and may have to take it
  // back.
  class Mark {
    friend class Graph;
    int size = 0;
    std::map<std::string, int, std::less<>> next_suffix;
    std::map<std::string, std::any, std::less<>> collections;
  };
  Mark Now() const;
  // REQUIRES: as above; no node has gone since.
  void TakeBack(Mark mark);

  const OpRegistry& ops() const { return ops_; }
  // Stays where it is for the graph's life. REQUIRES: 0 <= id < size().
  const Node& node(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  // REQUIRES: Has(output).
  DType TypeOf(Output output) const { return node(output.node).output_types[static_cast<std::size_t>(output.index)]; }
  // What is known of its shape before a run. A handle is a scalar. REQUIRES: as above.
  const PartialShape& ShapeOf(Output output) const;
  bool HasNode(NodeId id) const { return id >= 0 && id < size(); }
  // Whether there is such an output of such a node.
  bool Has(Output output) const;
  // Whether it only refers to a resource that has no value: it can be neither fetched nor taken as one. REQUIRES: Has.
  bool IsHandle(Output output) const;
  int size() const { return static_cast<int>(nodes_.size()); }
  std::optional<NodeId> Find(std::string_view name) const;  // by the node's whole name
  // "name:index" or "name" (index 0). nullopt: not written so, no such node, or no such output of it.
  std::optional<Output> FindOutput(std::string_view name) const;
  std::string NameOf(Output output) const;  // "name:index". REQUIRES: there is such a node

  // Both may be called in any state. REQUIRES of Unfinalize: no session runs the graph until it is finalized again.
  void Finalize() { finalized_ = true; }
  void Unfinalize() { finalized_ = false; }
  bool finalized() const { return finalized_; }

  // The items of a collection in order of addition. May be called on a finalized graph: collections are not structure.
  // REQUIRES (also of AddToCollection): what is in the collection of that name is a T.
  template <typename T>
  const std::vector<T>& Collection(CollectionKey<T> key) const {
    static const std::vector<T> kEmpty;
    const auto it = collections_.find(key.name);
    return it == collections_.end() ? kEmpty : *ItemsOf<T>(&it->second, key.name);
  }
  template <typename T>
  void AddToCollection(CollectionKey<T> key, T item) {
    std::any& slot = collections_.try_emplace(std::string(key.name), std::vector<T>()).first->second;
    ItemsOf<T>(&slot, key.name)->push_back(std::move(item));
  }
  void ClearCollection(std::string_view name);  // nothing, if there is none
  // As Collection(), but null if there is none of that name, or its items are of another type.
  template <typename T>
  const std::vector<T>* FindCollection(CollectionKey<T> key) const {
    const auto it = collections_.find(key.name);
    return it == collections_.end() ? nullptr : std::any_cast<std::vector<T>>(&it->second);
  }
  std::vector<std::string> CollectionNames() const;  // sorted

  // The last one attached, or null; the rest by next(). They live as long as the graph. Both from any task.
  const Attachment* attachments() const { return attachments_.load(std::memory_order_acquire); }
  void Attach(std::unique_ptr<Attachment> attachment) const;

 private:
  template <typename T, typename Any>
  static auto ItemsOf(Any* slot, std::string_view name) {
    auto* const items = std::any_cast<std::vector<T>>(slot);
    if (items == nullptr) WrongItems(name);
    return items;
  }
  [[noreturn]] static void WrongItems(std::string_view collection);
  absl::Status Check(Node& node) const;
  NodeId FindReferred(const Node& node, const std::vector<DType>& inputs) const;
  absl::Status CheckReference(const Node& node, int i) const;

  struct State {
    explicit State(const OpRegistry& registry) : ops(registry) {}
    ~State();
    const OpRegistry& ops;
    std::deque<Node> nodes;
    std::unordered_map<std::string_view, NodeId> by_name;  // lookup only: the names of nodes
    std::map<std::string, int, std::less<>> next_suffix;
    std::map<std::string, std::any, std::less<>> collections;
    bool finalized = false;
    std::atomic<const Attachment*> attachments{nullptr};
  };
  explicit Graph(std::shared_ptr<State> state);

  const std::shared_ptr<State> state_;
  // Its parts.
  const OpRegistry& ops_ = state_->ops;
  std::deque<Node>& nodes_ = state_->nodes;
  std::unordered_map<std::string_view, NodeId>& by_name_ = state_->by_name;  // lookup only
  std::map<std::string, int, std::less<>>& next_suffix_ = state_->next_suffix;
  std::map<std::string, std::any, std::less<>>& collections_ = state_->collections;
  bool& finalized_ = state_->finalized;
  std::atomic<const Attachment*>& attachments_ = state_->attachments;
};

// TensorFlow's names. Variables are the nodes that hold them.
inline constexpr CollectionKey<Output> kGlobalVariables{"variables"};
inline constexpr CollectionKey<Output> kLocalVariables{"local_variables"};
inline constexpr CollectionKey<Output> kGlobalStep{"global_step"};
inline constexpr CollectionKey<Output> kGlobalStepRead{"global_step_read_op_cache"};
inline constexpr CollectionKey<Output> kSummaries{"summaries"};
inline constexpr CollectionKey<Output> kTableInitializers{"table_initializer"};
inline constexpr CollectionKey<Output> kInitOp{"init_op"};
inline constexpr CollectionKey<Output> kReadyOp{"ready_op"};
inline constexpr CollectionKey<Output> kReadyForLocalInitOp{"ready_for_local_init_op"};
inline constexpr CollectionKey<Output> kLocalInitOp{"local_init_op"};
inline constexpr CollectionKey<Output> kSummaryOp{"summary_op"};

}  // namespace vigil

#endif  // VIGIL_CORE_GRAPH_GRAPH_H_
