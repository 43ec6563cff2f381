// tf.train.Optimizer: an op that makes a loss smaller.
//
//   VIGIL_ASSIGN_OR_RETURN(const Output train_op, optimizer.Minimize(b, loss, step));
//
// Minimize() is ComputeGradients() and ApplyGradients(); between the two, gradients can be clipped, and who has
// gradients of his own goes without the first:
//
//   VIGIL_ASSIGN_OR_RETURN(const Output train_op, optimizer.ApplyGradients(b, {{dw, w.ref}, {db, v.ref}}, step));
//
// Nodes are named and placed as TensorFlow does: each update goes to its variable, the global step is increased where
// it lives, and only after all updates. The train op is added to kTrainOp.
// Errors: USAGE in TensorFlow's words. What the builder failed with before comes back as it is.
// Thread safety: as the graph's. Source: optimizer.py.
#ifndef VIGIL_CORE_TRAIN_OPTIMIZERS_OPTIMIZER_H_
#define VIGIL_CORE_TRAIN_OPTIMIZERS_OPTIMIZER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/graph.h"

namespace vigil {

inline constexpr CollectionKey<Output> kTrainOp{"train_op"};

// Variables that no optimizer is to train: those of optimizers and averages. (The others are trainable.)
inline constexpr CollectionKey<Output> kNotTrainable{"vigil/not_trainable"};

struct GradientAndVariable {
  Output gradient = {};  // no node: this variable is left as it is
  Output variable = {};  // the variable itself (ops::Variable::ref)
  // Of IndexedSlices: `gradient` is of these rows alone (core/gradients/gradient.h). No node: it is dense.
  Output indices = {};
  Output dense_shape = {};
};
using GradientsAndVariables = std::vector<GradientAndVariable>;

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // The op to run in each step: ComputeGradients(), then ApplyGradients(). Errors: theirs; USAGE "No gradients provided
  // for any variable, check your graph for ops that do not support gradients, between variables [...] and loss ...".
  absl::StatusOr<Output> Minimize(Builder& b, Output loss, std::optional<Output> global_step = std::nullopt,
                                  const std::vector<Output>& variables = {}, std::string name = "");
  // The gradients of the loss. `variables`: references; none: all global variables of a floating-point type but those
  // of kNotTrainable. Errors: USAGE "No variables to optimize."; those of Gradients() (core/gradients/gradients.h).
  absl::StatusOr<GradientsAndVariables> ComputeGradients(Builder& b, Output loss,
                                                         const std::vector<Output>& variables = {});

  // The op to run in each step. `name`: of that op and, as a prefix, of the nodes that belong to it ("" = the
  // optimizer's); made unique.
  virtual absl::StatusOr<Output> ApplyGradients(Builder& b, const GradientsAndVariables& gradients,
                                                std::optional<Output> global_step = std::nullopt,
                                                std::string name = "") = 0;
  virtual std::string_view name() const = 0;

  // Variables that the optimizer keeps for one of the model's ("momentum").
  virtual std::optional<Output> GetSlot(Output /*variable*/, std::string_view /*slot*/) const { return std::nullopt; }
  virtual std::vector<std::string> GetSlotNames() const { return {}; }
  virtual std::vector<Output> variables() const { return {}; }
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_OPTIMIZERS_OPTIMIZER_H_
