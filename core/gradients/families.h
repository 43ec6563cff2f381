// The gradients of the ops in core/ops: one function for each source file. BuiltinGradients() calls them all.
#ifndef VIGIL_CORE_GRADIENTS_FAMILIES_H_
#define VIGIL_CORE_GRADIENTS_FAMILIES_H_

#include "vigil/core/gradients/gradient.h"

namespace vigil {

void RegisterArrayGradients(GradientRegistry& registry);
void RegisterBinaryGradients(GradientRegistry& registry);
void RegisterFlowGradients(GradientRegistry& registry);
void RegisterMatrixGradients(GradientRegistry& registry);
void RegisterNnGradients(GradientRegistry& registry);
// Ops whose outputs count as constants.
void RegisterNotDifferentiable(GradientRegistry& registry);
void RegisterRowGradients(GradientRegistry& registry);
void RegisterUnaryGradients(GradientRegistry& registry);

}  // namespace vigil

#endif  // VIGIL_CORE_GRADIENTS_FAMILIES_H_
