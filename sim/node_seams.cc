#include "vigil/sim/node_seams.h"

#include <fmt/format.h>

#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/sim/kernel/sync.h"
#include "vigil/sim/network.h"
#include "vigil/sim/world.h"

namespace vigil::sim {

NodeSeams::NodeSeams(Node& owner) : node(owner), files(owner, *this) { process.emplace(); }

Time NodeSeams::Now() {
  ++node.clock_reads_;
  return node.world_.now() + node.clock_offset();
}
Time NodeSeams::Monotonic() { return {node.world_.scheduler().now()}; }

std::unique_ptr<Task> NodeSeams::Spawn(std::string_view name, std::function<void()> body) {
  if (TaskState* const task = node.SpawnTask(name, std::move(body))) {
    // The handle comes first: a task that gets the processor at once may end, and only a handle keeps its state.
    auto handle = std::make_unique<SimTask>(*task);
    node.world_.scheduler().PreemptionPoint();
    return handle;
  }
  auto* const stillborn = new TaskState(node.world_.scheduler(), node.IdentityFor(name));
  stillborn->done = true;
  auto handle = std::make_unique<SimTask>(*stillborn);
  stillborn->Unreference();
  return handle;
}

void NodeSeams::SleepUntil(Time deadline) {
  Scheduler& scheduler = node.world_.scheduler();
  if (scheduler.KilledCall()) return;
  scheduler.Block({WaitKind::kSleep, {}, nullptr}, nullptr, deadline.since_epoch);
}

std::unique_ptr<Mutex> NodeSeams::NewMutex(std::string_view name) {
  return std::make_unique<SimMutex>(node.world_.scheduler(), name);
}

std::unique_ptr<Condition> NodeSeams::NewCondition(std::string_view name) {
  return std::make_unique<SimCondition>(node.world_.scheduler(), name);
}

std::uint64_t NodeSeams::CurrentTask() {
  const TaskState* const task = node.world_.scheduler().current();
  return task == nullptr ? 0 : task->identity->id;
}

std::uint64_t NodeSeams::Draw(std::string_view stream) {
  std::string key = fmt::format("{}/{}/{}", node.name_, node.restarts_, stream);
  Scheduler& scheduler = node.world_.scheduler();
  if (scheduler.steps() != nullptr) scheduler.Touch(NamedObject("draws", key), Access::kWrite);
  const auto [it, added] = draws.try_emplace(std::move(key), 0);
  return HashDraw(node.world_.options().seed, it->first, it->second++);
}

void NodeSeams::Write(Severity severity, std::string_view line) {
  if (node.Dead()) return;
  node.log_.push_back({node.world_.now(), severity, std::string(line)});
}

void NodeSeams::Emit(const Event& event) {
  if (node.world_.scheduler().KilledQuietly() || node.killed_) return;
  node.world_.Record(node.id_, event);
}

absl::StatusOr<std::unique_ptr<Listener>> NodeSeams::Listen(const std::string& address, RequestHandler handler) {
  if (node.Dead()) return MakeStatus(Code::kUnknown, fmt::format("listen at {}: the process was killed", address));
  return node.world_.network().Listen(node.host(), address, std::move(handler));
}

std::uint64_t NodeSeams::Start(NetworkRequest request, std::function<void(NetworkReply)> done) {
  return node.world_.network().Start(node.host(), std::move(request), std::move(done));
}

NetworkLimits NodeSeams::limits() const { return node.world_.options().network; }

void NodeSeams::Cancel(std::uint64_t call) { node.world_.network().Cancel(node.host(), call); }

}  // namespace vigil::sim
