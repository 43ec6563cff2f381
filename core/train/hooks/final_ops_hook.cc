#include "vigil/core/train/hooks/final_ops_hook.h"

#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {

absl::StatusOr<std::shared_ptr<FinalOpsHook>> FinalOpsHook::Create(const Env& env, FinalOpsHookOptions options) {
  return std::shared_ptr<FinalOpsHook>(new FinalOpsHook(env, std::move(options)));
}

FinalOpsHook::FinalOpsHook(const Env& env, FinalOpsHookOptions options) : env_(env), options_(std::move(options)) {}

absl::Status FinalOpsHook::Begin(BeginContext&) {
  result_.reset();  // it may have been in another session
  return absl::OkStatus();
}

absl::Status FinalOpsHook::End(Session* session) {
  result_.reset();
  if (options_.final_ops.empty()) return absl::OkStatus();
  if (session == nullptr) {
    return UsageError("The final ops cannot be run: the session was closed before its scope was left.");
  }
  RunSpec spec;
  options_.final_ops.AppendTo(session->graph(), &spec);
  std::vector<Tensor> fed;
  for (const Feed& feed : options_.final_ops_feed_dict) {
    spec.feeds.push_back(feed.tensor);
    fed.push_back(feed.value);
  }
  RunResult result;
  result.Set(options_.final_ops);
  absl::Status status = session->Run({.spec = spec, .feed_values = fed}, &result.tensors());
  if (IsCleanEnd(status)) {
    env_.log->Write(
        Severity::kWarning,
        "An OutOfRangeError or StopIteration exception is raised by the code in FinalOpsHook. This typically means the "
        "Ops running by the FinalOpsHook have a dependency back to some input source, which should not happen. For "
        "example, for metrics in tf.estimator.Estimator, all metrics functions return two Ops: `value_op` and  "
        "`update_op`. Estimator.evaluate calls the `update_op` for each batch of the data in input source and, once it "
        "is exhausted, it call the `value_op` to get the metric values. The `value_op` here should have dependency "
        "back "
        "to variables reading only, rather than reading another batch from input. Otherwise, the `value_op`, executed "
        "by `FinalOpsHook`, triggers another data reading, which ends OutOfRangeError/StopIteration. Please fix that.");
  }
  VIGIL_RETURN_IF_ERROR(status);
  result_ = std::move(result);
  return absl::OkStatus();
}

FetchedValues FinalOpsHook::final_ops_values() const {
  return result_.has_value() ? result_->values() : FetchedValues();
}

}  // namespace vigil
