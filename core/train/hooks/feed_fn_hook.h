// tf.train.FeedFnHook: feeds every run with what a function returns.
//
// Thread safety: as SessionRunHook; the function is called from the task that uses the session.
// Source: basic_session_run_hooks.py; recorded.
#ifndef VIGIL_CORE_TRAIN_HOOKS_FEED_FN_HOOK_H_
#define VIGIL_CORE_TRAIN_HOOKS_FEED_FN_HOOK_H_

#include <functional>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

struct FeedFnHookOptions {
  std::function<absl::StatusOr<Feeds>()> feed_fn;
};

class FeedFnHook : public SessionRunHook {
 public:
  // USAGE without a function.
  static absl::StatusOr<std::shared_ptr<FeedFnHook>> Create(const Env& env, FeedFnHookOptions options);

  absl::Status BeforeRun(RunContext& context, RunArgs& args) override;

 private:
  explicit FeedFnHook(FeedFnHookOptions options) : options_(std::move(options)) {}

  const FeedFnHookOptions options_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKS_FEED_FN_HOOK_H_
