#include "vigil/sim/fault_applier.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/sim/alarm.h"

namespace vigil::sim {

namespace {

// A process that is killed stops at once; its memory is taken back before its connections break. Recorded: whoever
// works with it is in the middle of a call by then.
constexpr std::chrono::milliseconds kDying{80};

// What a server needs for one request, beside what its kernels do: longer on a slow node.
constexpr std::chrono::milliseconds kHandling{2};

}  // namespace

struct FaultApplier::Timed {
  Timed(const TimedFault& planned, Scheduler& scheduler, std::function<void()> start, std::function<void()> die,
        std::function<void()> end)
      : fault(planned),
        starts(scheduler, std::move(start)),
        dies(scheduler, std::move(die)),
        ends(scheduler, std::move(end)) {}

  const TimedFault fault;
  Alarm starts;
  Alarm dies;  // of a crash: it has stopped, its connections still stand
  Alarm ends;
  LinkTrouble trouble;    // of cut, silent, slow link, and of a silent crash
  bool silenced = false;  // by a silent crash, which holds
  bool fired = false;
  bool active = false;       // between start and end; of a crash: the task is to start again
  bool struck = false;       // there was something to strike
  int life = 0;              // of the node that was struck
  std::int64_t before = 0;   // CountOf() when it began
  std::int64_t effects = 0;  // ... and by how much it had grown at the end
  std::int64_t lost = 0;     // files and names that a crash changed
};

struct FaultApplier::TimedDisk {
  TimedDisk(DiskFaultState& fault, Scheduler& scheduler, std::function<void()> start, std::function<void()> end)
      : state(fault), starts(scheduler, std::move(start)), ends(scheduler, std::move(end)) {}

  DiskFaultState& state;
  Alarm starts;
  Alarm ends;
};

FaultApplier::FaultApplier(World& world, Tasks tasks, const FaultPlan& plan, Boot boot)
    : world_(world),
      tasks_(std::move(tasks)),
      boot_(std::move(boot)),
      calls_(std::make_shared<SessionCallFaults>(plan.session_calls)) {
  for (const auto& [name, node] : tasks_) VIGIL_CHECK(node->name() == name);  // links go by the names of nodes
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
        [this, i] { End(*timed_[i]); }));
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
  history_.push_back({world_.scheduler().now(), std::move(text), what, fault.task, fault.peer});
}

void FaultApplier::Tell(std::string text, std::string task) {
  history_.push_back({.at = world_.scheduler().now(), .text = std::move(text), .task = std::move(task)});
}

void FaultApplier::BootNode(Node& node, std::string_view why) {
  Tell(fmt::format("{} {}", node.name(), why), node.name());
  if (node.killed()) node.Restart();
  boot_(node);
}

void FaultApplier::Start(Timed& timed) {
  const TimedFault& fault = timed.fault;
  Node& node = NodeOf(fault.task);
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
      if (timed.struck) BootNode(node, "starts late");
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
  }
  timed.active = fault.kind != TimedFault::Kind::kCrash || ends.has_value();
  if (ends.has_value()) timed.ends.SetAt(world_.scheduler().now() + *ends);
}

void FaultApplier::Crash(Timed& timed) {
  const TimedFault& fault = timed.fault;
  Node& node = NodeOf(fault.task);
  timed.struck = node.running() && !node.killed();
  Tell(timed.struck ? Entry::What::kCrash : Entry::What::kMoment, fault,
       fmt::format("crash {}{}{}", fault.task, fault.silently ? " silently" : "",
                   timed.struck ? "" : ", which is not there"));
  if (timed.struck && fault.silently) Silence(timed);
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
  for (const auto& [name, node] : tasks_) {
    if (name == timed.fault.task) continue;
    world_.network().Begin(timed.trouble, timed.fault.task, name);
    world_.network().Begin(timed.trouble, name, timed.fault.task);
  }
}

void FaultApplier::EndSilence(Timed& timed) {
  if (std::exchange(timed.silenced, false)) world_.network().End(timed.trouble);
}

