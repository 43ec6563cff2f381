// The kinds of faults that the simulator knows: the one list of them. docs/faults.md is made from it.
//
// Thread safety: pure functions.
#ifndef VIGIL_SIM_FAULTS_FAULT_KINDS_H_
#define VIGIL_SIM_FAULTS_FAULT_KINDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "vigil/sim/faults/fault_plan.h"

namespace vigil::sim {

enum class FaultKind : std::uint8_t {
  kCrashRestart,
  kCrashForGood,
  kPowerCut,
  kTornWrite,
  kLostDisk,
  kSilentDeath,
  kNewAddress,
  kRack,
  kRollingRestart,
  kOrderlyStop,
  kPause,
  kZombie,
  kLateStart,
  kCut,
  kOneWayCut,
  kSilent,
  kOneWaySilent,
  kPartition,
  kClockJump,
  kClockDrift,
  kSlowLink,
  kSlowNode,
  kOverload,
  kLatencySpread,
  kNarrowLine,
  kSmallWindow,
  kMessageLoss,
  kDuplication,
  kReordering,
  kRefusedRpc,
  kLostRequest,
  kLostReply,
  kNeverAnswered,
  kDuplicatedRpc,
  kDelayedRpc,
  kDamagedRpc,
  kReset,
  kNoSpace,
  kFullDisk,
  kIoError,
  kBadDisk,
  kSlowDisk,
  kStaleListing,
  kBitRot,
  kLostFile,
  kSessionCallBefore,
  kSessionCallAfter,
};
inline constexpr std::size_t kFaultKinds = static_cast<std::size_t>(FaultKind::kSessionCallAfter) + 1;

struct FaultKindInfo {
  FaultKind kind;
  std::string_view name;    // "power_cut"
  std::string_view does;    // what it does, a sentence
  std::string_view origin;  // where it comes from in real life
};

// All kinds, in the order of the enum.
std::span<const FaultKindInfo, kFaultKinds> AllFaultKinds();
inline const FaultKindInfo& InfoOf(FaultKind kind) { return AllFaultKinds()[static_cast<std::size_t>(kind)]; }
std::optional<FaultKind> FaultKindFromName(std::string_view name);

// What each entry of a plan is. A crash that does something to the disk, or is silent, is of more kinds than one, so is
// what is a part of something larger, and a link of any number.
std::vector<FaultKind> KindsOf(const TimedFault& fault);
FaultKind KindOf(const RpcFault& fault);
FaultKind KindOf(const DiskFault& fault);
FaultKind KindOf(const SessionCallFault& fault);
std::vector<FaultKind> KindsOf(const LinkSpec& link);

// What judges ask of a plan before they excuse what comes of a disk: the one place that knows which entries strike one.
bool StrikesDisks(const FaultPlan& plan);                         // of any task, be it by making it slow
bool FailsDisksOf(const FaultPlan& plan, std::string_view task);  // operations of that task may fail
// ... tells that task to stop, in good order.
bool IsToldToStop(const FaultPlan& plan, std::string_view task);

// How often a kind was in a plan, began to happen, and changed something. What fired without effect is inert.
struct FaultTally {
  std::int64_t planned = 0;
  std::int64_t fired = 0;
  std::int64_t effective = 0;
  friend bool operator==(const FaultTally&, const FaultTally&) = default;
};

// A fault of a plan that changed nothing in a run: where it stands in the plan, and whether it had happened at all.
struct InertFault {
  enum class List : std::uint8_t { kTimed, kRpcs, kDisks, kSessionCalls };
  List list = List::kTimed;
  std::size_t index = 0;
  bool fired = false;
  friend bool operator==(const InertFault&, const InertFault&) = default;
};

// By kind.
struct FaultTallies {
  std::array<FaultTally, kFaultKinds> of;
  FaultTally& operator[](FaultKind kind) { return of[static_cast<std::size_t>(kind)]; }
  const FaultTally& operator[](FaultKind kind) const { return of[static_cast<std::size_t>(kind)]; }
  void Add(const FaultTallies& others);
  std::int64_t effective() const;  // of all kinds
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_FAULTS_FAULT_KINDS_H_
