// A network whose tasks are all in this process: addresses are names, nothing is lost, nothing takes time.
//
// For tests and for a cluster inside one program. Several Envs may share one network; their handlers run as tasks of
// the Tasks that it was made with. A peer in the same process is always heard of: `keepalive` never fires.
// Errors: UNAVAILABLE for an address where nobody serves, and for the calls that are under way when a listener goes;
// RESOURCE_EXHAUSTED for a call that no task can be made for, and for what is larger than the limits.
// Thread safety: as network.h. What is in flight when the network is destroyed still ends.
// Ownership: borrows `tasks`, which outlives the network and its calls.
#ifndef VIGIL_CORE_ENV_IN_PROCESS_NETWORK_H_
#define VIGIL_CORE_ENV_IN_PROCESS_NETWORK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "vigil/core/env/network.h"
#include "vigil/core/env/tasks.h"

namespace vigil {

class InProcessNetwork final : public Network {
 public:
  // All methods: as network.h.
  explicit InProcessNetwork(Tasks& tasks, const NetworkLimits& limits = {});
  ~InProcessNetwork() override;

  absl::StatusOr<std::unique_ptr<Listener>> Listen(const std::string& address, RequestHandler handler) override;
  std::uint64_t Start(NetworkRequest request, std::function<void(NetworkReply)> done) override;
  void Cancel(std::uint64_t call) override;
  NetworkLimits limits() const override;

 private:
  class Call;
  class Serving;
  class State;

  const std::shared_ptr<State> state_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_IN_PROCESS_NETWORK_H_
