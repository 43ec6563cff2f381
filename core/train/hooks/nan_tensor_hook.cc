#include "vigil/core/train/hooks/nan_tensor_hook.h"

#include <fmt/format.h>

#include <cmath>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/train/run_events.h"

namespace vigil {
namespace {

absl::StatusOr<bool> IsNan(const Tensor& loss) {
  const bool is_float = loss.dtype() == DType::kFloat;
  if (!is_float && loss.dtype() != DType::kDouble) {
    double number = 0;
    if (loss.AsNumber(&number)) return false;  // an integer never is
    return UsageError(fmt::format("NanTensorHook needs a loss that is a number, not {}.", loss.Describe()));
  }
  if (loss.num_elements() != 1) {
    return UsageError(fmt::format("NanTensorHook needs a loss of one element, not {}.", loss.Describe()));
  }
  return is_float ? std::isnan(loss.flat<float>()[0]) : std::isnan(loss.flat<double>()[0]);
}

}  // namespace

absl::StatusOr<std::shared_ptr<NanTensorHook>> NanTensorHook::Create(const Env& env, NanTensorHookOptions options) {
  return std::shared_ptr<NanTensorHook>(new NanTensorHook(env, options));
}

NanTensorHook::NanTensorHook(const Env& env, NanTensorHookOptions options)
    : env_(env), options_(options), fetches_(options.loss_tensor) {}

absl::Status NanTensorHook::AfterCreateSession(const std::shared_ptr<Session>&,
                                               const std::shared_ptr<Coordinator>& coord) {
  coord_ = coord;
  EmitHookDetail(env_.events, HookDetail::kWatchesForNan, options_.fail_on_nan_loss ? 1 : 0);
  return absl::OkStatus();
}

void NanTensorHook::Inspect(const FetchedValues& results) {
  const absl::StatusOr<bool> nan = IsNan(results.tensor());
  if (nan.ok() && *nan && coord_ != nullptr) coord_->MarkDiverged();
}

absl::Status NanTensorHook::BeforeRun(RunContext&, RunArgs& args) {
  args.fetches = fetches_;
  return absl::OkStatus();
}

absl::Status NanTensorHook::AfterRun(RunContext& context, const RunValues& values) {
  VIGIL_ASSIGN_OR_RETURN(const bool nan, IsNan(values.results.tensor()));
  if (!nan) return absl::OkStatus();
  constexpr std::string_view kDiverged = "Model diverged with loss = NaN.";
  if (options_.fail_on_nan_loss) {
    env_.log->Write(Severity::kError, kDiverged);
    return MakeStatus(Code::kNanLoss, "NaN loss during training.");
  }
  env_.log->Write(Severity::kWarning, kDiverged);
  context.RequestStop();
  return absl::OkStatus();
}

}  // namespace vigil
