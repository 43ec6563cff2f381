// A request that is said again and again, so that the server knows that who sends it is there.
//
// The answer does not matter, and at most one is under way.
// Thread safety: safe from any task. Ownership: used through shared_ptr, which its task holds, too; `env`'s seams must
// be there until Join() has returned, or shortly after Stop().
#ifndef VIGIL_CORE_CLUSTER_CLIENT_HEARTBEAT_H_
#define VIGIL_CORE_CLUSTER_CLIENT_HEARTBEAT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/env/notification.h"

namespace vigil {

class Heartbeat : public std::enable_shared_from_this<Heartbeat> {
 public:
  // The first beat comes after that time. Errors: RESOURCE_EXHAUSTED if no task can be made for it.
  static absl::StatusOr<std::shared_ptr<Heartbeat>> Start(const Env& env, NetworkRequest beat, Duration every);
  // No further beat. Never waits.
  void Stop() { over_.Notify(); }
  // Stop(), and waits until its task has ended, which is at once. One task at a time.
  void Join();

 private:
  Heartbeat(const Env& env, NetworkRequest beat, Duration every);
  void Run();

  const Env env_;
  const NetworkRequest beat_;
  const Duration every_;
  Notification over_;
  std::unique_ptr<Task> task_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_CLIENT_HEARTBEAT_H_
