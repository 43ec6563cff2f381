#include "vigil/sim/node.h"

#include <fmt/format.h>

#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/sim/node_seams.h"
#include "vigil/sim/world.h"

namespace vigil::sim {

Node::Node(World& world, std::string name, std::uint32_t id)
    : world_(world),
      name_(std::move(name)),
      id_(id),
      tasks_(&TaskState::peers),
      seams_(std::make_unique<NodeSeams>(*this)),
      env_{.clock = seams_.get(),
           .tasks = seams_.get(),
           .files = &seams_->files,
           .random = seams_.get(),
           .log = seams_.get(),
           .process = &*seams_->process,
           .events = seams_.get()} {}

Node::~Node() { VIGIL_CHECK(tasks_.empty()); }

void Node::Spawn(std::string_view name, std::function<void()> body) {
  if (SpawnTask(name, std::move(body)) != nullptr) world_.scheduler().PreemptionPoint();
}

void Node::Kill() {
  killed_ = true;
  world_.scheduler().Kill(tasks_);
}

void Node::Restart() {
  VIGIL_CHECK(killed_ && tasks_.empty());
  seams_->process.emplace();
  env_.process = &*seams_->process;
  ++restarts_;
  killed_ = false;
}

fakes::MemoryFiles& Node::disk() { return seams_->files; }

TaskState* Node::SpawnTask(std::string_view name, std::function<void()> body) {
  if (Dead()) return nullptr;
  return &world_.scheduler().Spawn(IdentityFor(name), tasks_, std::move(body));
}

TaskIdentity& Node::IdentityFor(std::string_view name) {
  std::string unique(name);
  for (int number = 2;; ++number) {
    const auto [it, added] = identities_.try_emplace(unique);
    TaskIdentity& identity = it->second;
    if (added) {
      identity.name = unique;
      identity.label = fmt::format("{}/{}", name_, unique);
      identity.id = world_.AddTask(identity.label);
    }
    if (!identity.in_use) return identity;
    unique = fmt::format("{}#{}", name, number);
  }
}

bool Node::Dead() const {
  const TaskState* const task = world_.scheduler().current();
  return killed_ || (task != nullptr && task->killed);
}

}  // namespace vigil::sim
