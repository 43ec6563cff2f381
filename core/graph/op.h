// What the graph and the sessions know of an op: its signature and its kernel.
//
// Registering an op takes a few lines:
//
//   registry.Register({.name = "LogicalNot", .inputs = 1, .output_types = SameAsInput(0), .compute = [](KernelContext&
//   c) {
//     ...; c.set_output(0, out); return absl::OkStatus(); }});
//
// A registry is made once and then only read (BuiltinOps() in core/ops gives TensorFlow's); a user adds to a copy.
// Thread safety: const access from any task.
#ifndef VIGIL_CORE_GRAPH_OP_H_
#define VIGIL_CORE_GRAPH_OP_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>  // lookup only
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/tensor/dtype.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

class Graph;
struct Node;
class KernelContext;
class InferenceContext;

// Types of a node's outputs, from its attributes and its inputs' types; an error names what does not fit.
using OutputTypesFn = std::function<absl::StatusOr<std::vector<DType>>(const Node&, const std::vector<DType>& inputs)>;
using Kernel = std::function<absl::Status(KernelContext&)>;
// Says what is known of the outputs' shapes before a run, or refuses a node that no run can carry out, in TensorFlow's
// words (inference_context.h). What it does not set is not known.
using ShapeFn = std::function<absl::Status(InferenceContext&)>;

// An attribute that TensorFlow's definition of the op has and that follows from the rest of the node: nodes here go
// without it, a GraphDef gets it (graph_def.h).
struct ImpliedAttr {
  enum class Kind : std::uint8_t {
    kInputType,   // the type of input `i`
    kOutputType,  // of output `i`
    kInputTypes,  // the types of the inputs from `i` on
    kOutputTypes,
    kInputCount,     // the number of inputs, less `i`
    kInputPairs,     // half the number of inputs
    kUnknownShape,   // a shape of which nothing is known
    kUnknownShapes,  // one for each output
  };
  std::string name;
  Kind kind = Kind::kInputType;
  int i = 0;
};

// When a resource's container and shared_name are looked at: TensorFlow grants not all of them (its ContainerInfo).
enum class NamesAreChecked : std::uint8_t {
  kNot,
  kByTheNode,    // what runs before it has run
  kBeforeTheRun  // by any run that needs it: nothing has run
};

// Ops that decide what of a run is dead: not run, but for those that bring the branches together.
enum class ControlFlow : std::uint8_t {
  kNone,
  kSwitch,  // output 1 lives if input 1 is true, else output 0
  kMerge,   // gives the input that lives, and its number
  kSend,    // says so where its input is dead: its kernel is given an invalid tensor
  kRecv,    // hears so, if its node may (kMayBeDead): its kernel gives an invalid tensor
};
// The attribute of a kRecv whose value may be dead.
inline constexpr std::string_view kMayBeDead = "_vigil_may_be_dead";

struct OpDef {
  std::string name;
  int inputs = 0;                        // exactly as many; -1 = any number
  OutputTypesFn output_types = nullptr;  // null: no outputs
  Kernel compute = nullptr;              // null: nothing to do (NoOp)

  // Of the few ops that deal with state or cost nothing:
  std::uint32_t ref_inputs = 0;  // bit i: input i is not a value but a reference to a resource (0 to 31)
  bool is_resource = false;      // the node stands for a resource: output 0 refers to it, and nothing is computed
  std::string_view resource_kind =
      {};  // the kKind of that resource (resource.h): kernels that want another get an error; "": unknown
  NamesAreChecked names_are_checked = NamesAreChecked::kNot;  // what is not granted: INVALID_ARGUMENT
  Kernel read =
      nullptr;  // of a resource: gives its value to who wants a value instead of the reference (null: it has none)
  // The resource, or what the node keeps, is its session's alone, unless the node has a shared_name
  // (Node::IsPerSession).
  bool per_session = false;
  // The node keeps something from one run to the next for itself (a random op): resource() of its kernel is its own.
  bool keeps_state = false;
  bool fills_resource = false;        // ... and output 0 refers to it, whatever the inputs refer to (a dataset)
  bool forwards_ref = false;          // output 0 may also be taken as a reference, to what input 0 refers to (Assign)
  bool refers_by_any_output = false;  // ... and so may the others (RefSwitch)
  bool passes_handles = false;        // the same of a handle as input 0, and of nothing else (Identity)
  ControlFlow control_flow = ControlFlow::kNone;
  // The output never changes: the executor uses this tensor and copies nothing (Const).
  std::function<const Tensor&(const Node&)> constant = nullptr;
  std::vector<ImpliedAttr> implied_attrs = {};
  ShapeFn shape_fn = nullptr;  // null: nothing is known of the outputs' shapes, and nothing refused
  // What TensorFlow takes for attributes that a node does not have, as it writes them: a=1;b="x". For messages alone.
  std::string_view default_attrs = {};

  bool TakesReference(int i) const { return i < 32 && (ref_inputs >> i & 1) != 0; }
};

class OpRegistry {
 public:
  OpRegistry() = default;
  OpRegistry(const OpRegistry& other);
  OpRegistry& operator=(const OpRegistry&) = delete;

  // REQUIRES: no op of that name yet.
  void Register(OpDef op);
  // Sets the implied attributes of an op. REQUIRES: there is one of that name.
  void Imply(std::string_view name, std::vector<ImpliedAttr> attrs);
  // Sets the shape function of an op, and what it takes for missing attributes. REQUIRES: as above; `attrs` outlive the
  // registry and its copies.
  void Infer(std::string_view name, ShapeFn shape_fn);
  void Default(std::string_view name, std::string_view attrs);
  const OpDef* Find(std::string_view name) const;  // null: unknown
  const std::map<std::string, OpDef, std::less<>>& all() const { return ops_; }

 private:
  OpDef& Registered(std::string_view name);

  std::map<std::string, OpDef, std::less<>> ops_;
  std::unordered_map<std::string_view, const OpDef*> by_name_;  // lookup only: the names of ops_
};

// Signatures that many ops share.
OutputTypesFn SameAsInput(int i);
OutputTypesFn Always(std::vector<DType> types);
// One output of the type named by that attribute; USAGE for one that has no tensors.
OutputTypesFn FromAttr(std::string attr);

}  // namespace vigil

#endif  // VIGIL_CORE_GRAPH_OP_H_
