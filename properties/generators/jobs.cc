#include "vigil/properties/generators/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/properties/generators/draws.h"
#include "vigil/properties/generators/situations.h"
#include "vigil/properties/generators/workloads.h"

namespace vigil::properties {
namespace {

using sim::DiskFault;
using sim::DiskLoss;
using sim::FaultPlan;
using sim::JobSpec;
using sim::RpcFault;
using sim::TimedFault;
using sim::WorkloadKind;

// A run whose message was lost ends by its time-out, after half an hour. Who then cannot create a session any more,
// since those that it waits for have ended so, gives up half an hour later.
constexpr Duration kLiveness = std::chrono::minutes(70);

Duration SecondsOf(std::int64_t seconds) { return std::chrono::seconds(seconds); }

// Which kinds of faults the seed knows.
struct Kinds {
  bool crash, crash_for_good, power_cut, pause, cut, silent, clock, slow_link, loss, duplication, reordering, rpc, disk,
      session_call, late_start;
};
Kinds DrawKinds(Draws draws) {
  Kinds kinds{};
  for (bool* kind : {&kinds.crash, &kinds.power_cut, &kinds.pause, &kinds.cut, &kinds.silent, &kinds.clock,
                     &kinds.slow_link, &kinds.loss, &kinds.duplication, &kinds.reordering, &kinds.rpc, &kinds.disk,
                     &kinds.session_call, &kinds.late_start}) {
    *kind = draws.Chance(40);
  }
  kinds.crash_for_good = draws.Chance(10);
  // What most runs are about: something that breaks sessions.
  if (!kinds.crash && !kinds.cut && !kinds.rpc && !kinds.session_call) kinds.crash = true;
  return kinds;
}

void DrawLink(Draws draws, const Kinds& kinds, sim::LinkSpec& link) {
  link.least_latency = std::chrono::microseconds(draws.Between(50, 2000));
  link.most_latency = link.least_latency * draws.Between(1, 20);
  if (kinds.loss) link.loss = static_cast<double>(draws.Between(1, 5)) / 1000;
  if (kinds.duplication) link.duplication = static_cast<double>(draws.Between(1, 20)) / 1000;
  if (kinds.reordering) link.reordering = static_cast<double>(draws.Between(1, 50)) / 1000;
  if (kinds.slow_link && draws.Chance(30)) link.bytes_per_s = 1e4 * static_cast<double>(draws.Between(1, 100));
}

// From one request at a time to what only the largest ones fill.
void DrawWindow(Draws draws, sim::LinkSpec& link) {
  constexpr std::int64_t kBytes[] = {1, 100, 300, 1000, 3000};
  if (draws.Chance(15)) link.bytes_in_flight = draws.Pick(kBytes);
}

// Of a job without faults. Answers come in the order of their calls over one stream alone; and an input that all share
// is for such jobs only: it ends for all when its chief's session breaks.
void DrawQuiet(Draws draws, JobSpec& job) {
  if (draws.Chance(70)) job.plan.default_link.reordering = static_cast<double>(draws.Between(1, 300)) / 1000;
  const WorkloadKind kind = job.workload.kind;
  const bool trains = kind == WorkloadKind::kAsyncRegression || kind == WorkloadKind::kSyncRegression;
  if (trains && draws.Chance(60)) job.workload.kind = WorkloadKind::kInputPipeline;
  if (job.workload.kind == WorkloadKind::kInputPipeline) job.workload.clients = false;
  job.workload.shared_input = job.workload.kind == WorkloadKind::kInputPipeline && draws.Chance(80);
}

// Draws the faults of one job.
class Planner {
 public:
  Planner(Draws draws, const Kinds& kinds, JobSpec& job, Duration phase)
      : draws_(draws), kinds_(kinds), job_(job), tasks_(TaskNames(job)), phase_(phase) {}

  // What is asked of the master of another task.
  void PlanForMaster() {
    for (std::int64_t more = draws_.Between(1, 3); more > 0; --more) Master();
    draws_ = draws_.Split("early call");
    if (!draws_.Chance(30)) return;
    constexpr std::string_view kMethods[] = {"KeepSession", "KeepSession", "ExtendSession"};
    RpcFault& fault = job_.plan.rpcs.emplace_back();
    fault.method = draws_.Pick(kMethods);
    fault.call = draws_.Between(1, 8);
    Befall(fault);
  }

