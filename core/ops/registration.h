// Which ops there are: one function for each source file with kernels. BuiltinOps() calls them all.
#ifndef VIGIL_CORE_OPS_REGISTRATION_H_
#define VIGIL_CORE_OPS_REGISTRATION_H_

#include "vigil/core/graph/op.h"

namespace vigil {

void RegisterAccumulatorOps(OpRegistry& registry);
void RegisterArrayOps(OpRegistry& registry);
void RegisterControlOps(OpRegistry& registry);
void RegisterCsvOps(OpRegistry& registry);
void RegisterDatasetOps(OpRegistry& registry);
void RegisterElementwiseOps(OpRegistry& registry);
void RegisterExampleOps(OpRegistry& registry);
void RegisterGuardOps(OpRegistry& registry);
// Last: adds to what the others registered.
void RegisterImpliedAttrs(OpRegistry& registry);
void RegisterIteratorOps(OpRegistry& registry);
void RegisterMatrixOps(OpRegistry& registry);
void RegisterNnOps(OpRegistry& registry);  // nn/
void RegisterQueueOps(OpRegistry& registry);
void RegisterRandomOps(OpRegistry& registry);
void RegisterResourceVariableOps(OpRegistry& registry);
void RegisterSaveRestoreOps(OpRegistry& registry);
void RegisterSelectOps(OpRegistry& registry);
void RegisterSendRecvOps(OpRegistry& registry);
// After all ops: adds to what the others registered.
void RegisterShapeFns(OpRegistry& registry);  // shapes/
void RegisterStateOps(OpRegistry& registry);
void RegisterStridedSliceOps(OpRegistry& registry);
void RegisterSummaryOps(OpRegistry& registry);
void RegisterTrainingOps(OpRegistry& registry);

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_REGISTRATION_H_
