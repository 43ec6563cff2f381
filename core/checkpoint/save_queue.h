// Saves that are made beside the training: one after the other, in the order in which they were added, each whole
// before the next begins.
//
// One is being made and one more may wait (or two wait for the task to start), so that at most two copies of a model
// are held besides the model itself. Nothing is dropped: who would add a third waits. A task makes them; it lives while
// there are any. Part of Saver (saver.h).
// Thread safety: safe from any task; Add and WaitForRoom from one task at a time. What fails is logged at once, and
// kept for who asks.
#ifndef VIGIL_CORE_CHECKPOINT_SAVE_QUEUE_H_
#define VIGIL_CORE_CHECKPOINT_SAVE_QUEUE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "vigil/core/base/atomic.h"
#include "vigil/core/base/time.h"
#include "vigil/core/env/env.h"

namespace vigil {

// One of them.
class PendingSave {
 public:
  // Once true it stays so. Safe from any task.
  bool done() const { return done_.load(std::memory_order_acquire); }
  // What became of it; an error names what was to be saved. REQUIRES: done().
  const absl::Status& status() const { return status_; }

 private:
  friend class SaveQueue;
  absl::Status status_;
  Atomic<bool> done_{false};
};
using PendingSavePtr = std::shared_ptr<const PendingSave>;

class SaveQueue {
 public:
  explicit SaveQueue(const Env& env);

  // Until one more can be added.
  void WaitForRoom();
  // `make` saves `what`. `owner` is what it uses: kept until then.
  PendingSavePtr Add(std::string what, std::function<absl::Status()> make, std::shared_ptr<const void> owner);
  // Until there is none. False = not before the deadline.
  bool WaitUntilIdle(Time deadline = kNever);

  // For who joins tasks by name: it is done whenever the queue is idle.
  std::shared_ptr<Task> AsTask(std::string name) const;

 private:
  struct State;
  class Worker;
  const std::shared_ptr<State> state_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_CHECKPOINT_SAVE_QUEUE_H_
