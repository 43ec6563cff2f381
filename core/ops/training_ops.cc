// The ops of optimizers that update a variable in place.
#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/registration.h"
#include "vigil/core/ops/variable.h"
#include "vigil/core/tensor/eigen_view.h"

namespace vigil {
namespace {

// variable -= alpha * delta. REQUIRES: one floating-point type, variable and delta of one shape, alpha a scalar.
template <typename T>
absl::Status Descend(Tensor& variable, const Tensor& alpha, const Tensor& delta) {
  return Rewrite(variable, [&](const Tensor& old, Tensor& out) {
    AsMutableArray<T>(out) = AsArray<T>(old) - AsArray<T>(delta) * alpha.scalar<T>();
  });
}

absl::Status ApplyGradientDescent(KernelContext& c) {
  VIGIL_ASSIGN_OR_RETURN(vigil::Variable* const variable, vigil::Variable::Of(c));
  const Tensor& alpha = c.input(1);
  const Tensor& delta = c.input(2);
  return variable->Update([&](Tensor* value) {
    if (!value->valid()) {
      return MakeStatus(Code::kFailedPrecondition,
                        fmt::format("Attempting to use uninitialized value {}", c.holder().name));
    }
    if (alpha.shape().rank() != 0) return InvalidArgument("alpha is not a scalar: {}", alpha.shape().ToString());
    if (value->shape() != delta.shape()) {
      return InvalidArgument("var and delta do not have the same shape{} {}", value->shape().ToString(),
                             delta.shape().ToString());
    }
    VIGIL_RETURN_IF_ERROR(value->dtype() == DType::kFloat ? Descend<float>(*value, alpha, delta)
                                                          : Descend<double>(*value, alpha, delta));
    c.set_output(0, *value);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<DType>> ApplyGradientDescentTypes(const Node& node, const std::vector<DType>& inputs) {
  VIGIL_RETURN_IF_ERROR(RequireType(node, inputs, 0, {DType::kFloat, DType::kDouble}));
  for (std::size_t i = 1; i < 3; ++i) {
    if (inputs[i] == inputs[0]) continue;
    return UsageError(fmt::format(
        "Input '{}' of 'ApplyGradientDescent' Op has type {} that does not match type {} of argument 'var'.",
        i == 1 ? "alpha" : "delta", DTypeName(inputs[i]), DTypeName(inputs[0])));
  }
  VIGIL_RETURN_IF_ERROR(AllowAttr<bool>(node, "use_locking"));
  return std::vector<DType>{inputs[0]};
}

}  // namespace

void RegisterTrainingOps(OpRegistry& registry) {
  registry.Register({.name = "ApplyGradientDescent",
                     .inputs = 3,
                     .output_types = ApplyGradientDescentTypes,
                     .compute = ApplyGradientDescent,
                     .ref_inputs = 1,
                     .forwards_ref = true});
}

}  // namespace vigil
