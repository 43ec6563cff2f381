// Gradients kept small before they are applied.
//
//   VIGIL_ASSIGN_OR_RETURN(GradientsAndVariables pairs, optimizer.ComputeGradients(b, loss));
//   pairs = ClipByGlobalNorm(b, pairs, 5.0);
//   VIGIL_ASSIGN_OR_RETURN(const Output train_op, optimizer.ApplyGradients(b, pairs, step));
//
// Of sparse gradients the values of the rows count, a row that comes twice as two: as in TensorFlow. Numbers are
// float scalars, or of the gradients' type. Errors stick to the builder. Thread safety: as the graph's. Source:
// clip_ops.py.
#ifndef VIGIL_CORE_TRAIN_OPTIMIZERS_CLIPPING_H_
#define VIGIL_CORE_TRAIN_OPTIMIZERS_CLIPPING_H_

#include <string>
#include <vector>

#include "vigil/core/graph/builder.h"
#include "vigil/core/train/optimizers/optimizer.h"
#include "vigil/core/train/optimizers/slot_optimizer.h"

namespace vigil {

// Each element between the two.
Output ClipByValue(Builder& b, Output value, const HyperParameter& low, const HyperParameter& high,
                   const std::string& name = "clip_by_value");
// As a whole: its L2 norm is at most that.
Output ClipByNorm(Builder& b, Output value, const HyperParameter& norm, const std::string& name = "clip_by_norm");
// The L2 norm of all together.
Output GlobalNorm(Builder& b, const std::vector<Output>& values, const std::string& name = "global_norm");

// The same for gradients; those that do not exist stay so.
GradientsAndVariables ClipByValue(Builder& b, GradientsAndVariables pairs, const HyperParameter& low,
                                  const HyperParameter& high, const std::string& name = "clip_by_value");
GradientsAndVariables ClipByNorm(Builder& b, GradientsAndVariables pairs, const HyperParameter& norm,
                                 const std::string& name = "clip_by_norm");
// All by one factor, so that their norm together is at most that. Where it is infinite or NaN, they become NaN.
GradientsAndVariables ClipByGlobalNorm(Builder& b, GradientsAndVariables pairs, const HyperParameter& norm,
                                       const std::string& name = "clip_by_global_norm");

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_OPTIMIZERS_CLIPPING_H_
