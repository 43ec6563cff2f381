// Which messages went from node to node: for people to look at. A network writes it only if it is given one
// (network.h).
//
// Thread safety: data.
#ifndef VIGIL_SIM_MESSAGE_LOG_H_
#define VIGIL_SIM_MESSAGE_LOG_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vigil/core/base/time.h"

namespace vigil::sim {

struct LoggedMessage {
  enum class Kind : std::uint8_t {
    kRequest,
    kReply,
    kRefusal,  // a request that failed on its way, or arrived where nobody serves: the caller knows then
    kCancel,   // the caller gave up
    kClosed,   // a process, or its server, is gone: what its peers are told
    kReset,    // the connection breaks
  };
  Kind kind = Kind::kRequest;
  std::string from;
  std::string to;
  std::string method;      // of the call; "" of kClosed and kReset
  std::uint64_t call = 0;  // the number of the call, 0 = none: a request and its reply share it
  // Of a request: the fault of requests that has struck it, by its place among all that the network was given.
  std::optional<std::size_t> fault = std::nullopt;
  // Since the start of the world.
  Duration sent{0};
  std::optional<Duration> arrived = std::nullopt;  // nullopt: it never did
};

// In the order in which they were sent. What a node sends to itself is left out.
struct MessageLog {
  std::size_t most = 200'000;  // the memory is bounded
  std::vector<LoggedMessage> messages = {};
  std::uint64_t left_out = 0;  // sent after `most` others
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_MESSAGE_LOG_H_
