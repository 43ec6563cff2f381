#include "vigil/core/env/network.h"

#include <memory>
#include <optional>
#include <utility>

#include "vigil/core/env/env.h"
#include "vigil/core/env/notification.h"

namespace vigil {
namespace {

// Shared with the callback, which may outlive the waiting task if that is killed.
struct Waiting {
  explicit Waiting(Tasks& tasks) : answered(tasks, "reply") {}
  Notification answered;
  std::optional<NetworkReply> reply;
};

}  // namespace

NetworkReply CallAndWait(const Env& env, NetworkRequest request) {
  const auto waiting = std::make_shared<Waiting>(*env.tasks);
  env.network->Start(std::move(request), [waiting](NetworkReply reply) {
    waiting->reply = std::move(reply);
    waiting->answered.Notify();
  });
  waiting->answered.Wait(kNever);
  return std::move(*waiting->reply);
}

}  // namespace vigil
