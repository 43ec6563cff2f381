// What came of the faults of a plan.
#include <algorithm>

#include "vigil/sim/fault_applier.h"
#include "vigil/sim/fault_applier_parts.h"

namespace vigil::sim {

std::int64_t FaultApplier::CountOf(const Timed& timed) const {
  const Node& node = *timed.node;
  if (timed.fault.kind == TimedFault::Kind::kSlowNode) return node.slowed();
  if (timed.fault.kind == TimedFault::Kind::kOverload) return world_.network().Crowded(node.name());
  if (timed.fault.kind == TimedFault::Kind::kZombie) return node.asks();
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
    case TimedFault::Kind::kOverload:
      return effects > 0;
    case TimedFault::Kind::kClockJump:
      return effects > 0 && timed.fault.by != Duration::zero();
    case TimedFault::Kind::kCut:
    case TimedFault::Kind::kSilent:
    case TimedFault::Kind::kSlowLink:
      return timed.trouble.effects > 0;
    case TimedFault::Kind::kSlowNode:
      return effects > 0 || timed.trouble.effects > 0;
    case TimedFault::Kind::kZombie:
      return timed.followed && !timed.active && CountOf(timed) > timed.before;
  }
  return false;
}

// Of the kinds that an entry is of besides.
bool FaultApplier::EffectiveAs(FaultKind kind, const Timed& timed) const {
  switch (kind) {
    case FaultKind::kNewAddress:
      return timed.followed && (timed.moves.pending() ? timed.node->asked() - timed.missed : timed.missed) > 0;
    case FaultKind::kOrderlyStop:
      return timed.struck;
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
  add(FaultKind::kSmallWindow, 0, counts.waited, counts.waited);
  add(FaultKind::kMessageLoss, 0, counts.lost, counts.lost);
  add(FaultKind::kDuplication, 0, counts.duplicated, counts.duplicated);
  add(FaultKind::kReordering, 0, counts.reordered, counts.reordered);
  return tallies;
}

bool FaultApplier::Entry::Ends(const Entry& begun) const {
  const bool paused = begun.what == What::kBegins && begun.kind == TimedFault::Kind::kPause && begun.task == task;
  switch (what) {
    case What::kMoment:
    case What::kBegins:
      return false;
    case What::kEnds:  // of pauses that overlap only the last end is told
      return begun.what == What::kBegins && (begun.fault == fault || (paused && kind == TimedFault::Kind::kPause));
    case What::kCrash:
      return paused;
    case What::kStarts:
      return begun.what == What::kCrash && begun.task == task;
  }
  return false;
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
