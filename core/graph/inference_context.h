// What an op's shape function sees of a node that is about to be added: the shapes of its inputs, their values where
// they are known before a run, its attributes; and where it says the shapes of its outputs.
//
//   registry.Infer("Identity", [](InferenceContext& c) { c.set_output(0, c.input(0)); return absl::OkStatus(); });
//
// A function may be called several times for one node: values that it asks for are looked up between the calls, so
// where one is missing it says what holds whatever the value is. What is wrong it says in TensorFlow's words, without
// the node: InferShapes() adds it, as TensorFlow does.
// Thread safety: a context belongs to the one who adds the node.
// Source: TensorFlow's shape_inference.h and shape_refiner.h.
#ifndef VIGIL_CORE_GRAPH_INFERENCE_CONTEXT_H_
#define VIGIL_CORE_GRAPH_INFERENCE_CONTEXT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/tensor/partial_shape.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

class InferenceContext {
 public:
  // Both outlive the context. REQUIRES: the node's inputs, op and output types are checked.
  InferenceContext(const Graph& graph, const Node& node)
      : graph_(graph), node_(node), outputs_(node.output_types.size()) {}

  const Node& node() const { return node_; }
  int num_inputs() const { return static_cast<int>(node_.inputs.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const PartialShape& input(int i) const { return graph_.ShapeOf(At(i)); }
  DType input_type(int i) const { return graph_.TypeOf(At(i)); }

  // The value of input i. Null: not known before a run, or not looked up yet.
  const Tensor* constant(int i);
  // The one integer that input i is; nullopt: not known. INVALID_ARGUMENT if it is not a scalar of an integer type.
  absl::StatusOr<std::optional<std::int64_t>> Integer(int i);
  // The shape that the elements of input i spell out, -1 for an unknown dimension. INVALID_ARGUMENT if it can be none.
  absl::StatusOr<PartialShape> ShapeFromInput(int i);
  // What the resource's node that input i refers to says of the shape of what it holds.
  PartialShape HeldShape(int i) const;
  // The node that stands for that resource; null: there is none.
  const Node* Holder(int i) const;

  template <typename T>
  T attr_or(std::string_view name, const T& missing) const {
    const T* const value = attr<T>(name);
    return value == nullptr ? missing : *value;
  }
  // Null: the node has none of that name and type.
  template <typename T>
  const T* attr(std::string_view name) const {
    const auto it = node_.attrs.find(name);
    return it == node_.attrs.end() ? nullptr : std::get_if<T>(&it->second);
  }

  // REQUIRES: 0 <= i < num_outputs().
  void set_output(int i, PartialShape shape) { outputs_[static_cast<std::size_t>(i)] = std::move(shape); }

 private:
  friend absl::Status InferShapes(const Graph& graph, Node& node);

  // What the function has asked of an input, and what came of it.
  struct Asked {
    bool value = false;
    bool shape = false;
    bool looked_up = false;        // the value
    bool shape_looked_up = false;  // ... as a shape
    std::optional<Tensor> constant;
    PartialShape as_shape;
  };

  Output At(int i) const { return node_.inputs[static_cast<std::size_t>(i)]; }
  Asked& AskedOf(int i);
  // Looks up what was asked for since; whether there is something to call the function again for.
  absl::StatusOr<bool> LookUp();
  // " for '{{node a}} = Op[...](b, c)' with input shapes: [2], ?."
  std::string Where() const;

  const Graph& graph_;
  const Node& node_;
  std::vector<Asked> asked_;  // one for each input, or empty
  std::vector<PartialShape> outputs_;
};

// Fills in node.output_shapes. INVALID_ARGUMENT: no run of the node can succeed; the words are TensorFlow's.
// REQUIRES: the graph has checked the node, and given it its name and output types.
absl::Status InferShapes(const Graph& graph, Node& node);

// As TensorFlow writes a node: "{{node c}} = MatMul[T=DT_FLOAT, transpose_a=false, transpose_b=false](a, b:1)". For
// messages. REQUIRES: as above.
std::string SummarizeNode(const Graph& graph, const Node& node);

}  // namespace vigil

#endif  // VIGIL_CORE_GRAPH_INFERENCE_CONTEXT_H_
