// The gradient of one op: from the gradients of its outputs, nodes that compute those of its inputs.
//
//   registry.Register("Exp", [](GradientCall& g) { return Dense({g.Op("Mul", {g.grad(), g.out()})}); });
//
// A registry is made once and then only read: BuiltinGradients() has those of the ops in core/ops; a user adds to a
// copy. Thread safety: const access from any task; a call as the graph that it adds to. Source: math_grad.py,
// nn_grad.py, array_grad.py of TensorFlow.
#ifndef VIGIL_CORE_GRADIENTS_GRADIENT_H_
#define VIGIL_CORE_GRADIENTS_GRADIENT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/graph.h"

namespace vigil {

// A dense tensor; or rows of one that is zero elsewhere (tf.IndexedSlices: row indices[i] has values[i], added up where
// an index comes twice); or none, where what is asked for depends on nothing.
struct Gradient {
  Output values = {};
  Output indices = {};      // no node: dense
  Output dense_shape = {};  // of IndexedSlices

  bool exists() const { return values.node != kNoNode; }
  bool sparse() const { return indices.node != kNoNode; }
};

// Adds up the rows: UnsortedSegmentSum over the first axis of the dense shape. A dense one, or none, stays as it is.
Output Densified(Builder& b, const std::string& scope, const Gradient& gradient);

// Dense gradients, one for each input; no node: none.
std::vector<Gradient> Dense(std::vector<Output> gradients);

// An op whose gradient is asked for, and the nodes that its function adds: they are named "<scope>/<their op>".
class GradientCall {
 public:
  // `grads`: one for each output of the node.
  GradientCall(Builder& b, NodeId id, std::string scope, std::vector<Gradient> grads)
      : b_(b), id_(id), scope_(std::move(scope)), grads_(std::move(grads)) {}

  const Node& node() const { return b_.graph().node(id_); }
  Output in(int i = 0) const { return node().inputs[static_cast<std::size_t>(i)]; }
  int num_inputs() const { return static_cast<int>(node().inputs.size()); }
  Output out(int i = 0) const { return {id_, i}; }
  DType type_of(Output output) const;  // kInvalid once the builder has failed
  // The gradient of an output, made dense; no node: nothing depends on it.
  Output grad(int i = 0);
  const Gradient& raw_grad(int i = 0) const { return grads_[static_cast<std::size_t>(i)]; }
  template <typename T>
  T attr_or(std::string_view name, T missing) const {
    const auto it = node().attrs.find(name);
    if (it == node().attrs.end()) return missing;
    const T* const value = std::get_if<T>(&it->second);
    return value == nullptr ? missing : *value;
  }
  const Attrs& attrs() const { return node().attrs; }
  // The value of an input that is a constant; null if it is none.
  const Tensor* constant(int i) const;

  // Output 0 of a new node.
  Output Op(std::string op, std::vector<Output> inputs, Attrs attrs = {});
  Output Number(DType type, double value);
  Output Ints(const std::vector<std::int32_t>& values);
  Output Int(std::int32_t value);
  // Of what many gradients are made.
  Output ShapeOf(Output value) { return Op("Shape", {value}); }
  Output Cast(Output value, DType type);
  Output Sum(Output value, Output axes, bool keep_dims = false);
  // `value`, which has the shape that x and y broadcast to, summed to that of x (first) and of y.
  std::pair<Output, Output> SumToBoth(Output x, Output y, Output for_x, Output for_y);
  // The shape with 1 at the axes (math_ops.reduced_shape).
  Output ReducedShape(Output shape, Output axes);

  Builder& builder() { return b_; }
  const std::string& scope() const { return scope_; }

 private:
  Builder& b_;
  const NodeId id_;
  const std::string scope_;
  std::vector<Gradient> grads_;
};

// One gradient for each input; none for those that it does not depend on differentiably.
using GradientFn = std::function<std::vector<Gradient>(GradientCall&)>;

class GradientRegistry {
 public:
  // REQUIRES: nothing of that op yet.
  void Register(std::string op, GradientFn fn);
  // Its inputs have no gradients: what it gives counts as constant.
  void NotDifferentiable(std::string op) { Register(std::move(op), nullptr); }
  // Null: nothing is known of that op. An empty function: it is not differentiable.
  const GradientFn* Find(std::string_view op) const;
  const std::map<std::string, GradientFn, std::less<>>& all() const { return all_; }

 private:
  std::map<std::string, GradientFn, std::less<>> all_;
};

const GradientRegistry& BuiltinGradients();

}  // namespace vigil

#endif  // VIGIL_CORE_GRADIENTS_GRADIENT_H_