  void Plan() {
    Draw(draws_.Between(2, 8));
    if (kinds_.late_start) LateStart();
    if (kinds_.crash_for_good) Timed(TimedFault::Kind::kCrash, AnyTask());
  }
  // So many, of the kinds that the seed knows.
  void Draw(std::int64_t count) {
    std::vector<void (Planner::*)()> faults;
    const auto offer = [&faults](bool kind, void (Planner::*fault)(), int weight = 1) {
      if (kind) faults.insert(faults.end(), static_cast<std::size_t>(weight), fault);
    };
    offer(kinds_.crash, &Planner::Crash, 3);
    offer(kinds_.power_cut, &Planner::PowerCut);
    offer(kinds_.pause, &Planner::Pause);
    offer(kinds_.cut, &Planner::Cut, 2);
    offer(kinds_.silent, &Planner::Silent);
    offer(kinds_.clock, &Planner::Clock);
    offer(kinds_.slow_link, &Planner::SlowLink);
    offer(kinds_.rpc, &Planner::Rpc, 2);
    offer(kinds_.disk, &Planner::Disk);
    offer(kinds_.session_call, &Planner::SessionCall, 2);
    for (std::int64_t i = 0; i < count; ++i) (this->*faults[draws_.Below(faults.size())])();
  }

  // What is rarer, behind all that: each kind from a stream of its own, so that a new one leaves the other plans alone.
  void PlanMore(const Draws& draws) {
    const auto sometimes = [&](std::string_view name, int percent, void (Planner::*plan)()) {
      draws_ = draws.Split(name);
      if (draws_.Chance(percent)) (this->*plan)();
    };
    sometimes("partition", 12, &Planner::Partition);
    sometimes("rack", 10, &Planner::Rack);
    sometimes("rolling restart", 10, &Planner::RollingRestart);
    sometimes("lasting disk fault", 12, &Planner::LastingDiskFault);
    sometimes("bit rot", 12, &Planner::Damage);
    sometimes("stale listings", 12, &Planner::StaleListings);
    sometimes("slow node", 12, &Planner::SlowNode);
    sometimes("all clocks", 10, &Planner::AllClocks);
    sometimes("many", 4, &Planner::Many);
    sometimes("storm", 6, &Planner::Storm);
    sometimes("aimed", 20, &Planner::Aimed);
    sometimes("second", 20, &Planner::Second);
    sometimes("bad link", 10, &Planner::BadLink);
    sometimes("damaged", 10, &Planner::Damaged);
    sometimes("elsewhere", 12, &Planner::Elsewhere);
    sometimes("zombie", 40, &Planner::Zombie);
    sometimes("unreadable", 6, &Planner::Unreadable);
    sometimes("refused removal", 8, &Planner::RefusedRemoval);
    sometimes("orderly stop", 12, &Planner::OrderlyStop);
    sometimes("overload", 15, &Planner::Overload);
    sometimes("early call", 12, &Planner::EarlyCall);
  }

 private:
  const std::string& AnyTask() { return tasks_[draws_.Below(tasks_.size())]; }
  // Another one.
  const std::string& AnyPeer(const std::string& task) {
    while (true) {
      const std::string& peer = AnyTask();
      if (peer != task) return peer;
    }
  }
  const std::string& AnyServer() {
    while (true) {
      const std::string& task = AnyTask();
      if (task.starts_with("ps")) return task;
    }
  }
  const std::string& AnyTrainer() {
    while (true) {
      const std::string& task = AnyTask();
      if (!task.starts_with("ps")) return task;
    }
  }
  Duration When() { return Milliseconds(draws_.Between(0, phase_ / std::chrono::milliseconds(1))); }
  // Short ones and long ones.
  Duration HowLong() {
    return Milliseconds(draws_.Chance(50) ? draws_.Between(10, 3000) : draws_.Between(3000, 60000));
  }

