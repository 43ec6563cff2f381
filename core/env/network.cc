#include "vigil/core/env/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/cord.h"
#include "vigil/core/base/code.h"
#include "vigil/core/env/env.h"
#include "vigil/core/env/notification.h"

namespace vigil {
namespace {

constexpr int kFirstFreePort = 32768;
constexpr int kLastFreePort = 60999;
constexpr std::size_t kMostLeftOutBytes = 256;  // of the payload that names the others, its own name included

// Not in the middle of a character: other implementations read messages and texts as UTF-8.
std::string_view BeginningOf(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

std::string Shortened(std::string_view message) {
  if (message.size() <= kMostStatusMessageBytes) return std::string(message);
  constexpr std::size_t kNote = 64;
  const std::string_view kept = BeginningOf(message, kMostStatusMessageBytes - kNote);
  return fmt::format("{} [and {} bytes that were not sent]", kept, message.size() - kept.size());
}

struct Payload {
  std::string name;
  std::size_t bytes = 0;  // of its value
  std::size_t size() const { return name.size() + bytes; }
};

// The smallest first.
std::vector<Payload> PayloadsOf(const absl::Status& status) {
  std::vector<Payload> payloads;
  status.ForEachPayload([&payloads](absl::string_view name, const absl::Cord& value) {
    payloads.push_back({std::string(name), value.size()});
  });
  std::ranges::sort(payloads, {}, [](const Payload& each) { return std::pair(each.size(), each.name); });
  return payloads;
}

std::size_t SizeOf(const std::vector<Payload>& payloads) {
  std::size_t size = 0;
  for (const Payload& each : payloads) size += each.size();
  return size;
}

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

absl::Status TooLarge(std::string_view what, std::string_view method, std::int64_t bytes, std::int64_t most) {
  return MakeStatus(
      Code::kResourceExhausted,
      fmt::format("{} of {} has {} bytes, the most is {}: send a large tensor in parts.", what, method, bytes, most));
}

absl::Status CheckRequest(const NetworkRequest& request, const NetworkLimits& limits) {
  const auto bytes = static_cast<std::int64_t>(request.body.size());
  if (bytes <= limits.message_bytes) return absl::OkStatus();
  return TooLarge("A request", request.method, bytes, limits.message_bytes);
}

NetworkReply Carried(NetworkReply reply, std::string_view method, const NetworkLimits& limits) {
  if (!reply.ok()) return Bounded(reply.status());
  const auto bytes = static_cast<std::int64_t>(reply->size());
  if (bytes <= limits.message_bytes) return reply;
  return TooLarge("The answer", method, bytes, limits.message_bytes);
}

absl::Status Bounded(const absl::Status& status) {
  const std::vector<Payload> payloads = PayloadsOf(status);
  const bool fits = SizeOf(payloads) <= kMostStatusPayloadBytes;
  if (fits && status.message().size() <= kMostStatusMessageBytes) return status;
  absl::Status out = WithMessage(status, Shortened(MessageOf(status)));
  std::size_t left = kMostStatusPayloadBytes - (fits ? 0 : kMostLeftOutBytes);
  std::string left_out;
  for (const Payload& each : payloads) {
    if (each.size() <= left) {
      left -= each.size();
    } else {
      out.ErasePayload(each.name);
      left_out += (left_out.empty() ? "" : ", ") + each.name;
    }
  }
  if (!left_out.empty()) {
    const std::size_t most = kMostLeftOutBytes - std::string_view(kLeftOutPayload).size();
    out.SetPayload(kLeftOutPayload, absl::Cord(std::string(BeginningOf(left_out, most))));
  }
  return out;
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
