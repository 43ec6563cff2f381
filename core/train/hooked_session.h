// The layer that calls the hooks around a raw run. See session_layer.h.
//
// Steady state allocates nothing: what hooks ask for goes into reused storage. A hook that asks for nothing costs its
// two calls and little more: it leaves no trace in what is merged. A hook may run the session itself: what the outer
// run has gathered is set aside.
#ifndef VIGIL_CORE_TRAIN_HOOKED_SESSION_H_
#define VIGIL_CORE_TRAIN_HOOKED_SESSION_H_

#include <vector>

#include "absl/status/status.h"
#include "vigil/core/env/env.h"
#include "vigil/core/train/run_events.h"
#include "vigil/core/train/session_layer.h"
#include "vigil/core/train/session_life.h"
#include "vigil/core/train/session_manager.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

class HookedSession {
 public:
  // `hooks` and `life` must outlive this object.
  HookedSession(const Env& env, SessionPtr session, const std::vector<HookPtr>& hooks, SessionLife& life);

  absl::Status Run(LayerRun& run);
  bool should_stop() const { return life_.stop_requested; }
  Session& raw() const { return *session_; }

 private:
  // What one hook asked for in the run in progress. Hooks that ask for nothing have none.
  struct Request {
    std::size_t hook = 0;
    Fetches fetches;
    std::size_t first_value = 0;  // in the result
  };

  // What a run gathers. Reused by each run.
  struct Gathered {
    RunArgs asked;                  // by the hook that is being called
    std::vector<Request> requests;  // in list order
    RunSpec spec;
    std::vector<Tensor> feed_values;
  };
  // Marks a run in progress; one inside of another gets storage of its own, and what it replaces comes back in its
  // place.
  class InProgress;

  absl::Status RunOnce(LayerRun& run, RunContext& context);
  absl::Status CallBeforeRun(RunContext& context, RunOptions& options);
  absl::Status TakeRequest(std::size_t hook, RunOptions& options);
  absl::Status AddCallerFeeds(const Feeds& feeds);
  void MergeFetches(const LayerRun& run);
  absl::Status CallInspect(const LayerRun& run);
  absl::Status CallAfterRun(RunContext& context, const LayerRun& run);
  // Calls `body` for one hook; if somebody watches, with its events and with what it asked the context for.
  template <typename Body>
  absl::Status Call(std::size_t hook, HookMethod method, RunContext& context, const FetchedValues* results, Body body);

  const Env env_;
  RunEvents details_;
  const SessionPtr session_;
  const std::vector<HookPtr>& hooks_;
  SessionLife& life_;
  Gathered now_;  // by the innermost run
  bool running_ = false;
};

// Merges `from` into `into` as TensorFlow does: max of levels and limits, watches appended, flags or-ed.
void MergeRunOptions(const RunOptions& from, RunOptions* into);

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKED_SESSION_H_
