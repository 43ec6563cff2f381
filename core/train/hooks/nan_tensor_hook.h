// tf.train.NanTensorHook: stops training when the loss is NaN, by an error or softly. Infinity is none of its business.
//
// A NaN loss also marks the session's coordinator as diverged, before any hook's AfterRun: CheckpointSaverHook then
// saves nothing any more (Behaviour::nan_stop_saves_nothing). What was saved before the loss became NaN it cannot take
// back.
// Thread safety: as SessionRunHook. Source: basic_session_run_hooks.py; recorded.
#ifndef VIGIL_CORE_TRAIN_HOOKS_NAN_TENSOR_HOOK_H_
#define VIGIL_CORE_TRAIN_HOOKS_NAN_TENSOR_HOOK_H_

#include <memory>

#include "absl/status/statusor.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

struct NanTensorHookOptions {
  Output loss_tensor;
  bool fail_on_nan_loss = true;  // false: a warning, and the session is asked to stop
};

class NanTensorHook : public SessionRunHook {
 public:
  static absl::StatusOr<std::shared_ptr<NanTensorHook>> Create(const Env& env, NanTensorHookOptions options);

  absl::Status AfterCreateSession(const std::shared_ptr<Session>& session,
                                  const std::shared_ptr<Coordinator>& coord) override;
  absl::Status BeforeRun(RunContext& context, RunArgs& args) override;
  void Inspect(const FetchedValues& results) override;
  // NAN_LOSS "NaN loss during training."; USAGE if the loss is not one number.
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;

 private:
  NanTensorHook(const Env& env, NanTensorHookOptions options);

  const Env env_;
  const NanTensorHookOptions options_;
  const Fetches fetches_;
  std::shared_ptr<Coordinator> coord_;  // null: used without a session's
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKS_NAN_TENSOR_HOOK_H_
