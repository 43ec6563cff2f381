// The seams of one node: what its Env points to. Private to sim/.
//
// Thread safety: none.
#ifndef VIGIL_SIM_NODE_SEAMS_H_
#define VIGIL_SIM_NODE_SEAMS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "vigil/core/env/env.h"
#include "vigil/sim/node.h"
#include "vigil/sim/node_files.h"

namespace vigil::sim {

struct NodeSeams final : Clock, Tasks, Random, Log, EventSink, Network {
  explicit NodeSeams(Node& owner);

  Time Now() override;
  Time Monotonic() override;

  std::unique_ptr<Task> Spawn(std::string_view name, std::function<void()> body) override;
  void SleepUntil(Time deadline) override;
  std::unique_ptr<Mutex> NewMutex(std::string_view name) override;
  std::unique_ptr<Condition> NewCondition(std::string_view name) override;
  std::uint64_t CurrentTask() override;

  std::uint64_t Draw(std::string_view stream) override;
  void Write(Severity severity, std::string_view line) override;
  void Emit(const Event& event) override;

  absl::StatusOr<std::unique_ptr<Listener>> Listen(const std::string& address, RequestHandler handler) override;
  std::uint64_t Start(NetworkRequest request, std::function<void(NetworkReply)> done) override;
  void Cancel(std::uint64_t call) override;
  NetworkLimits limits() const override;

  Node& node;
  NodeFiles files;
  std::map<std::string, std::uint64_t, std::less<>> draws;  // made so far, by stream
  std::optional<Process> process;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_NODE_SEAMS_H_