void FaultApplier::Die(Timed& timed) {
  timed.dies.Clear();
  Node& node = NodeOf(timed.fault.task);
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
  world_.network().Begin(timed.trouble, fault.task, fault.peer);
  if (!fault.one_way) world_.network().Begin(timed.trouble, fault.peer, fault.task);
}

void FaultApplier::End(Timed& timed) {
  if (!std::exchange(timed.active, false)) return;
  timed.ends.Clear();
  const TimedFault& fault = timed.fault;
  Node& node = NodeOf(fault.task);
  switch (fault.kind) {
    case TimedFault::Kind::kCrash:
      if (timed.dies.pending()) {
        // The kill is unwound after this callback: then it starts again.
        Die(timed);
        timed.active = true;
        timed.ends.SetAt(world_.scheduler().now());
        return;
      }
      EndSilence(timed);
      if (node.killed() && node.restarts() == timed.life) BootNode(node, "starts again");
      break;
    case TimedFault::Kind::kStart:
      break;
    case TimedFault::Kind::kPause:
      Resume(timed);
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
      node.set_slowness(SlownessOf(fault.task));
      world_.network().End(timed.trouble);
      break;
  }
}

void FaultApplier::SlowDown(Timed& timed) {
  const TimedFault& fault = timed.fault;
  Tell(Entry::What::kBegins, fault, fmt::format("{} is {} times as slow", fault.task, fault.rate));
  timed.struck = true;
  timed.before = CountOf(timed);
  NodeOf(fault.task).set_slowness(SlownessOf(fault.task));
  const double more = ToSeconds(kHandling) * (fault.rate - 1);
  timed.trouble = {.kind = LinkTrouble::Kind::kSlow, .by = Seconds(more)};
  for (const auto& [name, node] : tasks_) {
    if (name != fault.task) world_.network().Begin(timed.trouble, name, fault.task);
  }
}

double FaultApplier::SlownessOf(std::string_view task) const {
  double slowness = 1;
  for (const auto& timed : timed_) {
    const TimedFault& fault = timed->fault;
    if (timed->active && fault.kind == TimedFault::Kind::kSlowNode && fault.task == task)
      slowness = std::max(slowness, fault.rate);
  }
  return slowness;
}

void FaultApplier::Resume(Timed& timed) {
  Node& node = NodeOf(timed.fault.task);
  timed.effects = CountOf(timed) - timed.before;
  if (node.killed() || node.restarts() != timed.life) return;
  // Another pause may last longer.
  const bool others = std::ranges::any_of(timed_, [&](const auto& other) {
    return other->active && other->fault.kind == TimedFault::Kind::kPause && other->fault.task == timed.fault.task &&
           other->life == timed.life;
  });
  if (others) return;
  Tell(Entry::What::kEnds, timed.fault, fmt::format("resume {}", timed.fault.task));
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
           !timed->fault.restart_after.has_value() && NodeOf(timed->fault.task).restarts() == timed->life;
  });
}

std::int64_t FaultApplier::CountOf(const Timed& timed) const {
  const Node& node = NodeOf(timed.fault.task);
  if (timed.fault.kind == TimedFault::Kind::kSlowNode) return node.slowed();
  return timed.fault.kind == TimedFault::Kind::kPause ? node.held_by_pauses() : node.clock_reads();
}

bool FaultApplier::Effective(const Timed& timed) const {
  if (!timed.fired) return false;
  const std::int64_t effects = timed.active ? CountOf(timed) - timed.before : timed.effects;
  switch (timed.fault.kind) {
    case TimedFault::Kind::kCrash:
    case TimedFault::Kind::kStart:
      return timed.struck;
    case TimedFault::Kind::kPause:
    case TimedFault::Kind::kClockDrift:
      return effects > 0;
    case TimedFault::Kind::kClockJump:
      return effects > 0 && timed.fault.by != Duration::zero();
    case TimedFault::Kind::kCut:
    case TimedFault::Kind::kSilent:
    case TimedFault::Kind::kSlowLink:
      return timed.trouble.effects > 0;
    case TimedFault::Kind::kSlowNode:
      return effects > 0 || timed.trouble.effects > 0;
  }
  return false;
}

