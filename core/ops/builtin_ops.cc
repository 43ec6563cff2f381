#include "vigil/core/ops/ops.h"
#include "vigil/core/ops/registration.h"

namespace vigil {

const OpRegistry& BuiltinOps() {
  static const OpRegistry* const kOps = [] {
    auto* const registry = new OpRegistry;  // never destroyed: graphs may outlive main
    RegisterAccumulatorOps(*registry);
    RegisterArrayOps(*registry);
    RegisterControlOps(*registry);
    RegisterCsvOps(*registry);
    RegisterDatasetOps(*registry);
    RegisterElementwiseOps(*registry);
    RegisterExampleOps(*registry);
    RegisterGuardOps(*registry);
    RegisterIteratorOps(*registry);
    RegisterMatrixOps(*registry);
    RegisterNnOps(*registry);
    RegisterQueueOps(*registry);
    RegisterRandomOps(*registry);
    RegisterResourceVariableOps(*registry);
    RegisterSaveRestoreOps(*registry);
    RegisterSelectOps(*registry);
    RegisterSendRecvOps(*registry);
    RegisterStateOps(*registry);
    RegisterStridedSliceOps(*registry);
    RegisterSummaryOps(*registry);
    RegisterTrainingOps(*registry);
    RegisterImpliedAttrs(*registry);
    RegisterShapeFns(*registry);
    return registry;
  }();
  return *kOps;
}

}  // namespace vigil
