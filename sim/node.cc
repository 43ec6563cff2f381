#include "vigil/sim/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/sim/network.h"
#include "vigil/sim/node_seams.h"
#include "vigil/sim/world.h"

namespace vigil::sim {

Node::Node(World& world, std::string name, std::uint32_t id)
    : world_(world),
      name_(std::move(name)),
      id_(id),
      seams_(std::make_unique<NodeSeams>(*this)),
      env_{.clock = seams_.get(),
           .tasks = seams_.get(),
           .files = &seams_->files,
           .random = seams_.get(),
           .log = seams_.get(),
           .process = &*seams_->process,
           .events = seams_.get(),
           .network = seams_.get()} {
  tasks_.memory = NamedObject("memory", name_);
}

Node::~Node() { VIGIL_CHECK(tasks_.empty()); }

void Node::Spawn(std::string_view name, std::function<void()> body) {
  if (SpawnTask(name, std::move(body)) != nullptr) world_.scheduler().PreemptionPoint();
}

void Node::Kill() {
  if (!std::exchange(killed_, true) && host_ != nullptr) world_.network().Died(*host_);
  world_.scheduler().Kill(tasks_);
}

void Node::KillSoon() {
  if (!std::exchange(killed_, true) && host_ != nullptr) world_.network().Died(*host_);
  world_.scheduler().KillSoon(tasks_);
}

void Node::EndIdle() {
  if (std::exchange(killed_, true) || host_ == nullptr) return;
  world_.network().Died(*host_);
  world_.network().Ended(*host_);
}

void Node::Restart() {
  VIGIL_CHECK(killed_ && tasks_.empty());
  seams_->process.emplace();
  env_.process = &*seams_->process;
  ++restarts_;
  set_processors(free_from_.size());  // what the dead one had still to do is not done
  tasks_.paused = false;
  killed_ = false;
}

void Node::Boot() {
  if (killed_) Restart();
  if (boot_ != nullptr) boot_(*this);
}

void Node::Pause() {
  if (killed_ || tasks_.paused) return;
  world_.scheduler().Pause(tasks_);
  if (host_ != nullptr) world_.network().Pause(*host_);
}

void Node::Resume() {
  if (!tasks_.paused) return;
  tasks_held_ += static_cast<std::int64_t>(tasks_.held.size);
  if (host_ != nullptr) world_.network().Resume(*host_);
  world_.scheduler().Resume(tasks_);
}

std::int64_t Node::held_by_pauses() const {
  return tasks_held_ + static_cast<std::int64_t>(tasks_.held.size) + (host_ == nullptr ? 0 : host_->held_by_pause);
}

std::int64_t Node::held_now() const {
  return static_cast<std::int64_t>(tasks_.held.size + (host_ == nullptr ? 0 : host_->inbox.size()));
}

Duration Node::clock_offset() const {
  if (clock_rate_ == 1) return clock_offset_;
  return clock_offset_ + Seconds(ToSeconds(world_.scheduler().now() - clock_rate_since_) * (clock_rate_ - 1));
}

void Node::set_clock_rate(double rate) {
  clock_offset_ = clock_offset();
  clock_rate_ = rate;
  clock_rate_since_ = world_.scheduler().now();
}

Duration Node::Takes(Duration work) {
  if (slowness_ == 1) return work;
  ++slowed_;
  return Seconds(ToSeconds(work) * slowness_);
}

void Node::Work(std::uint64_t bytes) {
  constexpr std::uint64_t kBlock = 4096;
  if (cpu_time_ == Duration::zero()) return;
  const Duration takes = Takes(cpu_time_ * static_cast<std::int64_t>(1 + bytes / kBlock));
  if (free_from_.empty()) return world_.AdvanceBy(takes);
  if (world_.scheduler().steps() != nullptr) world_.scheduler().Touch(NamedObject("processors", name_), Access::kWrite);
  const Duration now = world_.scheduler().now();
  Duration& first = *std::ranges::min_element(free_from_);
  first = std::max(first, now) + takes;
  world_.AdvanceBy(first - now);
}

void Node::set_task(std::string task) {
  task_ = std::move(task);
  host();
}

std::int64_t Node::asks() const { return host_ == nullptr ? 0 : host_->asks; }
std::int64_t Node::asked() const { return host_ == nullptr ? 0 : host_->asked; }

NetworkHost& Node::host() {
  if (host_ == nullptr) {
    SimNetwork& network = world_.network();
    host_ = &network.Join(*this);
    tasks_.ended = [this, &network] { network.Ended(*host_); };
    if (tasks_.paused) network.Pause(*host_);
  }
  return *host_;
}

std::vector<std::string> Node::TaskNames() const {
  std::vector<std::string> names;
  for (const TaskState* task = tasks_.first; task != nullptr; task = task->peers.next) {
    if (!task->done && !task->leaving) names.push_back(task->identity->name);
  }
  return names;
}

fakes::MemoryFiles& Node::disk() { return seams_->files.own(); }

std::int64_t Node::open_files() const { return seams_->files.open_files(); }

std::int64_t Node::LoseDisk(DiskLoss loss) { return seams_->files.Lose(loss); }

TaskState* Node::SpawnTask(std::string_view name, std::function<void()> body) {
  return Dead() ? nullptr : SpawnTask(IdentityFor(name), std::move(body));
}

TaskState* Node::SpawnTask(TaskIdentity& identity, std::function<void()> body) {
  return &world_.scheduler().Spawn(identity, tasks_, std::move(body));
}

TaskIdentity& Node::IdentityFor(std::string_view name) {
  std::string unique(name);
  ObjectId names = 0;
  if (world_.scheduler().steps() != nullptr) {
    names = NamedObject("names", fmt::format("{}/{}", name_, name));
    world_.scheduler().Touch(names, Access::kWrite);
  }
  for (int number = 2;; ++number) {
    const auto [it, added] = identities_.try_emplace(unique);
    TaskIdentity& identity = it->second;
    if (added) {
      identity.name = unique;
      identity.label = fmt::format("{}/{}", name_, unique);
      identity.id = world_.AddTask(identity.label);
      identity.names = names;
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
