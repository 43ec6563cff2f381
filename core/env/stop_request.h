// The wish that a training ends soon, in good order: what waits hears of it, what runs is left to finish.
//
// Thread safety: safe from any task, and from whatever tells of signals. Ownership: env's seams must outlive it.
#ifndef VIGIL_CORE_ENV_STOP_REQUEST_H_
#define VIGIL_CORE_ENV_STOP_REQUEST_H_

#include <memory>
#include <string>
#include <string_view>

#include "vigil/core/base/atomic.h"
#include "vigil/core/env/env.h"
#include "vigil/core/env/notification.h"

namespace vigil {

class StopRequest {
 public:
  explicit StopRequest(const Env& env);

  // `who` asks, for messages: the first one counts. It cannot be taken back.
  void Request(std::string_view who);
  bool requested() const { return requested_.load(std::memory_order_acquire); }
  std::string requested_by() const;  // "" = nobody yet
  // True = requested before the deadline (of Clock::Monotonic), or already.
  bool Wait(Time deadline) { return told_.Wait(deadline); }

 private:
  Atomic<bool> requested_{false};
  Notification told_;
  const std::unique_ptr<Mutex> mutex_;
  std::string who_;  // guarded by *mutex_
};

using StopRequestPtr = std::shared_ptr<StopRequest>;

// Waits until the deadline, without a request to look at simply sleeps; true = `stop` (may be null: nobody asks) was
// requested before it.
bool SleepUnlessStopped(const Env& env, StopRequest* stop, Time deadline);
// CANCELLED "A stop was requested by <who> while <what>.". REQUIRES: it was requested.
absl::Status StoppedWhile(const StopRequest& stop, std::string_view what);

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_STOP_REQUEST_H_
