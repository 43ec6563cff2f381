#include "vigil/core/env/network.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/env/env.h"
#include "vigil/core/env/notification.h"

namespace vigil {
namespace {

constexpr int kFirstFreePort = 32768;
constexpr int kLastFreePort = 60999;

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

absl::StatusOr<std::string> WithFreePort(const std::string& address,
                                         const std::function<bool(const std::string&)>& is_free) {
  constexpr std::string_view kAnyPort = ":0";
  if (!address.ends_with(kAnyPort)) return address;
  const std::string_view host = std::string_view(address).substr(0, address.size() - kAnyPort.size());
  for (int port = kFirstFreePort; port <= kLastFreePort; ++port) {
    std::string found = fmt::format("{}:{}", host, port);
    if (is_free(found)) return found;
  }
  return MakeStatus(Code::kResourceExhausted, fmt::format("listen at {}: every port is in use", address));
}

}  // namespace vigil
