// The layers of a monitored session, outer to inner: recoverable, coordinated, hooked, raw session.
//
// Each layer adds one thing to a run: the hooked one calls the hooks and merges what they ask for into one raw run; the
// coordinated one prefers the root cause that its coordinator holds; the recoverable one makes a new session after a
// preemption and repeats the run. A singular session has no recoverable layer.
// This header is for core/train itself. Thread safety: the task that uses the session only.
// Source: monitored_session.py (_WrappedSession and its heirs).
#ifndef VIGIL_CORE_TRAIN_SESSION_LAYER_H_
#define VIGIL_CORE_TRAIN_SESSION_LAYER_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/session/run_options.h"
#include "vigil/core/train/fetches.h"

namespace vigil {

// One run as it passes through the layers. `options` is one copy for the whole call, into which hooks merge. Options
// that the caller gave keep what was merged when the run is repeated after a recovery; without them each repetition
// starts anew (recorded).
struct LayerRun {
  const Fetches& fetches;
  const Feeds& feeds;
  RunOptions& options;
  RunResult* result;
  bool options_given = false;
  int attempts = 0;  // so far
};

using LayerRunFn = std::function<absl::Status(LayerRun&)>;
// A step function, given the run of the layer that must do it.
using LayerStepFn = std::function<absl::Status(const LayerRunFn&)>;

class SessionLayer {
 public:
  virtual ~SessionLayer() = default;
  // Success: run.result has the values, every hook has seen them. An error may have come before, in or after the raw
  // run.
  virtual absl::Status Run(LayerRun& run) = 0;
  // What the function returns, an exception as OTHER; the recoverable layer calls it again after a preemption.
  virtual absl::Status RunStepFn(const LayerStepFn& step_fn) = 0;
  // Whether the caller should stop: this layer's own answer, else the inner layers'.
  virtual absl::StatusOr<bool> ShouldStop() = 0;
  // Everything is stopped and closed, also if this fails.
  virtual absl::Status Close() = 0;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_SESSION_LAYER_H_