// Of the kinds that an entry is of besides.
bool FaultApplier::EffectiveAs(FaultKind kind, const Timed& timed) const {
  switch (kind) {
    case FaultKind::kSilentDeath:
      return timed.trouble.effects > 0;
    case FaultKind::kRack:
    case FaultKind::kRollingRestart:
    case FaultKind::kPartition:
      return Effective(timed) && std::ranges::any_of(timed_, [&](const auto& other) {
               return other.get() != &timed && other->fault.part_of == timed.fault.part_of && Effective(*other);
             });
    default:
      return timed.lost > 0;
  }
}

FaultTallies FaultApplier::Tallies() const {
  FaultTallies tallies;
  const auto add = [&tallies](FaultKind kind, std::int64_t planned, std::int64_t fired, std::int64_t effective) {
    FaultTally& tally = tallies[kind];
    tally.planned += planned;
    tally.fired += fired;
    tally.effective += effective;
  };
  for (const auto& timed : timed_) {
    const TimedFault& fault = timed->fault;
    const std::vector<FaultKind> kinds = KindsOf(fault);
    add(kinds[0], 1, timed->fired ? 1 : 0, Effective(*timed) ? 1 : 0);
    for (std::size_t i = 1; i < kinds.size(); ++i)
      add(kinds[i], 1, timed->fired ? 1 : 0, EffectiveAs(kinds[i], *timed) ? 1 : 0);
  }
  for (const RpcFaultState* const state : rpcs_) add(KindOf(state->fault), 1, state->fired, state->effective);
  for (const DiskFaultState* const state : disks_) add(KindOf(state->fault), 1, state->fired, state->effective);
  for (const auto& state : calls_->states()) add(KindOf(state.fault), 1, state.fired, state.fired);
  for (const LinkSpec& link : links_) {
    for (const FaultKind kind : KindsOf(link)) add(kind, 1, 0, 0);
  }
  const NetworkCounts& counts = world_.network().counts();
  add(FaultKind::kLatencySpread, 0, counts.late, counts.late);
  add(FaultKind::kNarrowLine, 0, counts.throttled, counts.throttled);
  add(FaultKind::kMessageLoss, 0, counts.lost, counts.lost);
  add(FaultKind::kDuplication, 0, counts.duplicated, counts.duplicated);
  add(FaultKind::kReordering, 0, counts.reordered, counts.reordered);
  return tallies;
}

std::vector<FaultApplier::DiskEntry> FaultApplier::DiskHistory() const {
  std::vector<DiskEntry> history;
  for (std::size_t i = 0; i < disks_.size(); ++i) {
    for (const DiskStrike& strike : disks_[i]->strikes) history.push_back({strike.at, strike.task, i, strike.events});
  }
  std::ranges::stable_sort(history, {}, &DiskEntry::at);
  return history;
}

std::vector<InertFault> FaultApplier::Inert() const {
  std::vector<InertFault> inert;
  const auto add = [&inert](InertFault::List list, std::size_t index, std::int64_t fired, std::int64_t effective) {
    if (effective == 0) inert.push_back({list, index, fired > 0});
  };
  for (std::size_t i = 0; i < timed_.size(); ++i)
    add(InertFault::List::kTimed, i, timed_[i]->fired ? 1 : 0, Effective(*timed_[i]) || timed_[i]->lost > 0 ? 1 : 0);
  for (std::size_t i = 0; i < rpcs_.size(); ++i) add(InertFault::List::kRpcs, i, rpcs_[i]->fired, rpcs_[i]->effective);
  for (std::size_t i = 0; i < disks_.size(); ++i)
    add(InertFault::List::kDisks, i, disks_[i]->fired, disks_[i]->effective);
  const auto& calls = calls_->states();
  for (std::size_t i = 0; i < calls.size(); ++i)
    add(InertFault::List::kSessionCalls, i, calls[i].fired, calls[i].fired);
  return inert;
}

}  // namespace vigil::sim
