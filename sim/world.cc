#include "vigil/sim/world.h"

#include <fmt/format.h>

#include <utility>

#include "vigil/core/base/check.h"

namespace vigil::sim {
namespace {

SchedulerOptions ForScheduler(const WorldOptions& options, std::optional<StackPool>& own_stacks) {
  StackPool* stacks = options.stacks;
  if (stacks == nullptr) stacks = &own_stacks.emplace();
  return {.stacks = stacks,
          .max_virtual = options.max_virtual,
          .max_switches = options.max_switches,
          .preempt = options.preempt,
          .stalls = options.stalls,
          .interrupt = options.interrupt,
          .steps = options.steps};
}

std::string DescribeWait(const TaskState& task, Time start) {
  if (task.group->paused && task.ready.list == &task.group->held) return "can run, but its process is paused";
  const Wait& wait = task.wait;
  switch (wait.kind) {
    case WaitKind::kSleep:
      return task.deadline == kNever.since_epoch
                 ? std::string("sleeps for ever")
                 : fmt::format("sleeps until {} s", ToSeconds((start + task.deadline).since_epoch));
    case WaitKind::kStall:
      return "stands still";
    case WaitKind::kMutex:
      return fmt::format("waits for mutex \"{}\", held by {}", wait.name,
                         *wait.holder == nullptr ? "nobody's task" : (*wait.holder)->identity->label);
    case WaitKind::kCondition:
      return fmt::format("waits for condition \"{}\"", wait.name);
    case WaitKind::kJoin:
      return fmt::format("waits for the end of {}", wait.name);
    case WaitKind::kPreempted:
    case WaitKind::kNone:
      return "can run";
  }
  return "?";
}

}  // namespace

World::World(WorldOptions options)
    : options_(options),
      choices_(options.chooser, hash_),
      scheduler_(ForScheduler(options_, own_stacks_), choices_, hash_) {}

World::~World() { KillAll(); }

Node& World::AddNode(std::string name) {
  VIGIL_CHECK(FindNode(name) == nullptr);
  const std::uint32_t id = trace_.AddNode(name);
  return *nodes_.emplace_back(new Node(*this, std::move(name), id));
}

Node* World::FindNode(std::string_view name) {
  for (const auto& node : nodes_) {
    if (node->name() == name) return node.get();
  }
  return nullptr;
}

WorldResult World::Run() {
  WorldResult result;
  switch (scheduler_.Run()) {
    case StopReason::kStopped:
      result.verdict = WorldVerdict::kStopped;
      break;
    case StopReason::kLimit:
      result.verdict = WorldVerdict::kRunaway;
      result.report = fmt::format("runaway at {} s: {}", ToSeconds(now() - options_.start), scheduler_.limit_text());
      break;
    case StopReason::kInterrupted:
      result.verdict = WorldVerdict::kInterrupted;
      break;
    case StopReason::kIdle:
      if (!AnyTask()) return result;
      result.verdict = WorldVerdict::kDeadlock;
      result.report = DeadlockReport();
      break;
  }
  KillAll();
  return result;
}

std::string_view World::CurrentTask() const {
  const TaskState* const task = scheduler_.current();
  return task == nullptr ? std::string_view() : std::string_view(task->identity->label);
}

void World::AdvanceBy(Duration duration) { AdvanceTo(now() + duration); }

void World::AdvanceTo(Time time) {
  if (scheduler_.KilledCall()) return;
  scheduler_.Block({WaitKind::kSleep, {}, nullptr}, nullptr, time - options_.start);
}

std::size_t World::Choose(std::string_view point, std::span<const std::string_view> labels) {
  const std::string_view task = CurrentTask();
  return choices_.Choose(choices_.KeyOf(task.empty() ? kOutsideLabel : task, point), labels);
}

std::size_t World::Choose(std::string_view node, std::string_view task, std::string_view point,
                          std::span<const std::string_view> labels) {
  return choices_.Choose(choices_.KeyOf(node, task, point), labels);
}

SimNetwork& World::network() {
  if (network_ == nullptr)
    network_ = std::make_unique<SimNetwork>(scheduler_, choices_, hash_, course_, options_.network);
  return *network_;
}

SharedDisk& World::shared_disk() {
  if (shared_disk_ == nullptr) shared_disk_ = std::make_unique<SharedDisk>(clock_);
  return *shared_disk_;
}

Trace World::TakeTrace() { return std::exchange(trace_, Trace()); }

void World::Record(std::uint32_t node, const Event& event) {
  scheduler_.Touch(kTraceObject, Access::kWrite);
  if (!IsDetail(event.kind)) {
    if (options_.max_events != 0 && events_ >= options_.max_events) {
      scheduler_.StopNow(StopReason::kLimit, fmt::format("{} events", events_));
      return;
    }
    ++events_;
    hash_.AddEvent(event);
  }
  const TaskState* const task = scheduler_.current();
  trace_.Append(node, task == nullptr ? 0 : task->identity->id, now(), event);
}

std::uint32_t World::AddTask(std::string_view label) {
  const std::uint32_t id = trace_.AddTask(label);
  hash_.AddTask(id, label);
  return id;
}

bool World::AnyTask() const {
  for (const auto& node : nodes_) {
    if (!node->tasks_.empty()) return true;
  }
  return false;
}

std::string World::DeadlockReport() const {
  std::string report =
      fmt::format("deadlock at {} s: nobody can run and no timer is set", ToSeconds(now() - options_.start));
  for (const auto& node : nodes_) {
    for (const TaskState* task = node->tasks_.first; task != nullptr; task = task->peers.next) {
      report += fmt::format("\n  {} {}", task->identity->label, DescribeWait(*task, options_.start));
    }
  }
  return report;
}

void World::KillAll() {
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    if (!(*node)->tasks_.empty()) (*node)->Kill();
    (*node)->EndIdle();
  }
  if (network_ != nullptr) network_->Clear();
}

}  // namespace vigil::sim