  TimedFault& Timed(TimedFault::Kind kind, const std::string& task) {
    TimedFault& fault = job_.plan.timed.emplace_back();
    fault.kind = kind;
    fault.task = task;
    fault.at = When();
    return fault;
  }
  TimedFault& Between(TimedFault::Kind kind) {
    const std::string task = draws_.Chance(80) ? AnyTrainer() : AnyTask();
    TimedFault& fault = Timed(kind, task);
    fault.peer = task.starts_with("ps") || draws_.Chance(20) ? AnyPeer(task) : AnyServer();
    fault.one_way = draws_.Chance(25);
    fault.lasts = HowLong();
    return fault;
  }

  void Crash() {
    TimedFault& fault = Timed(TimedFault::Kind::kCrash, AnyTask());
    fault.restart_after = HowLong();
    fault.silently = draws_.Split("silent death", job_.plan.timed.size()).Chance(15);
  }
  void PowerCut() {
    constexpr DiskLoss kLosses[] = {DiskLoss::kUnsynced, DiskLoss::kTorn, DiskLoss::kAll};
    TimedFault& fault = Timed(TimedFault::Kind::kCrash, draws_.Chance(70) ? "chief:0" : AnyTask());
    fault.restart_after = HowLong();
    fault.disk = draws_.Pick(kLosses);
  }
  void Pause() { Timed(TimedFault::Kind::kPause, AnyTask()).lasts = HowLong(); }
  void Cut() { Between(TimedFault::Kind::kCut); }
  void Silent() { Between(TimedFault::Kind::kSilent); }
  void SlowLink() { Between(TimedFault::Kind::kSlowLink).by = Milliseconds(draws_.Between(5, 2000)); }
  void Many() { Draw(draws_.Between(8, 32)); }
  // Much within seconds, and quiet before and after.
  void Storm() {
    constexpr void (Planner::*kFaults[])() = {&Planner::Crash, &Planner::Cut, &Planner::Silent, &Planner::Pause,
                                              &Planner::SlowLink};
    const Duration begin = When();
    const std::int64_t takes = draws_.Between(1000, 20000);
    for (std::int64_t more = draws_.Between(6, 24); more > 0; --more) {
      (this->*draws_.Pick(kFaults))();
      job_.plan.timed.back().at = begin + Milliseconds(draws_.Between(0, takes));
    }
  }
  // One link is worse than the others, in one direction: mostly between the chief and a server.
  void BadLink() {
    const std::string trainer = draws_.Chance(60) ? "chief:0" : AnyTrainer();
    const std::string server = AnyServer();
    const std::string ends =
        draws_.Chance(50) ? fmt::format("{}>{}", trainer, server) : fmt::format("{}>{}", server, trainer);
    sim::LinkSpec& link = job_.plan.links[ends] = job_.plan.default_link;
    link.most_latency *= draws_.Between(1, 10);
    link.loss = static_cast<double>(draws_.Between(2, 50)) / 1000;
  }
  // While the job recovers from another one.
  void Second() {
    std::vector<Duration> firsts;
    for (const TimedFault& fault : job_.plan.timed) {
      const bool breaks = fault.kind == TimedFault::Kind::kCrash || fault.kind == TimedFault::Kind::kCut;
      if (breaks && !fault.point.has_value()) firsts.push_back(fault.at);
    }
    if (firsts.empty()) return;
    constexpr void (Planner::*kFaults[])() = {&Planner::Crash, &Planner::Cut, &Planner::Silent, &Planner::Pause};
    for (std::int64_t more = draws_.Between(1, 3); more > 0; --more) {
      const Duration first = firsts[draws_.Below(firsts.size())];
      if (draws_.Chance(50)) {
        // Who is told of the first one tells others at once.
        TimedFault& fault = Timed(TimedFault::Kind::kCut, "chief:0");
        fault.peer = AnyServer();
        fault.lasts = HowLong();
        fault.at = first + Milliseconds(draws_.Between(0, 10));
      } else {
        (this->*draws_.Pick(kFaults))();
        job_.plan.timed.back().at = first + Milliseconds(draws_.Between(0, 8000));
      }
    }
  }
  // In the middle of something: before an operation on a file, which is part of a save or a restore, or on a message,
  // which is part of a creation, a registration, a step or a recovery.
  void Aimed() {
    constexpr void (Planner::*kFaults[])() = {&Planner::Crash, &Planner::Crash, &Planner::PowerCut, &Planner::Cut,
                                              &Planner::Silent};
    constexpr sim::FaultPoint::Kind kPoints[] = {sim::FaultPoint::Kind::kFileOp, sim::FaultPoint::Kind::kFileOp,
                                                 sim::FaultPoint::Kind::kSent, sim::FaultPoint::Kind::kDelivered};
    for (std::int64_t more = draws_.Between(1, 3); more > 0; --more) {
      (this->*draws_.Pick(kFaults))();
      TimedFault& fault = job_.plan.timed.back();
      fault.at = Duration::zero();
      fault.point = {.kind = draws_.Pick(kPoints)};
      fault.point->n = draws_.Between(1, fault.point->kind == sim::FaultPoint::Kind::kFileOp ? 300 : 3000);
    }
  }
  // Each task on one side, on the other, or on neither: that one reaches all.
  void Partition() {
    if (tasks_.size() < 3) return;
    std::vector<std::string> sides[3];
    for (const std::string& task : tasks_) sides[draws_.Below(3)].push_back(task);
    const auto is_server = [](const std::string& task) { return task.starts_with("ps"); };
    const auto talk = [&](std::size_t trainers, std::size_t servers) {
      return std::ranges::count_if(sides[servers], is_server) *
             (std::ssize(sides[trainers]) - std::ranges::count_if(sides[trainers], is_server));
    };
    if (talk(0, 1) + talk(1, 0) < 2) {
      for (std::vector<std::string>& side : sides) side.clear();
      for (const std::string& task : tasks_) sides[is_server(task) ? 1 : 0].push_back(task);
    }
    TimedFault part;
    part.part_of = TimedFault::Whole::kPartition;
    part.kind = draws_.Chance(50) ? TimedFault::Kind::kCut : TimedFault::Kind::kSilent;
    part.one_way = draws_.Chance(30);
    part.at = When();
    part.lasts = Milliseconds(draws_.Between(3000, 60000));
    for (const std::string& task : sides[0]) {
      for (const std::string& peer : sides[1]) {
        part.task = task;
        part.peer = peer;
        job_.plan.timed.push_back(part);
      }
    }
  }
  void Rack() {
    std::vector<std::string> machines;
    for (const std::string& task : tasks_) {
      if (draws_.Chance(50)) machines.push_back(task);
    }
    if (machines.size() < 2) machines = {tasks_[0], tasks_[1]};
    TimedFault part;
    part.part_of = TimedFault::Whole::kRack;
    part.disk = draws_.Chance(60) ? DiskLoss::kUnsynced : DiskLoss::kTorn;
    part.silently = draws_.Chance(50);
    part.at = When();
    for (const std::string& task : machines) {
      part.task = task;
      part.restart_after = HowLong();
      job_.plan.timed.push_back(part);
    }
  }
  // Of the parameter servers, or of all.
  void RollingRestart() {
    std::vector<std::string> turns;
    const bool all = draws_.Chance(50) || job_.tasks.find("ps")->second < 2;
    for (const std::string& task : tasks_) {
      if (all || task.starts_with("ps")) turns.push_back(task);
    }
    TimedFault part;
    part.part_of = TimedFault::Whole::kRollingRestart;
    part.at = When() / 2;
    const Duration gap =
        std::min(Milliseconds(draws_.Between(1000, 40000)), (phase_ - part.at) / static_cast<int>(turns.size()));
    for (const std::string& task : turns) {
      part.task = task;
      part.restart_after = Milliseconds(draws_.Between(200, 10000));
      job_.plan.timed.push_back(part);
      part.at += gap;
    }
  }
  void SlowNode() {
    TimedFault& fault = Timed(TimedFault::Kind::kSlowNode, AnyTask());
    fault.rate = static_cast<double>(draws_.Between(2, 20));
    fault.lasts = Milliseconds(draws_.Between(3000, 120000));
  }
  // Mostly of servers, whom all ask. Clients serve nobody.
  void Overload() {
    for (std::int64_t more = draws_.Between(1, 3); more > 0; --more) {
      TimedFault& fault =
          Timed(TimedFault::Kind::kOverload, draws_.Chance(75) || job_.workload.clients ? AnyServer() : AnyTask());
      fault.at_once = draws_.Between(1, 3);
      fault.lasts = Milliseconds(draws_.Between(3000, 120000));
    }
  }
  // What is asked rarely, as a session is made, made anew or given up.
  void EarlyCall() {
    constexpr std::string_view kMethods[] = {"RegisterGraph", "RegisterGraph", "GetStatus", "CleanupGraph",
                                             "DeregisterGraph"};
    for (std::int64_t more = draws_.Between(1, 3); more > 0; --more) {
      RpcFault& fault = job_.plan.rpcs.emplace_back();
      fault.method = draws_.Pick(kMethods);
      if (draws_.Chance(50)) fault.to = AnyServer();
      fault.call = draws_.Between(1, 12);
      Befall(fault);
    }
  }
  // Mostly the chief, which also writes the checkpoints.
  void Zombie() {
    const std::string task = draws_.Chance(75) ? "chief:0" : AnyTrainer();
    TimedFault& fault = Timed(TimedFault::Kind::kZombie, task);
    fault.restart_after = HowLong();
    fault.lasts = HowLong();
    fault.silently = draws_.Chance(40);
    fault.elsewhere = Milliseconds(draws_.Between(0, draws_.Chance(50) ? 1000 : 60000));
  }
  void Elsewhere() {
    TimedFault& fault = Timed(TimedFault::Kind::kCrash, AnyTask());
    fault.restart_after = HowLong();
    fault.silently = draws_.Chance(50);
    fault.elsewhere = Milliseconds(draws_.Between(0, draws_.Chance(50) ? 3000 : 60000));
  }
  void Clock() {
    WrongClock([this]() -> const std::string& { return AnyTrainer(); });
  }
  // No two nodes agree on the time.
  void AllClocks() {
    for (const std::string& task : tasks_) WrongClock([&task]() -> const std::string& { return task; });
  }
  void WrongClock(const std::function<const std::string&()>& whose) {
    if (draws_.Chance(50)) {
      Timed(TimedFault::Kind::kClockJump, whose()).by = SecondsOf(draws_.Between(-3600, 3600));
    } else {
      TimedFault& fault = Timed(TimedFault::Kind::kClockDrift, whose());
      fault.rate = 1 + static_cast<double>(draws_.Between(-500, 1000)) / 1000;
      fault.lasts = HowLong();
    }
  }
  void Rpc() {
    constexpr std::string_view kMethods[] = {"RunGraph",      "RunGraph",  "RunGraph", "RecvTensor",
                                             "RegisterGraph", "GetStatus", ""};
    RpcFault& fault = job_.plan.rpcs.emplace_back();
    fault.method = draws_.Pick(kMethods);
    if (draws_.Chance(50)) fault.from = AnyTrainer();
    fault.call = draws_.Between(1, 150);
    Befall(fault);
  }
  void Master() {
    constexpr std::string_view kMethods[] = {"CreateSession", "CreateSession", "RunStep", "RunStep", "CloseSession"};
    RpcFault& fault = job_.plan.rpcs.emplace_back();
    fault.method = draws_.Pick(kMethods);
    if (draws_.Chance(50)) fault.from = AnyTrainer();
    fault.call = draws_.Between(1, fault.method == "RunStep" ? 100 : 4);
    Befall(fault);
  }
  void Befall(RpcFault& fault) {
    constexpr RpcFault::Effect kEffects[] = {RpcFault::Effect::kError,      RpcFault::Effect::kLostRequest,
                                             RpcFault::Effect::kLostReply,  RpcFault::Effect::kNeverAnswered,
                                             RpcFault::Effect::kDuplicated, RpcFault::Effect::kDelayed,
                                             RpcFault::Effect::kReset};
    constexpr Code kCodes[] = {Code::kUnavailable, Code::kUnavailable, Code::kAborted};
    fault.effect = draws_.Pick(kEffects);
    fault.code = draws_.Pick(kCodes);
    if (fault.effect == RpcFault::Effect::kDelayed) fault.by = HowLong() / 10;
  }
  // Most messages by far are of runs: what is asked more rarely is meant by its name.
  void Damaged() {
    constexpr std::string_view kOfWorkers[] = {"", "RunGraph", "RunGraph", "RecvTensor", "RegisterGraph", "GetStatus"};
    constexpr std::string_view kOfMasters[] = {"CreateSession", "RunStep", "CloseSession"};
    for (std::int64_t more = draws_.Between(1, 4); more > 0; --more) {
      RpcFault& fault = job_.plan.rpcs.emplace_back();
      fault.effect = RpcFault::Effect::kDamaged;
      const bool of_master = !job_.workload.master.empty() && draws_.Chance(50);
      fault.method = of_master ? draws_.Pick(kOfMasters) : draws_.Pick(kOfWorkers);
      fault.call = draws_.Between(1, of_master || fault.method == "GetStatus" ? 5 : 100);
    }
  }
  void Disk() {
    constexpr std::string_view kOps[] = {"append", "append", "rename", "sync", "open", "read", "list"};
    constexpr DiskFault::Effect kEffects[] = {DiskFault::Effect::kNoSpace, DiskFault::Effect::kIoError,
                                              DiskFault::Effect::kSlow};
    DiskFault& fault = job_.plan.disks.emplace_back();
    fault.effect = draws_.Pick(kEffects);
    fault.task = draws_.Chance(80) ? "chief:0" : AnyTask();
    fault.op = fault.effect == DiskFault::Effect::kNoSpace ? "append" : draws_.Pick(kOps);
    fault.call = draws_.Between(1, 40);
    if (fault.effect == DiskFault::Effect::kSlow) fault.by = HowLong() / 4;
  }
  // Of a checkpoint that is too many, or of what a save leaves.
  void RefusedRemoval() {
    constexpr std::string_view kPaths[] = {"", ".index", ".data-", ".meta"};
    job_.plan.disks.push_back({.effect = DiskFault::Effect::kIoError,
                               .task = "chief:0",
                               .op = "remove",
                               .path = std::string(draws_.Pick(kPaths)),
                               .call = 0,
                               .at = When(),
                               .lasts = Milliseconds(draws_.Between(20'000, 300'000))});
  }
  void LastingDiskFault() {
    constexpr std::string_view kOps[] = {"", "", "append", "read", "sync", "rename"};
    DiskFault& fault = job_.plan.disks.emplace_back();
    fault.effect = draws_.Chance(50) ? DiskFault::Effect::kNoSpace : DiskFault::Effect::kIoError;
    fault.task = draws_.Chance(70) ? "chief:0" : AnyTask();
    fault.op = fault.effect == DiskFault::Effect::kNoSpace ? "append" : draws_.Pick(kOps);
    fault.call = 0;
    fault.at = When();
    fault.lasts = Milliseconds(draws_.Between(3000, 60000));
  }
  // Of what somebody reads who begins anew: so a server is lost, too.
  void Damage() {
    constexpr std::string_view kStateFile = "checkpoints/checkpoint";
    constexpr std::string_view kPaths[] = {".index", ".data-", ".data-", kStateFile, kStateFile, ""};
    DiskFault& fault = job_.plan.disks.emplace_back();
    fault.effect = DiskFault::Effect::kBitRot;
    fault.op = "read";
    fault.path = draws_.Pick(kPaths);
    fault.call = draws_.Between(1, 3);
    const std::string server = AnyServer();
    // Whose reads of it there are: servers restore, after the chief has looked which checkpoint is the newest.
    const bool own = fault.path == kStateFile || (fault.path.empty() && draws_.Chance(80));
    fault.task = own ? "chief:0" : (draws_.Chance(50) ? server : AnyServer());
    Timed(TimedFault::Kind::kCrash, server).restart_after = HowLong();
    if (fault.path == kStateFile || fault.path.empty() || draws_.Chance(60)) return;
    fault.effect = DiskFault::Effect::kGone;
    fault.op = "open";
  }
  // The newest checkpoint, for whoever asks, just when a server is back that needs it.
  void Unreadable() {
    const std::string server = AnyServer();
    Timed(TimedFault::Kind::kCrash, server).restart_after = HowLong();
    for (const std::string& task : {server, std::string("chief:0")}) {
      DiskFault& fault = job_.plan.disks.emplace_back();
      fault.effect = DiskFault::Effect::kIoError;
      fault.task = task;
      fault.op = "read";
      fault.path = ".data-";
      fault.call = 1;
    }
  }
  void OrderlyStop() {
    for (std::int64_t more = draws_.Between(1, 3); more > 0; --more) {
      TimedFault& fault = Timed(TimedFault::Kind::kCrash, AnyServer());
      fault.restart_after = HowLong();
      fault.in_order = true;
    }
  }
  void StaleListings() {
    DiskFault& fault = job_.plan.disks.emplace_back();
    fault.effect = DiskFault::Effect::kStale;
    fault.task = draws_.Chance(70) ? "chief:0" : AnyTrainer();
    fault.op = "list";
    fault.call = 0;
    fault.by = Milliseconds(draws_.Between(1000, 120000));
  }
  void SessionCall() {
    constexpr CallKind kCalls[] = {CallKind::kRun,   CallKind::kRun,      CallKind::kRun,      CallKind::kCreate,
                                   CallKind::kInit,  CallKind::kRestore,  CallKind::kSave,     CallKind::kReady,
                                   CallKind::kClose, CallKind::kReadStep, CallKind::kLocalInit};
    constexpr Code kCodes[] = {Code::kAborted, Code::kAborted, Code::kUnavailable, Code::kUnavailable,
                               Code::kOutOfRange};
    sim::SessionCallFault& fault = job_.plan.session_calls.emplace_back();
    fault.task = AnyTrainer();
    fault.at = draws_.Pick(kCalls);
    fault.call = fault.at == CallKind::kRun ? draws_.Between(1, 40) : draws_.Between(1, 3);
    fault.code = draws_.Pick(kCodes);
    fault.lost_reply = draws_.Chance(40);
  }
  void LateStart() {
    const std::string& task = AnyTask();
    if (task == "chief:0" || task.starts_with("worker")) Timed(TimedFault::Kind::kStart, task).at = HowLong();
  }

