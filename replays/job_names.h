// How the enumerations of a cluster's scenario are spelt in a file: see names.h.
//
// Thread safety: constants and pure functions.
#ifndef VIGIL_REPLAYS_JOB_NAMES_H_
#define VIGIL_REPLAYS_JOB_NAMES_H_

#include <string_view>

#include "vigil/replays/names.h"
#include "vigil/sim/cluster/job_spec.h"

namespace vigil::replays {

inline constexpr Named<sim::WorkloadKind> kWorkloads[] = {
    {"async_regression", sim::WorkloadKind::kAsyncRegression},
    {"sync_regression", sim::WorkloadKind::kSyncRegression},
    {"input_pipeline", sim::WorkloadKind::kInputPipeline},
    {"evaluation", sim::WorkloadKind::kEvaluation},
    {"short_job", sim::WorkloadKind::kShortJob},
    {"supervisor", sim::WorkloadKind::kSupervisor},
};

inline constexpr Named<sim::TimedFault::Kind> kTimedFaults[] = {
    {"crash", sim::TimedFault::Kind::kCrash},
    {"pause", sim::TimedFault::Kind::kPause},
    {"start", sim::TimedFault::Kind::kStart},
    {"cut", sim::TimedFault::Kind::kCut},
    {"silent", sim::TimedFault::Kind::kSilent},
    {"clock_jump", sim::TimedFault::Kind::kClockJump},
    {"clock_drift", sim::TimedFault::Kind::kClockDrift},
    {"slow_link", sim::TimedFault::Kind::kSlowLink},
};

inline constexpr Named<sim::DiskLoss> kDiskLosses[] = {
    {"kept", sim::DiskLoss::kNothing},
    {"unsynced_lost", sim::DiskLoss::kUnsynced},
    {"torn", sim::DiskLoss::kTorn},
    {"lost", sim::DiskLoss::kAll},
};

inline constexpr Named<sim::RpcFault::Effect> kRpcEffects[] = {
    {"error", sim::RpcFault::Effect::kError},           {"lost_request", sim::RpcFault::Effect::kLostRequest},
    {"lost_reply", sim::RpcFault::Effect::kLostReply},  {"never_answered", sim::RpcFault::Effect::kNeverAnswered},
    {"duplicated", sim::RpcFault::Effect::kDuplicated}, {"delayed", sim::RpcFault::Effect::kDelayed},
    {"reset", sim::RpcFault::Effect::kReset},
};

inline constexpr Named<sim::DiskFault::Effect> kDiskEffects[] = {
    {"NO_SPACE", sim::DiskFault::Effect::kNoSpace},
    {"IO_ERROR", sim::DiskFault::Effect::kIoError},
    {"SLOW", sim::DiskFault::Effect::kSlow},
};

// The requests that servers answer (core/cluster/master.h, worker_service.h), by the last part of their names; "" = any.
inline constexpr std::string_view kRpcMethods[] = {
    "",          "CreateSession", "ExtendSession",   "RunStep",  "CloseSession", "Reset",        "ListDevices",
    "GetStatus", "RegisterGraph", "DeregisterGraph", "RunGraph", "RecvTensor",   "CleanupGraph", "CleanupAll",
};

// As fakes::FileOpName() has them.
inline constexpr std::string_view kDiskOps[] = {
    "open", "append", "read", "sync", "close", "rename", "remove", "stat", "list", "make_directory",
};

// As CallKindName() has them.
inline constexpr Named<CallKind> kCallKinds[] = {
    {"create", CallKind::kCreate},
    {"init", CallKind::kInit},
    {"ready_for_local_init", CallKind::kReadyForLocalInit},
    {"local_init", CallKind::kLocalInit},
    {"ready", CallKind::kReady},
    {"restore", CallKind::kRestore},
    {"save", CallKind::kSave},
    {"run", CallKind::kRun},
    {"read_step", CallKind::kReadStep},
    {"raw_run", CallKind::kRawRun},
    {"summary", CallKind::kSummary},
    {"final_ops", CallKind::kFinalOps},
    {"close", CallKind::kClose},
};

constexpr bool IsBetweenTasks(sim::TimedFault::Kind kind) {
  using Kind = sim::TimedFault::Kind;
  return kind == Kind::kCut || kind == Kind::kSilent || kind == Kind::kSlowLink;
}

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_JOB_NAMES_H_
