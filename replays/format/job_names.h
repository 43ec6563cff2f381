// How the enumerations of a cluster's scenario are spelt in a file: see names.h.
//
// Thread safety: constants and pure functions.
#ifndef VIGIL_REPLAYS_FORMAT_JOB_NAMES_H_
#define VIGIL_REPLAYS_FORMAT_JOB_NAMES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "vigil/core/base/event.h"
#include "vigil/core/cluster/method_names.h"
#include "vigil/fakes/memory_files.h"
#include "vigil/replays/format/names.h"
#include "vigil/sim/cluster/job_spec.h"

namespace vigil::replays {

// An enumeration whose values are numbered from 0 to `last`, in the words that `name_of` has for them.
template <typename E, E last, std::string_view (*name_of)(E)>
struct NamesOf {
  NamesOf() {
    for (std::size_t i = 0; i < std::size(names); ++i) {
      names[i] = name_of(static_cast<E>(i));
      table[i] = {names[i], static_cast<E>(i)};
    }
  }
  std::string_view names[static_cast<std::size_t>(last) + 1];
  Named<E> table[static_cast<std::size_t>(last) + 1];
};

inline const NamesOf<sim::WorkloadKind, sim::WorkloadKind::kConversation, sim::WorkloadName> kWorkloadNames;
inline constexpr const auto& kWorkloads = kWorkloadNames.table;

inline constexpr Named<sim::TimedFault::Kind> kTimedFaults[] = {
    {"crash", sim::TimedFault::Kind::kCrash},
    {"pause", sim::TimedFault::Kind::kPause},
    {"start", sim::TimedFault::Kind::kStart},
    {"cut", sim::TimedFault::Kind::kCut},
    {"silent", sim::TimedFault::Kind::kSilent},
    {"clock_jump", sim::TimedFault::Kind::kClockJump},
    {"clock_drift", sim::TimedFault::Kind::kClockDrift},
    {"slow_link", sim::TimedFault::Kind::kSlowLink},
    {"slow_node", sim::TimedFault::Kind::kSlowNode},
    {"overload", sim::TimedFault::Kind::kOverload},
    {"zombie", sim::TimedFault::Kind::kZombie},
};

// The fields that say at which point of the course a fault begins.
inline constexpr Named<sim::FaultPoint::Kind> kCoursePoints[] = {
    {"at_sent", sim::FaultPoint::Kind::kSent},
    {"at_delivered", sim::FaultPoint::Kind::kDelivered},
    {"at_file_op", sim::FaultPoint::Kind::kFileOp},
};

inline constexpr Named<sim::DiskLoss> kDiskLosses[] = {
    {"kept", sim::DiskLoss::kNothing},
    {"unsynced_lost", sim::DiskLoss::kUnsynced},
    {"torn", sim::DiskLoss::kTorn},
    {"lost", sim::DiskLoss::kAll},
};

inline constexpr Named<sim::TimedFault::Whole> kWholesOfLinks[] = {
    {"none", sim::TimedFault::Whole::kAlone},
    {"partition", sim::TimedFault::Whole::kPartition},
};
inline constexpr Named<sim::TimedFault::Whole> kWholesOfCrashes[] = {
    {"none", sim::TimedFault::Whole::kAlone},
    {"rack", sim::TimedFault::Whole::kRack},
    {"rolling_restart", sim::TimedFault::Whole::kRollingRestart},
};

inline constexpr Named<sim::RpcFault::Effect> kRpcEffects[] = {
    {"error", sim::RpcFault::Effect::kError},           {"lost_request", sim::RpcFault::Effect::kLostRequest},
    {"lost_reply", sim::RpcFault::Effect::kLostReply},  {"never_answered", sim::RpcFault::Effect::kNeverAnswered},
    {"duplicated", sim::RpcFault::Effect::kDuplicated}, {"delayed", sim::RpcFault::Effect::kDelayed},
    {"damaged", sim::RpcFault::Effect::kDamaged},       {"reset", sim::RpcFault::Effect::kReset},
};

inline constexpr Named<sim::DiskFault::Effect> kDiskEffects[] = {
    {"NO_SPACE", sim::DiskFault::Effect::kNoSpace}, {"IO_ERROR", sim::DiskFault::Effect::kIoError},
    {"SLOW", sim::DiskFault::Effect::kSlow},        {"STALE", sim::DiskFault::Effect::kStale},
    {"BIT_ROT", sim::DiskFault::Effect::kBitRot},   {"GONE", sim::DiskFault::Effect::kGone},
};

// The requests that servers answer; first "", any of them.
inline constexpr auto kRpcMethods = [] {
  std::array<std::string_view, std::size(kMethodNames) + 1> names = {};
  std::ranges::copy(kMethodNames, names.begin() + 1);
  return names;
}();

inline const NamesOf<fakes::FileOp, fakes::FileOp::kMakeDirectory, fakes::FileOpName> kFileOps;
// First "", any of them.
inline const auto kDiskOps = [] {
  std::array<std::string_view, std::size(kFileOps.names) + 1> names = {};
  std::ranges::copy(kFileOps.names, names.begin() + 1);
  return names;
}();

inline const NamesOf<CallKind, CallKind::kClose, CallKindName> kCallKindNames;
inline constexpr const auto& kCallKinds = kCallKindNames.table;

constexpr bool IsBetweenTasks(sim::TimedFault::Kind kind) {
  using Kind = sim::TimedFault::Kind;
  return kind == Kind::kCut || kind == Kind::kSilent || kind == Kind::kSlowLink;
}

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_JOB_NAMES_H_
