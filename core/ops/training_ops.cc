// The ops of optimizers that update a variable in place.
#include "vigil/core/ops/op_util.h"
#include "vigil/core/ops/registration.h"
#include "vigil/core/ops/variable.h"
#include "vigil/core/tensor/eigen_view.h"

namespace vigil {
namespace {

// variable - alpha * delta. REQUIRES: one floating-point type, variable and delta of one shape, alpha a scalar.
template <typename T>
Tensor Descended(const Tensor& variable, const Tensor& alpha, const Tensor& delta) {
  Tensor out(variable.dtype(), variable.shape());
  AsMutableArray<T>(out) = AsArray<T>(variable) - AsArray<T>(delta) * alpha.scalar<T>();
  return out;
}

absl::Status ApplyGradientDescent(KernelContext& c) {
  Variable& variable = c.resource<Variable>([] { return std::make_shared<Variable>(); });
  const Tensor& alpha = c.input(1);
  const Tensor& delta = c.input(2);
  return variable.Update([&](const Tensor& old, Tensor* replacement) {
    if (!old.valid()) {
      return MakeStatus(Code::kFailedPrecondition,
                        fmt::format("Attempting to use uninitialized value {}", c.holder().name));
    }
    if (alpha.shape().rank() != 0) return InvalidArgument("alpha is not a scalar: {}", alpha.shape().ToString());
    if (old.shape() != delta.shape()) {
      return InvalidArgument("var and delta do not have the same shape{} {}", old.shape().ToString(),
                             delta.shape().ToString());
    }
    *replacement =
        old.dtype() == DType::kFloat ? Descended<float>(old, alpha, delta) : Descended<double>(old, alpha, delta);
    c.set_output(0, *replacement);
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
