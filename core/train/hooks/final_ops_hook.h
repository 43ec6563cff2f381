// tf.train.FinalOpsHook: evaluates tensors at the end of a session and keeps their values.
//
// Thread safety: as SessionRunHook. Source: basic_session_run_hooks.py; recorded.
#ifndef VIGIL_CORE_TRAIN_HOOKS_FINAL_OPS_HOOK_H_
#define VIGIL_CORE_TRAIN_HOOKS_FINAL_OPS_HOOK_H_

#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

struct FinalOpsHookOptions {
  Fetches final_ops;  // nested as one likes; empty: nothing is run
  Feeds final_ops_feed_dict;
};

class FinalOpsHook : public SessionRunHook {
 public:
  static absl::StatusOr<std::shared_ptr<FinalOpsHook>> Create(const Env& env, FinalOpsHookOptions options);

  absl::Status Begin(BeginContext& context) override;
  // An OUT_OF_RANGE or STOP_ITERATION comes with a warning that the final ops must not take input.
  absl::Status End(Session* session) override;

  // In the shape of final_ops; none before the end of the session in which the hook is, or was last, and if it failed.
  FetchedValues final_ops_values() const;

 private:
  FinalOpsHook(const Env& env, FinalOpsHookOptions options);

  const Env env_;
  const FinalOpsHookOptions options_;
  std::optional<RunResult> result_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKS_FINAL_OPS_HOOK_H_
