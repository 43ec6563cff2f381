// tf.gradients: symbolic derivatives in reverse mode.
//
//   VIGIL_ASSIGN_OR_RETURN(const std::vector<Output> grads, Gradients(b, loss, {w.ref, bias.ref}));
//
// Nodes are added to the graph, below a scope "gradients", that compute the derivative of the sum of `ys` with respect
// to each of `xs`. A variable is named by its reference, and its reads count. What comes over several ways is added up
// by AddN.
// Errors: USAGE for outputs that are not of this graph, and, in TensorFlow's words, for an op between xs and ys that
// nothing is registered for; what the builder failed with before.
// Thread safety: as the graph's. Source: gradients_util.py.
#ifndef VIGIL_CORE_GRADIENTS_GRADIENTS_H_
#define VIGIL_CORE_GRADIENTS_GRADIENTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/gradients/gradient.h"
#include "vigil/core/graph/builder.h"

namespace vigil {

struct GradientsOptions {
  std::string name = "gradients";
  // Of each y; none: ones.
  std::vector<Output> grad_ys = {};
  // Count as constants: nothing is propagated through them.
  std::vector<Output> stop_gradients = {};
  // Zeros for an x that ys do not depend on, instead of none (UnconnectedGradients.ZERO).
  bool unconnected_zero = false;
  // The gradients of one op's inputs are used only when all of them are there. An update that follows from one of them
  // then never changes what another is still computed from, where values are read in place: in TensorFlow.
  bool gate = false;
  const GradientRegistry* registry = nullptr;  // null: BuiltinGradients()
};

// One for each x; none (exists() is false) where ys do not depend on it. May be IndexedSlices: of what was gathered.
absl::StatusOr<std::vector<Gradient>> Gradients(Builder& b, const std::vector<Output>& ys,
                                                const std::vector<Output>& xs, const GradientsOptions& options);

// The same, all of them dense; no node where the loss does not depend on x.
absl::StatusOr<std::vector<Output>> Gradients(Builder& b, Output loss, const std::vector<Output>& xs);

}  // namespace vigil

#endif  // VIGIL_CORE_GRADIENTS_GRADIENTS_H_
