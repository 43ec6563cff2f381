#include "vigil/sim/fault_applier.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/sim/alarm.h"
#include "vigil/sim/fault_applier_parts.h"

namespace vigil::sim {

namespace {

// What a server needs for one request, beside what its kernels do: longer on a slow node.
constexpr std::chrono::milliseconds kHandling{2};

// How often whoever starts a process again that was told to stop looks whether it has ended.
constexpr std::chrono::milliseconds kLooks{500};

}  // namespace

FaultApplier::FaultApplier(World& world, Tasks tasks, const FaultPlan& plan, Boot boot, Spares spares, Stop stop)
    : world_(world),
      tasks_(std::move(tasks)),
      spares_(std::move(spares)),
      boot_(std::move(boot)),
      stop_(std::move(stop)),
      calls_(std::make_shared<SessionCallFaults>(plan.session_calls)) {
  for (const auto& [name, node] : tasks_) {
    VIGIL_CHECK(node->name() == name);  // what a plan says of links goes by it
    machines_.push_back(node);
  }
  for (const auto& [name, nodes] : spares_) machines_.insert(machines_.end(), nodes.begin(), nodes.end());
  SimNetwork& network = world_.network();
  network.SetLinks(plan.default_link, plan.links);
  links_.push_back(plan.default_link);
  for (const auto& [name, link] : plan.links) links_.push_back(link);
  for (const TimedFault& fault : plan.timed) {
    NodeOf(fault.task);
    if (!fault.peer.empty()) NodeOf(fault.peer);
    const std::size_t i = timed_.size();
    timed_.push_back(std::make_unique<Timed>(
        fault, world_.scheduler(), [this, i] { Start(*timed_[i]); }, [this, i] { Die(*timed_[i]); },
        [this, i] { Move(*timed_[i]); }, [this, i] { End(*timed_[i]); }));
    if (fault.point.has_value()) {
      world_.course().At(*fault.point, [this, i] {
        if (!healed_) Start(*timed_[i]);
      });
    }
  }
  for (const RpcFault& fault : plan.rpcs) rpcs_.push_back(&network.AddRpcFault(fault));
  for (const DiskFault& fault : plan.disks) {
    DiskFaultState& state = *disks_.emplace_back(&world_.disk_faults().Add(fault));
    if (!fault.at.has_value() && !fault.lasts.has_value()) continue;
    const std::size_t i = timed_disks_.size();
    timed_disks_.push_back(std::make_unique<TimedDisk>(
        state, world_.scheduler(), [this, i] { Start(*timed_disks_[i]); }, [this, i] { End(*timed_disks_[i]); }));
  }
}

FaultApplier::~FaultApplier() {
  world_.course().Clear();
  for (const auto& timed : timed_) {
    const TimedFault::Kind kind = timed->fault.kind;
    const bool link = kind == TimedFault::Kind::kCut || kind == TimedFault::Kind::kSilent ||
                      kind == TimedFault::Kind::kSlowLink || kind == TimedFault::Kind::kSlowNode;
    if ((timed->active && link) || timed->silenced) world_.network().End(timed->trouble);
  }
}

Node& FaultApplier::NodeOf(const std::string& task) const {
  const auto found = tasks_.find(task);
  VIGIL_CHECK(found != tasks_.end());  // the plan names a task that is none
  return *found->second;
}

bool FaultApplier::StartsLate(std::string_view task) const {
  return std::ranges::any_of(timed_, [task](const auto& timed) {
    return timed->fault.kind == TimedFault::Kind::kStart && timed->fault.task == task;
  });
}

std::shared_ptr<SessionFactory> FaultApplier::Decorate(std::string_view task, std::shared_ptr<SessionFactory> inner) {
  return DecorateWith(calls_, task, std::move(inner));
}

void FaultApplier::Begin() {
  VIGIL_CHECK(!std::exchange(begun_, true));
  for (const auto& timed : timed_) {
    if (!timed->fault.point.has_value()) timed->starts.SetAt(world_.scheduler().now() + timed->fault.at);
  }
  for (const auto& timed : timed_disks_) {
    const DiskFault& fault = timed->state.fault;
    const Duration at = world_.scheduler().now() + fault.at.value_or(Duration(0));
    timed->starts.SetAt(at);
    if (fault.lasts.has_value()) timed->ends.SetAt(at + *fault.lasts);
  }
}

void FaultApplier::Start(TimedDisk& timed) {
  const DiskFault& fault = timed.state.fault;
  Tell(fmt::format("the files of {} begin to fail", fault.task.empty() ? "all" : fault.task), fault.task);
  timed.state.on = true;
}

void FaultApplier::End(TimedDisk& timed) {
  const DiskFault& fault = timed.state.fault;
  Tell(fmt::format("the files of {} are as before", fault.task.empty() ? "all" : fault.task), fault.task);
  timed.state.on = false;
}

Duration FaultApplier::LastStart() const {
  Duration last{0};
  for (const auto& timed : timed_) {
    const TimedFault& fault = timed->fault;
    if (fault.kind == TimedFault::Kind::kStart) last = std::max(last, fault.at);
    if (fault.restart_after.has_value()) last = std::max(last, fault.at + *fault.restart_after);
  }
  return last;
}

Duration FaultApplier::LastChange() const {
  Duration last = LastStart();
  const auto ends = [&last](Duration at, std::optional<Duration> lasts) {
    last = std::max(last, at + lasts.value_or(Duration(0)));
  };
  for (const auto& timed : timed_) ends(timed->fault.at, timed->fault.lasts);
  for (const auto& timed : timed_disks_) ends(timed->state.fault.at.value_or(Duration(0)), timed->state.fault.lasts);
  return last;
}

void FaultApplier::Tell(Entry::What what, const TimedFault& fault, std::string text) {
  const auto timed = std::ranges::find(timed_, &fault, [](const auto& each) { return &each->fault; });
  history_.push_back({.at = world_.scheduler().now(),
                      .text = std::move(text),
                      .what = what,
                      .task = fault.task,
                      .peer = fault.peer,
                      .takes_files = what == Entry::What::kCrash && fault.disk != DiskLoss::kNothing,
                      .fault = static_cast<std::size_t>(timed - timed_.begin()),
                      .kind = fault.kind});
}

void FaultApplier::Tell(std::string text, std::string task) {
  history_.push_back({.at = world_.scheduler().now(), .text = std::move(text), .task = std::move(task)});
}

void FaultApplier::BootNode(Node& node, const std::string& task, std::string_view why) {
  history_.push_back({.at = world_.scheduler().now(),
                      .text = fmt::format("{} {}", node.name(), why),
                      .what = Entry::What::kStarts,
                      .task = task,
                      .machine = node.name()});
  if (node.killed()) node.Restart();
  boot_(node);
}

void FaultApplier::Start(Timed& timed) {
  const TimedFault& fault = timed.fault;
  Node& node = NodeOf(fault.task);
  timed.node = &node;
  timed.fired = true;
  timed.life = node.restarts();
  std::optional<Duration> ends = fault.lasts;
  switch (fault.kind) {
    case TimedFault::Kind::kCrash:
      Crash(timed);
      ends = timed.struck ? fault.restart_after : std::nullopt;  // without one it stays away
      break;
    case TimedFault::Kind::kStart:
      timed.struck = !node.running();
      if (timed.struck) BootNode(node, fault.task, "starts late");
      return;
    case TimedFault::Kind::kPause:
      timed.struck = node.running() && !node.killed();
      if (!timed.struck) return;
      Tell(Entry::What::kBegins, fault, fmt::format("pause {}", fault.task));
      timed.before = CountOf(timed) - node.held_now();  // of another pause, which this one lengthens
      node.Pause();
      break;
    case TimedFault::Kind::kClockJump:
      Tell(fmt::format("the clock of {} jumps by {} s", fault.task, ToSeconds(fault.by)), fault.task);
      timed.before = CountOf(timed);
      node.JumpClock(fault.by);
      timed.struck = true;
      break;
    case TimedFault::Kind::kClockDrift:
      Tell(Entry::What::kBegins, fault, fmt::format("the clock of {} runs at {}", fault.task, fault.rate));
      timed.before = CountOf(timed);
      node.set_clock_rate(fault.rate);
      timed.struck = true;
      break;
    case TimedFault::Kind::kCut:
    case TimedFault::Kind::kSilent:
    case TimedFault::Kind::kSlowLink:
      StartLink(timed);
      break;
    case TimedFault::Kind::kSlowNode:
      timed.active = true;
      SlowDown(timed);
      break;
    case TimedFault::Kind::kOverload:
      timed.struck = timed.active = true;
      timed.before = CountOf(timed);
      LimitHandlers(Entry::What::kBegins, timed);
      break;
    case TimedFault::Kind::kZombie:
      timed.struck = node.running() && !node.killed();
      if (!timed.struck) return;
      TakeForDead(timed);
      break;
  }
  timed.active = fault.kind != TimedFault::Kind::kCrash || ends.has_value();
  if (ends.has_value()) timed.ends.SetAt(world_.scheduler().now() + *ends);
}

void FaultApplier::Crash(Timed& timed) {
  const TimedFault& fault = timed.fault;
  Node& node = *timed.node;
  timed.struck = node.running() && !node.killed();
  Tell(timed.struck ? Entry::What::kCrash : Entry::What::kMoment, fault,
       fmt::format("{} {}{}{}", fault.in_order ? "stop" : "crash", fault.task, fault.silently ? " silently" : "",
                   timed.struck ? "" : ", which is not there"));
  if (timed.struck && fault.silently) Silence(timed);
  if (timed.struck && fault.in_order && stop_(node)) return;
  if (timed.struck && fault.disk == DiskLoss::kNothing && !fault.point.has_value()) {
    node.Pause();
    timed.dies.SetAt(world_.scheduler().now() + kDying);
    return;
  }
  Die(timed);
}

// Nothing comes from it or gets there any more, not even that it is gone.
void FaultApplier::Silence(Timed& timed) {
  timed.silenced = true;
  timed.trouble = {.kind = LinkTrouble::Kind::kSilent};
  for (const Node* const node : machines_) {
    if (node == timed.node) continue;
    world_.network().Begin(timed.trouble, timed.node->name(), node->name());
    world_.network().Begin(timed.trouble, node->name(), timed.node->name());
  }
}

void FaultApplier::EndSilence(Timed& timed) {
  if (std::exchange(timed.silenced, false)) world_.network().End(timed.trouble);
}

void FaultApplier::TakeForDead(Timed& timed) {
  const TimedFault& fault = timed.fault;
  Tell(Entry::What::kBegins, fault,
       fmt::format("{} {} and is taken for dead", fault.task, fault.silently ? "is cut off" : "stands still"));
  if (fault.silently) {
    Silence(timed);
  } else {
    timed.node->Pause();
  }
  timed.dies.SetAt(world_.scheduler().now() + fault.restart_after.value_or(Duration(0)));
}

// A new process on another machine.
void FaultApplier::Follow(Timed& timed) {
  const std::string& task = timed.fault.task;
  std::vector<Node*>& spares = spares_.find(task)->second;
  VIGIL_CHECK(!spares.empty());  // one for each fault that needs one
  Node& next = *spares.front();
  spares.erase(spares.begin());
  tasks_.find(task)->second = &next;
  timed.followed = true;
  timed.missed = timed.node->asked();
  BootNode(next, task, "starts on another machine");
  timed.moves.SetAt(world_.scheduler().now() + timed.fault.elsewhere.value_or(Duration(0)));
}

void FaultApplier::Move(Timed& timed) {
  timed.moves.Clear();
  timed.missed = timed.node->asked() - timed.missed;
  Tell(fmt::format("the name of {} leads to its new machine", timed.fault.task), timed.fault.task);
  world_.network().MoveAddresses(timed.node->name(), NodeOf(timed.fault.task).name());
}

bool FaultApplier::LivesOn(const Timed& timed) {
  return timed.struck && timed.node->running() && !timed.node->killed() && timed.node->restarts() == timed.life;
}

void FaultApplier::Die(Timed& timed) {
  timed.dies.Clear();
  Node& node = *timed.node;
  if (timed.fault.kind == TimedFault::Kind::kZombie) {
    if (healed_ || !LivesOn(timed) || &NodeOf(timed.fault.task) != &node) return;
    timed.before = node.asks();
    Follow(timed);
    return;
  }
  if (timed.struck && node.restarts() == timed.life) {
    // At a point of the course its own task may be in the middle of a call, in which everybody else finds it gone.
    if (timed.fault.point.has_value()) {
      node.KillSoon();
    } else {
      node.Kill();
    }
  }
  // Even of a process that has ended something may be in the page cache.
  timed.lost = node.LoseDisk(timed.fault.disk);
}

void FaultApplier::StartLink(Timed& timed) {
  const TimedFault& fault = timed.fault;
  std::string_view name = "slow link";
  timed.trouble = {.kind = LinkTrouble::Kind::kSlow, .by = fault.by};
  if (fault.kind == TimedFault::Kind::kCut) {
    timed.trouble.kind = LinkTrouble::Kind::kCut;
    name = "cut";
  } else if (fault.kind == TimedFault::Kind::kSilent) {
    timed.trouble.kind = LinkTrouble::Kind::kSilent;
    name = "silent";
  }
  Tell(Entry::What::kBegins, fault,
       fmt::format("{} {}{}{}", name, fault.task, fault.one_way ? " to " : " and ", fault.peer));
  timed.struck = true;
  const Node& peer = NodeOf(fault.peer);
  world_.network().Begin(timed.trouble, timed.node->name(), peer.name());
  if (!fault.one_way) world_.network().Begin(timed.trouble, peer.name(), timed.node->name());
}

void FaultApplier::End(Timed& timed) {
  if (!std::exchange(timed.active, false)) return;
  timed.ends.Clear();
  const TimedFault& fault = timed.fault;
  Node& node = *timed.node;
  switch (fault.kind) {
    case TimedFault::Kind::kCrash:
      if (timed.dies.pending()) {
        // The kill is unwound after this callback: then it starts again.
        Die(timed);
        timed.active = true;
        timed.ends.SetAt(world_.scheduler().now());
        return;
      }
      if (fault.in_order && LivesOn(timed)) {
        timed.active = true;
        timed.ends.SetAt(world_.scheduler().now() + kLooks);
        return;
      }
      if (!fault.elsewhere.has_value()) EndSilence(timed);  // else nobody looks after the old machine
      if (!node.killed() || node.restarts() != timed.life) break;
      // Who took it for dead while it died has started another one: that is the task now.
      if (&NodeOf(fault.task) != &node) break;
      if (!fault.elsewhere.has_value()) {
        BootNode(node, fault.task, "starts again");
      } else {
        Follow(timed);
      }
      break;
    case TimedFault::Kind::kStart:
      break;
    case TimedFault::Kind::kPause:
      timed.effects = CountOf(timed) - timed.before;
      Resume(timed, fmt::format("resume {}", fault.task));
      break;
    case TimedFault::Kind::kZombie:
      timed.before = node.asks();
      EndSilence(timed);
      Resume(timed, fmt::format("the process of {} that was taken for dead goes on", fault.task));
      break;
    case TimedFault::Kind::kClockJump:
      timed.effects = CountOf(timed) - timed.before;
      break;
    case TimedFault::Kind::kClockDrift:
      timed.effects = CountOf(timed) - timed.before;
      Tell(Entry::What::kEnds, fault, fmt::format("the clock of {} runs as it should", fault.task));
      node.set_clock_rate(1);
      break;
    case TimedFault::Kind::kCut:
    case TimedFault::Kind::kSilent:
    case TimedFault::Kind::kSlowLink:
      Tell(Entry::What::kEnds, fault, fmt::format("{} and {} are as before", fault.task, fault.peer));
      world_.network().End(timed.trouble);
      break;
    case TimedFault::Kind::kSlowNode:
      Tell(Entry::What::kEnds, fault, fmt::format("{} is as fast as before", fault.task));
      timed.effects = CountOf(timed) - timed.before;
      node.set_slowness(SlownessOf(node));
      world_.network().End(timed.trouble);
      break;
    case TimedFault::Kind::kOverload:
      timed.effects = CountOf(timed) - timed.before;
      LimitHandlers(Entry::What::kEnds, timed);
      break;
  }
}

void FaultApplier::SlowDown(Timed& timed) {
  const TimedFault& fault = timed.fault;
  Tell(Entry::What::kBegins, fault, fmt::format("{} is {} times as slow", fault.task, fault.rate));
  timed.struck = true;
  timed.before = CountOf(timed);
  timed.node->set_slowness(SlownessOf(*timed.node));
  const double more = ToSeconds(kHandling) * (fault.rate - 1);
  timed.trouble = {.kind = LinkTrouble::Kind::kSlow, .by = Seconds(more)};
  for (const Node* const node : machines_) {
    if (node != timed.node) world_.network().Begin(timed.trouble, node->name(), timed.node->name());
  }
}

double FaultApplier::SlownessOf(const Node& node) const {
  double slowness = 1;
  for (const auto& timed : timed_) {
    const TimedFault& fault = timed->fault;
    if (timed->active && fault.kind == TimedFault::Kind::kSlowNode && timed->node == &node)
      slowness = std::max(slowness, fault.rate);
  }
  return slowness;
}

// To the tightest of those that hold.
void FaultApplier::LimitHandlers(Entry::What what, const Timed& changed) {
  std::int64_t at_once = 0;
  for (const auto& timed : timed_) {
    const TimedFault& fault = timed->fault;
    if (!timed->active || fault.kind != TimedFault::Kind::kOverload || timed->node != changed.node) continue;
    at_once = at_once == 0 ? fault.at_once : std::min(at_once, fault.at_once);
  }
  const std::string number = at_once == 0   ? "as many requests as come"
                             : at_once == 1 ? "1 request at a time"
                                            : fmt::format("{} requests at a time", at_once);
  Tell(what, changed.fault, fmt::format("{} handles {}", changed.fault.task, number));
  world_.network().LimitHandlers(changed.node->name(), at_once);
}

bool FaultApplier::HoldsStill(const Timed& timed) {
  return timed.active && (timed.fault.kind == TimedFault::Kind::kPause ||
                          (timed.fault.kind == TimedFault::Kind::kZombie && !timed.fault.silently));
}

void FaultApplier::Resume(Timed& timed, std::string text) {
  Node& node = *timed.node;
  if (node.killed() || node.restarts() != timed.life) return;
  // Another pause may last longer.
  const bool others = std::ranges::any_of(timed_, [&](const auto& other) {
    return HoldsStill(*other) && other->node == timed.node && other->life == timed.life;
  });
  if (others) return;
  Tell(Entry::What::kEnds, timed.fault, std::move(text));
  node.Resume();
}

void FaultApplier::HealAll() {
  if (std::exchange(healed_, true)) return;
  Tell("all faults end", "");
  calls_->Clear();
  world_.disk_faults().Clear();
  for (const auto& timed : timed_disks_) {
    timed->starts.Clear();
    timed->ends.Clear();
  }
  for (const auto& timed : timed_) {
    const bool never_began = !timed->fired;
    timed->starts.Clear();
    if (never_began && timed->fault.kind == TimedFault::Kind::kStart) Start(*timed);
    if (timed->dies.pending()) Die(*timed);
    End(*timed);
    EndSilence(*timed);  // of what stays away somebody says by now that it is gone
    if (timed->moves.pending()) Move(*timed);
    if (timed->followed && LivesOn(*timed)) {
      Tell(fmt::format("the process of {} that was taken for dead is ended", timed->fault.task), timed->fault.task);
      timed->node->Kill();
    }
  }
  world_.network().Calm();
}

bool FaultApplier::ComesBack(std::string_view task) const {
  return std::ranges::any_of(timed_, [task](const auto& timed) {
    return timed->fault.point.has_value() && timed->fault.kind == TimedFault::Kind::kCrash && timed->active &&
           timed->fault.task == task;
  });
}

bool FaultApplier::StaysAway(std::string_view task) const {
  return std::ranges::any_of(timed_, [&](const auto& timed) {
    return timed->fault.kind == TimedFault::Kind::kCrash && timed->fault.task == task && timed->struck &&
           !timed->fault.restart_after.has_value() && timed->node->restarts() == timed->life;
  });
}

}  // namespace vigil::sim
