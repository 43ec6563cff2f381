// The layer that calls the hooks around a raw run. See session_layer.h.
//
// Steady state allocates nothing: what hooks ask for goes into reused storage, and the merged spec is the last one again.
#ifndef VIGIL_CORE_TRAIN_HOOKED_SESSION_H_
#define VIGIL_CORE_TRAIN_HOOKED_SESSION_H_

#include <vector>

#include "absl/status/status.h"
#include "vigil/core/env/env.h"
#include "vigil/core/train/session_layer.h"
#include "vigil/core/train/session_manager.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

class HookedSession {
 public:
  // `hooks` must outlive this object.
  HookedSession(const Env& env, SessionPtr session, const std::vector<HookPtr>& hooks);

  absl::Status Run(LayerRun& run);
  bool should_stop() const { return should_stop_; }
  Session& raw() const { return *session_; }

 private:
  absl::Status CallBeforeRun(RunContext& context, RunOptions& options);
  absl::Status MergeRequest(std::size_t hook, RunOptions& options);
  absl::Status AddCallerFeeds(const Feeds& feeds);
  void MergeFetches(const LayerRun& run);
  absl::Status CallAfterRun(RunContext& context, const LayerRun& run);

  const Env env_;
  const SessionPtr session_;
  const std::vector<HookPtr>& hooks_;
  bool should_stop_ = false;
  // Reused by each run.
  std::vector<RunArgs> requests_;         // of each hook
  std::vector<std::size_t> first_value_;  // of each hook, in the result
  RunSpec spec_;
  std::vector<Tensor> feed_values_;
};

// Merges `from` into `into` as TensorFlow does: max of levels and limits, watches appended, flags or-ed.
void MergeRunOptions(const RunOptions& from, RunOptions* into);

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKED_SESSION_H_
