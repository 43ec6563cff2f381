// Conversations over the network that were recorded: requests and their replies, as bytes.
//
// Thread safety: data and a function without state.
#ifndef VIGIL_FAKES_EXCHANGES_H_
#define VIGIL_FAKES_EXCHANGES_H_

#include <optional>
#include <string>
#include <vector>

namespace vigil {

// One call of a conversation that was recorded.
struct Exchange {
  std::string to;
  std::string method;  // with its service
  std::string request;
  std::optional<std::string> reply;  // absent: none came, or an error
};
// A line each: "worker0:2222 /tensorflow.MasterService/RunStep REQUEST REPLY", the bodies as hexadecimal digits ("-":
// empty), the reply "error" if there is none. Lines that are empty or begin with # are left out.
std::vector<Exchange> ReadExchanges(const std::string& file);

}  // namespace vigil

#endif  // VIGIL_FAKES_EXCHANGES_H_
