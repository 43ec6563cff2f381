#include "vigil/core/ops/nn/nn.h"
#include "vigil/core/ops/registration.h"

namespace vigil {

void RegisterNnOps(OpRegistry& registry) {
  RegisterActivationOps(registry);
  RegisterApplyOps(registry);
  RegisterBiasOps(registry);
  RegisterCombiningOps(registry);
  RegisterConvOps(registry);
  RegisterLayoutOps(registry);
  RegisterMathOps(registry);
  RegisterPoolOps(registry);
  RegisterReductionOps(registry);
  RegisterRowOps(registry);
  RegisterScanOps(registry);
  RegisterShapeOps(registry);
  RegisterSoftmaxOps(registry);
  RegisterNnImpliedAttrs(registry);
}

}  // namespace vigil
