#include "vigil/core/train/hooks/feed_fn_hook.h"

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/call_guarded.h"

namespace vigil {

absl::StatusOr<std::shared_ptr<FeedFnHook>> FeedFnHook::Create(const Env&, FeedFnHookOptions options) {
  if (options.feed_fn == nullptr) return UsageError("FeedFnHook needs a feed_fn.");
  return std::shared_ptr<FeedFnHook>(new FeedFnHook(std::move(options)));
}

absl::Status FeedFnHook::BeforeRun(RunContext&, RunArgs& args) {
  VIGIL_ASSIGN_OR_RETURN(args.feeds, CallGuarded(options_.feed_fn));
  return absl::OkStatus();
}

}  // namespace vigil