  Draws draws_;
  const Kinds& kinds_;
  JobSpec& job_;
  const std::vector<std::string> tasks_;
  const Duration phase_;
};

}  // namespace

replays::Scenario RandomJob(std::uint64_t seed) {
  const Draws draws(seed);
  replays::Scenario scenario;
  scenario.id = fmt::format("cluster_{}", seed);
  scenario.format = 2;
  scenario.seed = seed;
  scenario.behaviour.name = "default";
  JobSpec& job = scenario.job.emplace();
  DrawCluster(draws.Split("cluster"), job);
  DrawWorkload(draws.Split("workload"), job);
  const bool quiet = draws.Split("quiet").Chance(6);
  const Kinds kinds = quiet ? Kinds{} : DrawKinds(draws.Split("kinds"));
  DrawLink(draws.Split("link"), kinds, job.plan.default_link);
  Draws phases = draws.Split("phases");
  const Duration phase = SecondsOf(phases.Between(60, 400));
  job.heal_after = phase;
  job.limit = phase + LongestTraining(job) + kLiveness;
  job.no_wait = phases.Chance(30);
  DrawWindow(draws.Split("window"), job.plan.default_link);
  if (quiet) DrawQuiet(draws.Split("calm"), job);
  DrawInput(draws.Split("input"), job);
  if (quiet) return scenario;
  Planner planner(draws.Split("plan"), kinds, job, phase);
  planner.Plan();
  planner.PlanMore(draws);
  DrawSituation(draws, phase, job);
  if (DrawConversation(draws.Split("conversation"), job) || job.workload.master.empty()) return scenario;
  Planner(draws.Split("master"), kinds, job, phase).PlanForMaster();
  return scenario;
}

}  // namespace vigil::properties
