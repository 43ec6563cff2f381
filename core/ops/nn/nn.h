// The ops of neural networks and of their training: one function for each source file of this folder.
// RegisterNnOps() (core/ops/registration.h) calls them all.
#ifndef VIGIL_CORE_OPS_NN_NN_H_
#define VIGIL_CORE_OPS_NN_NN_H_

#include "vigil/core/graph/op.h"

namespace vigil {

void RegisterActivationOps(OpRegistry& registry);
void RegisterApplyOps(OpRegistry& registry);
void RegisterBiasOps(OpRegistry& registry);
void RegisterCombiningOps(OpRegistry& registry);
void RegisterConvOps(OpRegistry& registry);
void RegisterLayoutOps(OpRegistry& registry);
void RegisterMathOps(OpRegistry& registry);
// Last: adds to what the others registered.
void RegisterNnImpliedAttrs(OpRegistry& registry);
void RegisterPoolOps(OpRegistry& registry);
void RegisterReductionOps(OpRegistry& registry);
void RegisterRowOps(OpRegistry& registry);
void RegisterScanOps(OpRegistry& registry);
void RegisterShapeOps(OpRegistry& registry);
void RegisterSoftmaxOps(OpRegistry& registry);

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_NN_NN_H_
