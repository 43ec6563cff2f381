// tf.train.GlobalStepWaiterHook: delays the first run until the global step has reached a number (workers that start
// one by one).
//
// Polls every half second, until a stop is asked for (of the coordinator, or from outside; by TensorFlow's behaviour
// without end): then the one run is made that was to begin, so that the session ends in good order. A wait that failed
// starts again with the next run; one that ended well is never repeated, not even after a recovery.
// Thread safety: as SessionRunHook. Source: basic_session_run_hooks.py; recorded.
#ifndef VIGIL_CORE_TRAIN_HOOKS_GLOBAL_STEP_WAITER_HOOK_H_
#define VIGIL_CORE_TRAIN_HOOKS_GLOBAL_STEP_WAITER_HOOK_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/train/hooks/global_step_reader.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

struct GlobalStepWaiterHookOptions {
  std::int64_t wait_until_step = 0;            // <= 0: does not wait
  Behaviour behaviour = Behaviour::Default();  // bounded_waits
};

class GlobalStepWaiterHook : public SessionRunHook {
 public:
  static absl::StatusOr<std::shared_ptr<GlobalStepWaiterHook>> Create(const Env& env,
                                                                      GlobalStepWaiterHookOptions options);

  // USAGE "Global step should be created to use _GlobalStepWaiterHook."
  absl::Status Begin(BeginContext& context) override;
  absl::Status AfterCreateSession(const std::shared_ptr<Session>& session,
                                  const std::shared_ptr<Coordinator>& coord) override;
  absl::Status BeforeRun(RunContext& context, RunArgs& args) override;

 private:
  GlobalStepWaiterHook(const Env& env, GlobalStepWaiterHookOptions options) : env_(env), options_(options) {}

  const Env env_;
  const GlobalStepWaiterHookOptions options_;
  GlobalStepReader step_;
  std::shared_ptr<Coordinator> coord_;  // of the session; null: never told of one
  bool started_ = false;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKS_GLOBAL_STEP_WAITER_HOOK_H_
