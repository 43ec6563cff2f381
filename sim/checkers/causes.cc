#include "vigil/sim/checkers/causes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "vigil/sim/checkers/reach.h"

namespace vigil::sim {
namespace {

using enum FaultKind;

// From then on whatever the faults had broken is known to be: a creation of a session takes a minute at most, and a
// silent server is waited for for two.
constexpr std::chrono::minutes kNoticed{3};

constexpr std::array kBreakSessions = {
    kCrashRestart, kCrashForGood,      kPowerCut,         kTornWrite,    kLostDisk,      kPause,
    kCut,          kOneWayCut,         kSilent,           kOneWaySilent, kMessageLoss,   kRefusedRpc,
    kLostRequest,  kLostReply,         kNeverAnswered,    kDuplication,  kDuplicatedRpc, kDamagedRpc,
    kReset,        kSessionCallBefore, kSessionCallAfter, kZombie,       kOverload};
constexpr std::array kTakeTime = {kCrashRestart,  kCrashForGood, kPowerCut,    kTornWrite,   kLostDisk,     kPause,
                                  kLateStart,     kCut,          kOneWayCut,   kSilent,      kOneWaySilent, kSlowLink,
                                  kSlowNode,      kNarrowLine,   kSmallWindow, kMessageLoss, kLostRequest,  kLostReply,
                                  kNeverAnswered, kDelayedRpc,   kSlowDisk,    kZombie,      kOverload};
constexpr std::array kEmptyServers = {kCrashRestart, kCrashForGood, kPowerCut, kTornWrite, kLostDisk};
constexpr std::array kTakeAway = {kCrashForGood};
constexpr std::array kFillDisks = {kNoSpace, kFullDisk};
constexpr std::array kFailFiles = {kIoError, kBadDisk};
constexpr std::array kRotFiles = {kBitRot, kLostFile};
constexpr std::array kLoseFiles = {kLostFile};
constexpr std::array kTellToStop = {kOrderlyStop};
constexpr std::array kFailCalls = {kSessionCallBefore, kSessionCallAfter};
// Whatever ends a program, or keeps it from its work.
constexpr std::array kEndTasks = {kCrashRestart, kCrashForGood,  kPowerCut,          kTornWrite,
                                  kLostDisk,     kPause,         kLateStart,         kCut,
                                  kOneWayCut,    kSilent,        kOneWaySilent,      kSlowLink,
                                  kSlowNode,     kMessageLoss,   kRefusedRpc,        kLostRequest,
                                  kLostReply,    kNeverAnswered, kDuplication,       kDuplicatedRpc,
                                  kReset,        kNoSpace,       kFullDisk,          kIoError,
                                  kBadDisk,      kSlowDisk,      kSessionCallBefore, kSessionCallAfter,
                                  kBitRot,       kLostFile,      kDamagedRpc,        kZombie,
                                  kOverload};

constexpr std::array kPreemptions = {Code::kAborted, Code::kUnavailable};
constexpr std::array kSaveAgain = {Code::kAborted};
constexpr std::array kUnavailable = {Code::kUnavailable};
constexpr std::array kTimeout = {Code::kDeadlineExceeded};
constexpr std::array kOutOfRange = {Code::kOutOfRange};
constexpr std::array kExhausted = {Code::kResourceExhausted};
constexpr std::array kUnknown = {Code::kUnknown};
constexpr std::array kDataLoss = {Code::kDataLoss};
constexpr std::array kCancelled = {Code::kCancelled};
constexpr std::array kNotFound = {Code::kNotFound};
constexpr std::array kStillRunning = {Code::kUsage};
constexpr std::array kUninitialised = {Code::kFailedPrecondition};

bool IsEvaluator(std::string_view task) { return task.starts_with(kEvaluatorJob); }
bool IsSupervised(const TaskEnd& end) { return end.run.spec.workload.kind == WorkloadKind::kSupervisor; }
bool Lacks(const TaskEnd& end, std::string_view task) { return end.gone.contains(task) || end.away.contains(task); }
bool LacksServer(const TaskEnd& end) { return std::ranges::any_of(end.away, IsServer); }
// Any but evaluators, whom nobody waits for.
bool LacksPeer(const TaskEnd& end) {
  return std::ranges::any_of(end.gone, [](const auto& entry) { return !IsEvaluator(entry.first); }) ||
         std::ranges::any_of(end.away, [](const std::string& task) { return !IsEvaluator(task); });
}

bool AnyTask(const TaskEnd&) { return true; }
bool WhoLeaves(const TaskEnd& end) { return end.leaving; }
bool WhoIsSupervised(const TaskEnd& end) {
  return IsSupervised(end) && (!end.healed.has_value() || end.moment.at < *end.healed + kNoticed);
}
bool WhoHasATimeout(const TaskEnd& end) {
  return end.run.spec.workload.timeout_ms > 0 && (!end.healed.has_value() || end.moment.at < *end.healed + kNoticed);
}
bool WhoLacksAServer(const TaskEnd& end) { return !IsEvaluator(end.moment.task) && LacksServer(end); }
bool WhoNeedsAll(const TaskEnd& end) {
  return NeedsAll(end.run.spec) && !IsEvaluator(end.moment.task) && LacksPeer(end);
}
bool SynchronousReplica(const TaskEnd& end) {
  return end.run.spec.workload.kind == WorkloadKind::kSyncRegression && LacksPeer(end);
}
bool WorkerOfALostModel(const TaskEnd& end) { return end.moment.task.starts_with("worker") && Lacks(end, "chief:0"); }
bool WorkerOfNoModel(const TaskEnd& end) { return WorkerOfALostModel(end) && !end.have_trained.contains("chief:0"); }
bool EvaluatorWithoutNews(const TaskEnd& end) {
  if (!IsEvaluator(end.moment.task)) return false;
  const auto chief = end.gone.find("chief:0");
  const bool chief_has_failed = chief != end.gone.end() && chief->second != Code::kOk;
  const bool chief_has_no_session = NeedsAll(end.run.spec) && LacksPeer(end);
  return LacksServer(end) || end.away.contains("chief:0") || chief_has_failed || chief_has_no_session;
}

bool WhoIsToldToStop(const TaskEnd& end) { return end.told.contains(end.moment.task); }

// Or it could not see that it has another one. What a save that failed has left, whole as it may be, is none.
bool WhoHasNoCheckpoint(const TaskEnd& end) {
  const auto is_known = [&end](std::int64_t step) { return end.saved.contains(step); };
  return std::ranges::none_of(end.run.facts.checkpoints, is_known) ||
         AnyStruck(end.run, InertFault::List::kDisks, end.run.spec.plan.disks, [&end](const DiskFault& fault) {
           return fault.effect == DiskFault::Effect::kIoError && (fault.task.empty() || fault.task == end.moment.task);
         });
}

bool SynchronousReplicaWithATimeout(const TaskEnd& end) {
  return end.run.spec.workload.kind == WorkloadKind::kSyncRegression && WhoHasATimeout(end);
}
// It has not come to the last step: that was nobody's mistake but the one who told of an end.
bool EvaluatorOfAnEarlyEnd(const TaskEnd& end) {
  const auto chief = end.gone.find("chief:0");
  return IsEvaluator(end.moment.task) && chief != end.gone.end() && chief->second == Code::kOk &&
         end.out_of_input.contains("chief:0");
}

constexpr std::array<Cause, 21> kCauses = {{
    {kExhausted, "any task", AnyTask, kFillDisks, false, "A full disk is an error, not a reason to try again."},
    {kUnknown, "any task", AnyTask, kFailFiles, false, "What cannot be read or written for good is an error."},
    {kDataLoss, "a task that reads what has rotted", AnyTask, kRotFiles, true,
     "What does not match its checksum fails a save, and a restore that has no other checkpoint to go back to."},
    {kNotFound,
     "a task of a job that is left without a whole checkpoint that it was told of, or cannot read which are whole",
     WhoHasNoCheckpoint, kLoseFiles, true,
     "A file of the checkpoint that is to be restored is gone, and there is no other one to go back to."},
    {kSaveAgain, "a task that leaves", WhoLeaves, kLoseFiles, true,
     "A part of a checkpoint that is gone before the parts are merged means to save again, which a hook in its end "
     "does not."},
    {kCancelled, "a worker that is told to stop", WhoIsToldToStop, kTellToStop, false,
     "What waits for a session or a model gives up; what runs is left to finish."},
    {kOutOfRange, "any task", AnyTask, kFailCalls, false,
     "The end of an input that another call than a run tells of is no clean end."},
    {kPreemptions, "a task that leaves", WhoLeaves, kBreakSessions, false,
     "What a hook does in its end, and what waits to be told of a stop, is not made again."},
    {kPreemptions, "a task of a supervisor", WhoIsSupervised, kBreakSessions, false,
     "A supervisor begins anew after ABORTED alone, and not where the session cannot be made: what else breaks it ends "
     "the task, until three minutes after everything has healed."},
    {kStillRunning, "a task of a supervisor", WhoIsSupervised, kTakeTime, false,
     "A service that waits for a server for longer than a stop waits for services is named by the stop."},
    {kUninitialised, "any task", AnyTask, kEmptyServers, false,
     "The variables of a server that is back are not initialised, between a look whether they are and the next run."},
    {kTimeout, "a task with an operation timeout", WhoHasATimeout, kTakeTime, false,
     "What takes longer is given up, by TensorFlow's rule for good, until three minutes after everything has healed."},
    {kTimeout, "a synchronous replica with an operation timeout", SynchronousReplicaWithATimeout, kTakeTime, true,
     "A step is made of the gradients of all: what holds up one of them holds up the others."},
    {kTimeout, "a task that needs a server which stays away", WhoLacksAServer, kTakeAway, true,
     "Recoveries are given up after half an hour."},
    {kUnavailable, "a task of a supervisor that needs a task which is gone",
     [](const TaskEnd& end) { return IsSupervised(end) && (WhoNeedsAll(end) || WhoLacksAServer(end)); }, kEndTasks,
     true, "Its session cannot be made, and a supervisor does not try again."},
    {kTimeout, "a task whose session needs all tasks (no filters), one of which is gone", WhoNeedsAll, kEndTasks, true,
     "No session can be made any more, which is tried for half an hour."},
    {kTimeout, "a synchronous replica, another one of which is gone", SynchronousReplica, kEndTasks, true,
     "A step is made of the gradients of all, and tokens by the chief: who waits for them gives up after half an "
     "hour."},
    {kTimeout, "a worker whose chief is gone", WorkerOfALostModel, kEmptyServers, true,
     "Only the chief initialises what a server that came back has lost: the worker waits for as long as it may."},
    {kTimeout, "a worker whose chief is gone before it has trained", WorkerOfNoModel, kEndTasks, true,
     "Nobody has initialised the model: the worker waits for as long as it may."},
    {kTimeout, "an evaluator whose chief is gone with an error, or lacks a server or (no filters) any task",
     EvaluatorWithoutNews, kEndTasks, true, "No checkpoint comes any more: the evaluator gives up after 20 minutes."},
    {kTimeout, "an evaluator whose chief was told of the end of its input", EvaluatorOfAnEarlyEnd, kFailCalls, true,
     "The chief ends cleanly, before the last step: no checkpoint comes any more, and the evaluator gives up after 20 "
     "minutes."},
}};

// Whether a fault of that kind has struck by then, as far as that is known, where the task could feel it.
bool HasStruck(const TaskEnd& end, FaultKind kind, bool anywhere) {
  const JobRun& run = end.run;
  const std::string_view task = end.moment.task;
  const bool fired = std::ranges::any_of(
      run.facts.faults, [kind](const FaultCount& count) { return count.kind == InfoOf(kind).name && count.fired > 0; });
  if (!fired) return false;
  const FaultPlan& plan = run.spec.plan;
  const auto of = [kind](const std::vector<FaultKind>& kinds) { return std::ranges::find(kinds, kind) != kinds.end(); };
  // Links are of all tasks.
  if (of(KindsOf(plan.default_link)) ||
      std::ranges::any_of(plan.links, [&](const auto& entry) { return of(KindsOf(entry.second)); })) {
    return true;
  }
  return AnyStruck(run, InertFault::List::kTimed, plan.timed,
                   [&](const TimedFault& f) {
                     return of(KindsOf(f)) && MayHaveStruckBy(run, f, end.moment.at) &&
                            (anywhere || Reaches(run, f, task));
                   }) ||
         AnyStruck(run, InertFault::List::kRpcs, plan.rpcs,
                   [&](const RpcFault& f) { return KindOf(f) == kind && (anywhere || Reaches(run, f.from, task)); }) ||
         AnyStruck(run, InertFault::List::kDisks, plan.disks,
                   [&](const DiskFault& f) {
                     return KindOf(f) == kind && MayHaveStruckBy(run, f, end.moment.at) &&
                            (anywhere || Reaches(run, f.task, task));
                   }) ||
         AnyStruck(run, InertFault::List::kSessionCalls, plan.session_calls, [&](const SessionCallFault& f) {
           return KindOf(f) == kind && (anywhere || f.task == WithoutZombie(task));
         });
}

}  // namespace

std::span<const Cause> Causes() { return kCauses; }

const Cause* ExplanationOf(const TaskEnd& end) {
  const auto explains = [&end](const Cause& cause) {
    return std::ranges::find(cause.codes, end.moment.code) != cause.codes.end() && cause.applies(end) &&
           std::ranges::any_of(cause.faults, [&](FaultKind kind) { return HasStruck(end, kind, cause.anywhere); });
  };
  const auto found = std::ranges::find_if(kCauses, explains);
  return found == kCauses.end() ? nullptr : &*found;
}

}  // namespace vigil::sim
