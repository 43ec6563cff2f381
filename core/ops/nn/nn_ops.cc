#include "vigil/core/ops/nn/nn.h"
#include "vigil/core/ops/registration.h"

namespace vigil {

void RegisterNnOps(OpRegistry& registry) {
  RegisterActivationOps(registry);
  RegisterBiasOps(registry);
  RegisterCombiningOps(registry);
  RegisterLayoutOps(registry);
  RegisterMathOps(registry);
  RegisterReductionOps(registry);
  RegisterRowOps(registry);
  RegisterShapeOps(registry);
  RegisterSoftmaxOps(registry);
}

}  // namespace vigil
