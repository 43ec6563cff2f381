// TensorFlow's ops, as far as the session layer and its workloads need them, and functions that add them to a graph.
//
// Thread safety: BuiltinOps() may be called from anywhere; the functions are as safe as the graph they build.
#ifndef VIGIL_CORE_OPS_OPS_H_
#define VIGIL_CORE_OPS_OPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/op.h"

namespace vigil {

// All ops of this folder; made once, never changed.
const OpRegistry& BuiltinOps();

namespace ops {

Output Placeholder(Builder& b, std::string name, DType dtype);
Output PlaceholderWithDefault(Builder& b, std::string name, Output value);
Output Identity(Builder& b, std::string name, Output value);

// Of a variable that is a part of a larger one: which part of what. Checkpoints hold the whole under its own name.
struct SaveSlice {
  std::string full_name;
  std::vector<std::int64_t> full_shape, offset, shape;  // as many numbers in each; offset + shape <= full_shape
  // "4 3 0,2:0,3", as SaveV2 and RestoreV2 take it.
  std::string Spec() const;
};

// A variable (VariableV2) with "<name>/Assign" and "<name>/read". The builder's control inputs do not apply to these
// three. `collection`: kGlobalVariables or kLocalVariables.
struct Variable {
  Output ref;                    // the variable: reading it is FAILED_PRECONDITION until it was assigned
  NodeId initializer = kNoNode;  // "<name>/Assign"
  Output read;                   // "<name>/read": the value at the time when this node runs
  std::optional<SaveSlice> slice = std::nullopt;
};
// All that MakeVariable made, in order.
inline constexpr CollectionKey<Variable> kVariables{"vigil/variables"};

// An attribute of SaveV2 and MergeV2Checkpoints: true = their files are not synced. (TensorFlow's own graphs have
// none.)
inline constexpr std::string_view kNotSynced = "_vigil_not_synced";
// An attribute of SaveV2: true = what it writes is for MergeV2Checkpoints in the same run, under a prefix that is that
// run's alone.
inline constexpr std::string_view kWritesPart = "_vigil_writes_part";
Variable MakeVariable(Builder& b, std::string name, Output initial_value,
                      CollectionKey<Output> collection = kGlobalVariables);
Output Assign(Builder& b, std::string name, Output ref, Output value);
Output AssignAdd(Builder& b, std::string name, Output ref, Output value);
Output AssignSub(Builder& b, std::string name, Output ref, Output value);

// A resource variable (VarHandleOp): `ref` is its handle, which has no value; "<name>/Read/ReadVariableOp" reads.
Variable MakeResourceVariable(Builder& b, std::string name, Output initial_value,
                              CollectionKey<Output> collection = kGlobalVariables);
// Whether that is a variable of either kind (as Variable::ref), or one whose handle it is.
bool IsVariable(const Graph& graph, Output output);
bool IsResourceVariable(const Graph& graph, Output output);
// The type of its value. REQUIRES: IsVariable.
DType VariableType(const Graph& graph, Output variable);

// Runs the initializer of each (tf.variables_initializer). USAGE for one that MakeVariable did not make.
Output VariablesInitializer(Builder& b, std::string name, const std::vector<Output>& variables);
// The names of those that are not initialized: a string vector (tf.report_uninitialized_variables).
Output ReportUninitializedVariables(Builder& b, std::string name, const std::vector<Output>& variables);

// 0, 1, ..., n - 1, anew in every session, then OUT_OF_RANGE (make_one_shot_iterator(Dataset.range(n)).get_next()).
// "<name>/OneShotIterator" goes into kIterators; a saver can be given it.
Output RangeIterator(Builder& b, std::string name, std::int64_t n);
inline constexpr CollectionKey<Output> kIterators{"iterators"};
// Whether that is an iterator, whose state SerializeIterator gives and DeserializeIterator sets.
bool IsIterator(const Graph& graph, Output output);

// A queue of int64 scalars with the ops that fill and drain it.
struct Queue {
  Output handle;
  NodeId close = kNoNode;   // no more input; what is in it can still be taken
  NodeId cancel = kNoNode;  // close that also ends what waits to put in
};
Queue FifoQueue(Builder& b, std::string name, std::int64_t capacity);
NodeId EnqueueMany(Builder& b, std::string name, const Queue& queue, Output values);
Output Dequeue(Builder& b, std::string name, const Queue& queue);

// `value`, at most `limit` times in the life of the counter's variable, then OUT_OF_RANGE (tf.train.limit_epochs; the
// counter is a local variable "<name>/epochs").
Output LimitEpochs(Builder& b, std::string name, Output value, std::int64_t limit);

// A serialized Summary with one scalar; added to kSummaries.
Output ScalarSummary(Builder& b, std::string name, std::string tag, Output value);
// One with a histogram, of numbers of any shape. A run in which one of them is no number, or infinite, fails:
// INVALID_ARGUMENT.
Output HistogramSummary(Builder& b, std::string name, std::string tag, Output values);
// All of kSummaries merged; invalid (kNoNode) if there are none.
Output MergeAllSummaries(Builder& b);

}  // namespace ops
}  // namespace vigil

#endif  // VIGIL_CORE_OPS_OPS_H_
