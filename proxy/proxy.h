// Stands between the clients of a master and the server: every call passes through, body for body, but those that a
// plan names.
//
//   Proxy proxy(env, {.to = "127.0.0.1:2222", .plan = *plan});
//   auto listener = env.network->Listen("127.0.0.1:2223", proxy.handler());
//
// What a caller gives up, also by its deadline, is given up at the server. What the server cannot be reached for fails
// at the caller as there.
// Thread safety: safe. Ownership: env's network, tasks and clock are borrowed, and outlive the proxy and its handlers.
#ifndef VIGIL_PROXY_PROXY_H_
#define VIGIL_PROXY_PROXY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "vigil/core/base/time.h"
#include "vigil/core/env/env.h"
#include "vigil/core/env/network.h"
#include "vigil/proxy/classifier.h"
#include "vigil/proxy/plan.h"

namespace vigil::proxy {

// One call that is over.
struct CallRecord {
  std::int64_t number = 0;  // from 1, in the order in which they came
  Duration at{0};           // since the proxy was made
  Duration took{0};
  std::string method;
  CallInfo info;
  std::int64_t nth = 0;  // of its kind
  std::size_t request_bytes = 0;
  std::size_t reply_bytes = 0;
  absl::Status status;  // as the caller got it; of a step also what its reply says
  int fault = -1;       // of the plan; below 0: none
};
// A line of JSON, without its newline.
std::string PrintCall(const CallRecord& call);

// What became of a fault of the plan.
struct FiredFault {
  Fault fault;
  std::int64_t fired = 0;
};

struct ProxyOptions {
  std::string to;  // the server, "host:port"
  Plan plan;
  std::function<void(const CallRecord&)> told = nullptr;  // of each call that is over; one at a time
};

class Proxy {
 public:
  Proxy(const Env& env, ProxyOptions options);
  ~Proxy();

  RequestHandler handler() const;
  // What waits for ever by the plan is let go: as the end of the proxy.
  void Stop();

  // In the order of the plan.
  std::vector<FiredFault> fired() const;
  std::map<CallKind, std::int64_t> calls() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;  // handlers share it
};

// For programs: {"calls": {"train": 76, ...}, "faults": [{"fault": "train 5: ...", "planned": 1, "fired": 1}, ...],
// "again": "..."}, on one line. `again`: what does the same once more.
std::string PrintReport(const Proxy& proxy, std::string_view again);

}  // namespace vigil::proxy

#endif  // VIGIL_PROXY_PROXY_H_
