#include "vigil/sim/faults/fault_kinds.h"

#include <algorithm>

namespace vigil::sim {
namespace {

constexpr std::array<FaultKindInfo, kFaultKinds> kInfos = {{
    {FaultKind::kCrashRestart, "crash_restart",
     "A process ends without a word and is started again after a while; its memory is gone, its disk is not.",
     "A segmentation fault, the kernel's out-of-memory killer, an eviction by the scheduler of the cluster."},
    {FaultKind::kCrashForGood, "crash_for_good", "A process ends without a word and nobody starts it again.",
     "A machine that broke, a preemptible instance that was taken back, a job without a supervisor."},
    {FaultKind::kPowerCut, "power_cut",
     "A crash that also undoes everything the node had not synced: contents, new and removed names, on its own disk "
     "and of its "
     "writes on the shared file system.",
     "A machine that loses its power or its kernel: what was in the page cache was never written."},
    {FaultKind::kTornWrite, "torn_write",
     "A power cut of which a beginning of what was not synced survives, drawn for each file and name.",
     "Write-back that was under way when the power went; blocks reach a disk in any order."},
    {FaultKind::kLostDisk, "lost_disk",
     "A crash after which the node's own disk is empty. The shared file system stays.",
     "A task that is started again on another machine, local storage of a preempted instance."},
    {FaultKind::kSilentDeath, "silent_death",
     "A crash of which nobody is told: what its peers send is not answered, and what they wait for does not end, until "
     "it is started again.",
     "A machine that loses its power or its network card: no kernel is left to reset its connections."},
    {FaultKind::kNewAddress, "new_address",
     "A process that crashed is started again on another machine; for a while its name still leads to the old one.",
     "A pod that is scheduled anew under the name of its service, a record of DNS that is cached for its time to "
     "live."},
    {FaultKind::kRack, "rack",
     "Power cuts that strike several tasks at one moment, each with what it had not synced; they come back one by one.",
     "A rack or a power supply that fails, a host with several virtual machines, a fuse."},
    {FaultKind::kRollingRestart, "rolling_restart", "One task after the other is killed and started again.",
     "A new version that is rolled out, kernels that are updated, machines that are drained for maintenance."},
    {FaultKind::kOrderlyStop, "orderly_stop",
     "A parameter server is told to stop: it serves no more, cancels what is under way, waits until that has ended, "
     "and then its process ends. Or a worker is: it finishes its run, or gives up waiting, and does not come back.",
     "SIGTERM: a pod that is evicted or replaced by a newer one, a machine that is drained."},
    {FaultKind::kPause, "pause", "A process stands still; its connections stay open and what is sent to it waits.",
     "SIGSTOP, a virtual machine that is migrated, swapping, a debugger, a long stall on a file system."},
    {FaultKind::kZombie, "zombie",
     "A process stands still or is cut off, is taken for dead and followed by a new one on another machine; then it "
     "goes on beside it, until all faults end.",
     "A machine that a cluster's manager hears nothing of for minutes, and which was merely stalled or partitioned."},
    {FaultKind::kLateStart, "late_start", "A task starts long after the others.",
     "A cluster that is short of machines, an image that takes minutes to pull."},
    {FaultKind::kCut, "cut", "Connections between two tasks are reset and new ones refused, both ways, for a while.",
     "A firewall that rejects, a switch that restarts, a wrong network policy."},
    {FaultKind::kOneWayCut, "one_way_cut",
     "Connections that one task makes to another are reset and refused; those the other way hold.",
     "A firewall's rule for one direction, a service address that points nowhere."},
    {FaultKind::kSilent, "silent",
     "Nothing passes between two tasks and nothing is closed, for a while; then all arrives.",
     "A pulled cable, a firewall that drops, a network that is congested to death."},
    {FaultKind::kOneWaySilent, "one_way_silent",
     "Nothing passes from one task to another; the other way messages arrive.",
     "Asymmetric routes, a broken transceiver, a full receive queue."},
    {FaultKind::kPartition, "partition",
     "Several tasks are cut off from several others, by resets or in silence, in one direction or both; who is on "
     "neither side reaches all.",
     "A switch between two racks that fails, a network policy for a group of machines, a partial loss of routes."},
    {FaultKind::kClockJump, "clock_jump",
     "The wall clock of a node jumps, forward or back. Its monotonic clock does not.",
     "Time synchronisation that steps the clock, a virtual machine that was suspended, an operator."},
    {FaultKind::kClockDrift, "clock_drift", "The wall clock of a node runs faster or slower than time.",
     "A bad quartz, time synchronisation that slews the clock."},
    {FaultKind::kSlowLink, "slow_link", "Every message between two tasks takes longer, for a while.",
     "A congested switch, a detour through another data centre."},
    {FaultKind::kSlowNode, "slow_node",
     "A node is many times as slow as the others: its own work takes longer, and so does each request to it.",
     "A processor that is too hot or shared with others, an older machine among new ones, swapping."},
    {FaultKind::kOverload, "overload",
     "For a while a server handles so many requests at a time, and what comes beyond waits for its turn.",
     "A pool of threads that is used up, by other clients or by requests that wait themselves; a herd that comes back "
     "after an outage."},
    {FaultKind::kLatencySpread, "latency_spread", "Messages take more than the least latency, each drawn anew.",
     "Queues in switches and kernels, retransmission, busy hosts: any network."},
    {FaultKind::kNarrowLine, "narrow_line", "Large messages take long: the line has so many bytes a second.",
     "A network card shared by many tasks, variables of gigabytes."},
    {FaultKind::kSmallWindow, "small_window",
     "So many bytes of requests are on their way to a task at a time; what comes after waits for its turn.",
     "Flow control: a peer that reads slowly, a window that is small for the length of the line."},
    {FaultKind::kMessageLoss, "message_loss",
     "A request or a reply gets lost, and seconds later the call fails with UNAVAILABLE: nobody knows whether it took "
     "effect.",
     "A connection that dies without a reset: a NAT table that forgot it, a proxy that was restarted."},
    {FaultKind::kDuplication, "duplication", "A request arrives twice.",
     "A client or proxy that tries again although the first attempt had arrived."},
    {FaultKind::kReordering, "reordering", "A message is held up and others overtake it.",
     "Several connections between two processes, retries, streams that are scheduled anew."},
    {FaultKind::kRefusedRpc, "refused_rpc", "The peer refuses one request with a code, before it takes effect.",
     "A server that is overloaded, shuts down, or has restarted and knows the caller no more."},
    {FaultKind::kLostRequest, "lost_request", "The connection breaks before one request arrives.",
     "A reset between connecting and sending, a server that is just restarting."},
    {FaultKind::kLostReply, "lost_reply",
     "One request takes effect, then the connection breaks before its reply arrives.",
     "A server that dies after the work and before the answer: the classic cause of doing things twice."},
    {FaultKind::kNeverAnswered, "never_answered", "One request takes effect and no answer ever comes.",
     "A handler that waits for something that does not happen, a deadlock in the peer."},
    {FaultKind::kDuplicatedRpc, "duplicated_rpc", "One request arrives twice.",
     "A transparent retry of the transport after a connection broke."},
    {FaultKind::kDelayedRpc, "delayed_rpc", "One request arrives much later; those behind it overtake it.",
     "A queue of a busy server, a stream without flow-control window."},
    {FaultKind::kDamagedRpc, "damaged_rpc",
     "A bit of one request, or of its answer, is another one when it arrives: the transport's checksum notices, and "
     "the "
     "call fails.",
     "Memory or a switch without error correction; one in 65,536 of such messages has the checksum of TCP right."},
    {FaultKind::kReset, "reset", "At one request every connection between its two tasks breaks.",
     "A proxy or balancer that recycles connections, a limit on their age."},
    {FaultKind::kNoSpace, "no_space", "An operation on a file fails: no space is left.",
     "A full disk, a quota: checkpoints and event files are what fills it."},
    {FaultKind::kFullDisk, "full_disk", "For a while no operation of a kind on a node's files finds space.",
     "A disk that others fill, until somebody deletes what nobody needs."},
    {FaultKind::kIoError, "io_error", "An operation on a file fails with an input/output error.",
     "A bad sector, a network file system that lost its server."},
    {FaultKind::kBadDisk, "bad_disk",
     "For a while operations of a kind, or all, on a node's files fail with an input/output error.",
     "A cable or a controller that fails, a file system that was mounted anew, a server of files that restarts."},
    {FaultKind::kSlowDisk, "slow_disk", "An operation on a file takes seconds; its task waits.",
     "A disk shared with others, write-back of gigabytes, an object store behind a mount."},
    {FaultKind::kStaleListing, "stale_listing",
     "A listing of a directory of the shared file system shows what other tasks have made and removed only later.",
     "Attributes that a client of a network file system keeps for a minute, an object store without consistent "
     "listings."},
    {FaultKind::kBitRot, "bit_rot",
     "A bit of a file that was written and synced is found to be another one when it is read, and stays so.",
     "Charge that leaks from a flash cell, a head that wrote beside its track, memory without error correction on the "
     "way."},
    {FaultKind::kLostFile, "lost_file", "A file that was written and synced is gone when it is opened.",
     "A check of the file system that threw away what it could not repair, somebody who made room, a copy that left "
     "out a part."},
    {FaultKind::kSessionCallBefore, "session_call_before",
     "A call on a raw session fails with a code, before any effect.",
     "A master that restarted, a variable server that is not there, the end of the input."},
    {FaultKind::kSessionCallAfter, "session_call_after", "A call on a raw session takes effect and fails all the same.",
     "The answer of a master that got lost after the step was done."},
}};

constexpr bool InOrder() {
  for (std::size_t i = 0; i < kFaultKinds; ++i) {
    if (kInfos[i].kind != static_cast<FaultKind>(i)) return false;
  }
  return true;
}
static_assert(InOrder());

std::vector<FaultKind> LinkKinds(const TimedFault& fault, FaultKind both_ways, FaultKind one_way) {
  std::vector<FaultKind> kinds = {fault.one_way ? one_way : both_ways};
  if (fault.part_of == TimedFault::Whole::kPartition) kinds.push_back(FaultKind::kPartition);
  return kinds;
}

}  // namespace

std::span<const FaultKindInfo, kFaultKinds> AllFaultKinds() { return kInfos; }

std::optional<FaultKind> FaultKindFromName(std::string_view name) {
  for (const FaultKindInfo& info : kInfos) {
    if (info.name == name) return info.kind;
  }
  return std::nullopt;
}

std::vector<FaultKind> KindsOf(const TimedFault& fault) {
  switch (fault.kind) {
    case TimedFault::Kind::kCrash: {
      std::vector<FaultKind> kinds = {fault.restart_after.has_value() ? FaultKind::kCrashRestart
                                                                      : FaultKind::kCrashForGood};
      if (fault.disk == DiskLoss::kUnsynced) kinds.push_back(FaultKind::kPowerCut);
      if (fault.disk == DiskLoss::kTorn) kinds.push_back(FaultKind::kTornWrite);
      if (fault.disk == DiskLoss::kAll) kinds.push_back(FaultKind::kLostDisk);
      if (fault.silently) kinds.push_back(FaultKind::kSilentDeath);
      if (fault.elsewhere.has_value()) kinds.push_back(FaultKind::kNewAddress);
      if (fault.part_of == TimedFault::Whole::kRack) kinds.push_back(FaultKind::kRack);
      if (fault.part_of == TimedFault::Whole::kRollingRestart) kinds.push_back(FaultKind::kRollingRestart);
      if (fault.in_order) kinds.push_back(FaultKind::kOrderlyStop);
      return kinds;
    }
    case TimedFault::Kind::kPause:
      return {FaultKind::kPause};
    case TimedFault::Kind::kStart:
      return {FaultKind::kLateStart};
    case TimedFault::Kind::kCut:
      return LinkKinds(fault, FaultKind::kCut, FaultKind::kOneWayCut);
    case TimedFault::Kind::kSilent:
      return LinkKinds(fault, FaultKind::kSilent, FaultKind::kOneWaySilent);
    case TimedFault::Kind::kClockJump:
      return {FaultKind::kClockJump};
    case TimedFault::Kind::kClockDrift:
      return {FaultKind::kClockDrift};
    case TimedFault::Kind::kSlowLink:
      return {FaultKind::kSlowLink};
    case TimedFault::Kind::kSlowNode:
      return {FaultKind::kSlowNode};
    case TimedFault::Kind::kOverload:
      return {FaultKind::kOverload};
    case TimedFault::Kind::kZombie:
      return {FaultKind::kZombie};
  }
  return {};
}

FaultKind KindOf(const RpcFault& fault) {
  switch (fault.effect) {
    case RpcFault::Effect::kError:
      return FaultKind::kRefusedRpc;
    case RpcFault::Effect::kLostRequest:
      return FaultKind::kLostRequest;
    case RpcFault::Effect::kLostReply:
      return FaultKind::kLostReply;
    case RpcFault::Effect::kNeverAnswered:
      return FaultKind::kNeverAnswered;
    case RpcFault::Effect::kDuplicated:
      return FaultKind::kDuplicatedRpc;
    case RpcFault::Effect::kDelayed:
      return FaultKind::kDelayedRpc;
    case RpcFault::Effect::kDamaged:
      return FaultKind::kDamagedRpc;
    case RpcFault::Effect::kReset:
      return FaultKind::kReset;
  }
  return FaultKind::kRefusedRpc;
}

FaultKind KindOf(const DiskFault& fault) {
  switch (fault.effect) {
    case DiskFault::Effect::kNoSpace:
      return fault.lasts.has_value() ? FaultKind::kFullDisk : FaultKind::kNoSpace;
    case DiskFault::Effect::kIoError:
      return fault.lasts.has_value() ? FaultKind::kBadDisk : FaultKind::kIoError;
    case DiskFault::Effect::kSlow:
      return FaultKind::kSlowDisk;
    case DiskFault::Effect::kStale:
      return FaultKind::kStaleListing;
    case DiskFault::Effect::kBitRot:
      return FaultKind::kBitRot;
    case DiskFault::Effect::kGone:
      return FaultKind::kLostFile;
  }
  return FaultKind::kIoError;
}

FaultKind KindOf(const SessionCallFault& fault) {
  return fault.lost_reply ? FaultKind::kSessionCallAfter : FaultKind::kSessionCallBefore;
}

std::vector<FaultKind> KindsOf(const LinkSpec& link) {
  std::vector<FaultKind> kinds;
  if (link.most_latency > link.least_latency) kinds.push_back(FaultKind::kLatencySpread);
  if (link.bytes_per_s > 0) kinds.push_back(FaultKind::kNarrowLine);
  if (link.bytes_in_flight > 0) kinds.push_back(FaultKind::kSmallWindow);
  if (link.loss > 0) kinds.push_back(FaultKind::kMessageLoss);
  if (link.duplication > 0) kinds.push_back(FaultKind::kDuplication);
  if (link.reordering > 0) kinds.push_back(FaultKind::kReordering);
  return kinds;
}

bool StrikesDisks(const FaultPlan& plan) { return !plan.disks.empty(); }

bool FailsDisksOf(const FaultPlan& plan, std::string_view task) {
  return std::ranges::any_of(plan.disks, [task](const DiskFault& fault) {
    // What has rotted or is gone is of all that read it.
    if (fault.effect == DiskFault::Effect::kBitRot || fault.effect == DiskFault::Effect::kGone) return true;
    if (fault.effect == DiskFault::Effect::kSlow || fault.effect == DiskFault::Effect::kStale) return false;
    return fault.task.empty() || fault.task == task;
  });
}

bool IsToldToStop(const FaultPlan& plan, std::string_view task) {
  return std::ranges::any_of(plan.timed, [task](const TimedFault& fault) {
    return fault.kind == TimedFault::Kind::kCrash && fault.in_order && fault.task == task;
  });
}

void FaultTallies::Add(const FaultTallies& others) {
  for (std::size_t i = 0; i < kFaultKinds; ++i) {
    of[i].planned += others.of[i].planned;
    of[i].fired += others.of[i].fired;
    of[i].effective += others.of[i].effective;
  }
}

std::int64_t FaultTallies::effective() const {
  std::int64_t sum = 0;
  for (const FaultTally& tally : of) sum += tally.effective;
  return sum;
}

}  // namespace vigil::sim
