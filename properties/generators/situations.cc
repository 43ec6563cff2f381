#include "vigil/properties/generators/situations.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace vigil::properties {
namespace {

using sim::DiskFault;
using sim::FaultPlan;
using sim::JobSpec;
using sim::RpcFault;
using sim::TimedFault;
using sim::WorkloadKind;

int CountOf(const JobSpec& job, std::string_view name) { return job.tasks.find(name)->second; }

Duration AnyTime(Draws& draws, Duration phase) {
  return Milliseconds(draws.Between(0, phase / std::chrono::milliseconds(1)));
}

TimedFault& Crash(JobSpec& job, std::string task, Duration at, Duration restart_after) {
  return job.plan.timed.emplace_back(
      TimedFault{.kind = TimedFault::Kind::kCrash, .at = at, .task = std::move(task), .restart_after = restart_after});
}

// What takes longer than faults do otherwise.
void HealsNotBefore(JobSpec& job, Duration when) {
  const Duration later = std::max(Duration::zero(), when - *job.heal_after);
  *job.heal_after += later;
  job.limit += later;
}

// Replicas that wait for each other, on several servers.
bool WaitsForOthers(const JobSpec& job) {
  return job.workload.kind == WorkloadKind::kSyncRegression && job.workload.master.empty() && CountOf(job, "ps") > 1 &&
         CountOf(job, "worker") > 0;
}

// The chief of synchronous replicas waits for a token since another replica stands still; its queue runner fails with
// the connection to another server than the one that has the tokens, and what it then asks that one, for the first
// time, gets lost. Nothing else happens: nearly everything wakes the chief.
void LostWake(Draws& draws, Duration /*phase*/, JobSpec& job) {
  const auto unused = [&draws] { draws.Below(1); };  // what was drawn here once: jobs stay what they are
  FaultPlan& plan = job.plan;
  const auto server = fmt::format("ps:{}", draws.Between(1, CountOf(job, "ps") - 1));
  unused();
  const Duration begin = std::chrono::seconds(draws.Between(3, 15));
  plan.timed.push_back({.kind = TimedFault::Kind::kPause,
                        .at = begin,
                        .task = "worker:0",
                        .lasts = std::chrono::seconds(draws.Between(25, 60))});
  const Duration waiting = begin + std::chrono::seconds(draws.Between(14, 20));
  unused();
  plan.timed.push_back({.kind = TimedFault::Kind::kCut,
                        .at = waiting,
                        .task = "chief:0",
                        .peer = server,
                        .lasts = Milliseconds(draws.Between(10, 3000))});
  plan.rpcs.push_back({.effect = RpcFault::Effect::kLostRequest,
                       .method = "RegisterGraph",
                       .from = "chief:0",
                       .to = "ps:0",
                       .call = 11});  // behind those of the session's creation
}

// A server is back, and nobody hears of it. The gradients of a replica reach all servers but one, at which all wait
// then: for what was asked of the replica and is answered late or never. Another server, which is done with its part of
// those steps, dies meanwhile, and a new process is in its place.
void UnseenRestart(Draws& draws, Duration phase, JobSpec& job) {
  const int servers = std::min(CountOf(job, "ps"), 3);           // the others hold nothing of the model
  const std::int64_t restarted = draws.Between(1, servers - 1);  // the first one has the tokens: who waits is told
  std::int64_t lacking = draws.Between(0, servers - 2);
  if (lacking >= restarted) ++lacking;
  RpcFault& answer = job.plan.rpcs.emplace_back();
  answer.method = "RecvTensor";
  answer.from = fmt::format("ps:{}", lacking);
  answer.to = "worker:0";
  answer.call = draws.Between(5, 16);
  answer.effect = draws.Chance(75) ? RpcFault::Effect::kNeverAnswered : RpcFault::Effect::kDelayed;
  if (answer.effect == RpcFault::Effect::kDelayed) answer.by = std::chrono::seconds(draws.Between(60, 300));
  // Once all have come to wait: two such requests are part of a step.
  const Duration waiting = job.workload.step * (answer.call / 2 + 2);
  TimedFault& crash = job.plan.timed.emplace_back();
  crash.task = fmt::format("ps:{}", restarted);
  crash.at = std::min(waiting + std::chrono::seconds(draws.Between(0, 30)), phase - std::chrono::seconds(5));
  crash.restart_after = Milliseconds(draws.Between(200, 20000));
  crash.silently = draws.Chance(40);
}

// Workers that do not need the chief to get to their end, nor one another; and that save if it is gone by then.
bool TrainsAlone(const JobSpec& job) {
  return job.workload.kind != WorkloadKind::kSyncRegression && job.workload.kind != WorkloadKind::kSupervisor &&
         job.workload.filters && job.workload.master.empty() && CountOf(job, "worker") > 0;
}

// Two processes save at a time. The chief is in the middle of a save for minutes, since a sync of its disk takes so
// long or since it stands still; the workers, which hear nothing of it, come to their end and save in its place.
void TwoSavers(Draws& draws, Duration /*phase*/, JobSpec& job) {
  job.workload.last_step = draws.Between(4, 24);
  const Duration takes = std::chrono::seconds(draws.Between(40, 300));
  if (draws.Chance(25)) {
    // Who waits for no disk is not held up in the middle of its operations.
    job.workload.disk = std::max<Duration>(job.workload.disk, std::chrono::microseconds(500));
    job.plan.timed.push_back(
        {.kind = TimedFault::Kind::kPause,
         .point = sim::FaultPoint{.kind = sim::FaultPoint::Kind::kFileOp, .n = draws.Between(30, 300)},
         .task = "chief:0",
         .lasts = takes});
    return;
  }
  job.plan.disks.push_back(
      {.effect = DiskFault::Effect::kSlow, .task = "chief:0", .op = "sync", .call = draws.Between(3, 20), .by = takes});
  TimedFault silence{
      .kind = TimedFault::Kind::kSilent, .at = std::chrono::seconds(draws.Between(0, 10)), .task = "chief:0"};
  for (int i = 0; i < CountOf(job, "worker"); ++i) {
    silence.peer = fmt::format("worker:{}", i);
    job.plan.timed.push_back(silence);
  }
}

// Only those that train are struck, one or more of them: the others must not feel it. Mostly all are in the middle of a
// step when a new process comes.
void OthersDie(Draws& draws, Duration phase, JobSpec& job) {
  job.no_wait = false;
  job.workload.timeout_ms = 0;
  const bool busy = draws.Chance(70);
  if (busy) {
    job.workload.step = Milliseconds(draws.Between(1, 20));
    job.workload.last_step = draws.Between(150, 400);
    job.workload.save_steps = draws.Between(20, 100);
    job.workload.least_boot = job.workload.most_boot = Milliseconds(draws.Between(0, 300));
    job.workload.boots.clear();
    phase = std::chrono::seconds(draws.Between(2, 6));
  }
  const auto spared = draws.Between(-1, CountOf(job, "worker") - 1);  // -1: the chief
  for (std::int64_t more = draws.Between(2, 6); more > 0; --more) {
    const std::int64_t struck = draws.Between(-1, CountOf(job, "worker") - 1);
    if (struck == spared) continue;
    const Duration at = AnyTime(draws, phase);
    const std::int64_t most_away = busy || draws.Chance(50) ? 500 : 30'000;
    const Duration away = Milliseconds(draws.Between(10, most_away));
    const bool silently = draws.Chance(15);
    Crash(job, struck < 0 ? "chief:0" : fmt::format("worker:{}", struck), at, away).silently = silently;
  }
}

// Evaluators do not wait for so long.
bool WaitsLong(const JobSpec& job) { return TrainsAlone(job) && job.workload.kind != WorkloadKind::kEvaluation; }

// The chief is away for nearly as long as a worker waits for it, since with it the model was lost; and when it is back
// the model is lost once more, before anybody has trained. Time in which a worker waits is no time of failing.
void LongAbsence(Draws& draws, Duration /*phase*/, JobSpec& job) {
  constexpr std::chrono::minutes kAway{28};
  job.workload.max_wait_s = 3600;
  const Duration begin = std::chrono::seconds(draws.Between(5, 60));
  const Duration away = kAway - std::chrono::seconds(draws.Between(0, 120));
  Crash(job, "chief:0", begin, away);
  Crash(job, "ps:0", begin, std::chrono::seconds(1));
  const Duration back = begin + away + LongestBoot(job.workload);
  Duration last = back;
  for (std::int64_t more = draws.Between(10, 60); more > 0; --more) {
    last += Milliseconds(draws.Between(1000, 8000));
    Crash(job, "ps:0", last, Milliseconds(200));
  }
  HealsNotBefore(job, last + std::chrono::minutes(2));
}

bool HasAMaster(const JobSpec& job) { return !job.workload.master.empty(); }

// The server whose master all use is told to stop again and again, mostly while sessions are being made: as it starts,
// or while it waits for another server that is not there.
void MasterStops(Draws& draws, Duration /*phase*/, JobSpec& job) {
  Duration at = Milliseconds(draws.Between(0, 10'000));
  for (std::int64_t more = draws.Between(3, 12); more > 0; --more) {
    const Duration away = Milliseconds(draws.Between(10, 3000));
    Crash(job, job.workload.master, at, away).in_order = true;
    if (CountOf(job, "ps") > 1 && draws.Chance(60))
      Crash(job, "ps:1", at + away, Milliseconds(draws.Between(1000, 20'000)));
    at += away + LongestBoot(job.workload) + Milliseconds(draws.Between(0, draws.Chance(70) ? 2500 : 40'000));
  }
  HealsNotBefore(job, at);
}

bool SavesBeside(const JobSpec& job) { return job.workload.async_saves; }

// Whoever waits for a disk waits long, so that saves beside the training take longer than it is from one to the next;
// and meanwhile servers are lost, so that the model is restored, or the training ends.
void SlowSavesBeside(Draws& draws, Duration phase, JobSpec& job) {
  constexpr std::string_view kOps[] = {"sync", "sync", "append", "rename"};
  job.workload.save_steps = draws.Between(1, 4);
  if (draws.Chance(50) && job.workload.kind != WorkloadKind::kShortJob) job.workload.last_step = draws.Between(8, 40);
  DiskFault slow{.effect = DiskFault::Effect::kSlow,
                 .task = "chief:0",
                 .op = std::string(draws.Pick(kOps)),
                 .call = 0,
                 .by = Milliseconds(draws.Between(200, 15'000))};
  job.plan.disks.push_back(slow);
  for (int i = 0; i < CountOf(job, "ps"); ++i) {
    slow.task = fmt::format("ps:{}", i);
    job.plan.disks.push_back(slow);
  }
  for (std::int64_t more = draws.Between(0, 4); more > 0; --more) {
    const Duration at = AnyTime(draws, phase);
    const auto server = fmt::format("ps:{}", draws.Between(0, CountOf(job, "ps") - 1));
    Crash(job, server, at, Milliseconds(draws.Between(10, 5000)));
  }
}

// Workers are told to stop, as by who needs their machines: at any time, or while they wait for a model that was lost
// and for the chief, which is away.
void WorkersAreToldToStop(Draws& draws, Duration phase, JobSpec& job) {
  Duration at = AnyTime(draws, phase);
  if (draws.Chance(60)) {
    const Duration away = std::chrono::seconds(draws.Between(400, 1500));
    job.workload.max_wait_s = 3600;  // for the others
    Crash(job, "chief:0", at, away);
    Crash(job, "ps:0", at, std::chrono::seconds(1));
    HealsNotBefore(job, at + away);
    at += std::chrono::seconds(draws.Between(1, 120));
  }
  for (std::int64_t i = 0; i < CountOf(job, "worker"); ++i) {
    if (i > 0 && draws.Chance(50)) continue;
    TimedFault& stop = Crash(job, fmt::format("worker:{}", i), at, Duration(0));
    stop.restart_after.reset();
    stop.in_order = true;
    at += Milliseconds(draws.Between(0, 60'000));
  }
}

bool TrainsLong(const JobSpec& job) {
  const WorkloadKind kind = job.workload.kind;
  return (kind == WorkloadKind::kAsyncRegression || kind == WorkloadKind::kInputPipeline) && !HasAMaster(job);
}

// A training of hours, in which something is lost now and then: longer after one another than anybody tries to recover
// from one.
void FarApart(Draws& draws, Duration phase, JobSpec& job) {
  const Duration before = job.workload.step;
  job.workload.step = std::chrono::seconds(draws.Between(60, 80)) * (1 + CountOf(job, "worker"));
  job.workload.timeout_ms = 0;
  job.limit += (job.workload.step - before) * job.workload.last_step;
  Duration at = AnyTime(draws, phase);
  for (std::int64_t more = draws.Between(2, 3); more > 0; --more) {
    for (int i = 0; i < CountOf(job, "ps"); ++i)
      if (i == 0 || draws.Chance(30)) Crash(job, fmt::format("ps:{}", i), at, Milliseconds(draws.Between(200, 20'000)));
    HealsNotBefore(job, at + std::chrono::seconds(30));
    at += std::chrono::minutes(draws.Between(31, 45));
  }
}

// Visits make raw runs, too.
bool HasAnInitFn(const JobSpec& job) { return job.workload.init_fn && job.workload.visits == Duration::zero(); }

// Of a short one the end comes too soon.
bool TrainsWithoutTheChief(const JobSpec& job) {
  return job.workload.kind == WorkloadKind::kAsyncRegression && TrainsAlone(job);
}

// The chief's init_fn is cut off half way: a run of it fails, and the chief begins anew; or the chief dies, mostly when
// some have found the model ready. If it stays away, they train on what is half made.
void HalfMade(Draws& draws, Duration /*phase*/, JobSpec& job) {
  constexpr Code kCodes[] = {Code::kAborted, Code::kUnavailable};
  if (draws.Chance(50)) {
    sim::SessionCallFault& fault = job.plan.session_calls.emplace_back();
    fault.task = "chief:0";
    fault.at = CallKind::kRawRun;
    fault.call = draws.Between(1, 3);
    fault.code = draws.Pick(kCodes);
    fault.lost_reply = draws.Chance(40);
    return;
  }
  job.no_wait = true;
  job.workload.boots.clear();
  job.workload.least_boot = job.workload.most_boot = Milliseconds(draws.Between(0, 300));
  const Duration begins = job.workload.most_boot + Milliseconds(300);
  const Duration at = begins + Milliseconds(draws.Between(0, 3500));
  TimedFault& death = Crash(job, "chief:0", at, Milliseconds(draws.Between(10, 20'000)));
  if (TrainsWithoutTheChief(job) && draws.Split("for good").Chance(40)) death.restart_after.reset();
}

// A batch of a worker spoils the model. The chief sees it and leaves; the others train on, and must not save what has
// become of it. Nothing else happens: who is left has nobody who would initialise anything.
void Diverges(Draws& draws, Duration /*phase*/, JobSpec& job) {
  const std::int64_t turns = job.workload.last_step / (1 + CountOf(job, "worker"));
  job.workload.nan_batch = draws.Between(1, std::max<std::int64_t>(1, turns / 2));
  job.workload.validate_steps = 0;  // a batch that trains nothing spoils nothing
}

struct Situation {
  std::string_view name;  // of its stream
  int percent;            // of the jobs that it suits
  bool (*suits)(const JobSpec& job);
  void (*draw)(Draws& draws, Duration phase, JobSpec& job);
};
// The first one that is drawn. A new one comes last, and leaves the jobs that have another one alone.
constexpr Situation kSituations[] = {
    {"lost wake", 15, WaitsForOthers, LostWake},
    {"unseen restart", 15, WaitsForOthers, UnseenRestart},
    {"two savers", 4, TrainsAlone, TwoSavers},
    {"others die", 8, TrainsAlone, OthersDie},
    {"long absence", 3, WaitsLong, LongAbsence},
    {"slow saves beside", 12, SavesBeside, SlowSavesBeside},
    {"master stops", 12, HasAMaster, MasterStops},
    {"told to stop", 8, WaitsLong, WorkersAreToldToStop},
    {"far apart", 3, TrainsLong, FarApart},
    {"half made", 50, HasAnInitFn, HalfMade},
    {"diverges", 10, TrainsWithoutTheChief, Diverges},
};

}  // namespace

// What the queues of an input pipeline are like.
void DrawInput(Draws draws, JobSpec& job) {
  if (job.workload.kind != sim::WorkloadKind::kInputPipeline) return;
  if (draws.Chance(40)) {
    job.workload.input_batch = draws.Between(2, 3);
    job.workload.input_rest = draws.Chance(50);
  }
  job.workload.shuffled_input = draws.Chance(30);
  job.workload.staged_input = draws.Chance(40);
}

bool DrawConversation(Draws draws, JobSpec& job) {
  // A server that is told to stop says CANCELLED to who is being answered, which no other fault explains.
  const bool stops_in_order =
      std::ranges::any_of(job.plan.timed, [](const TimedFault& fault) { return fault.in_order; });
  if (!draws.Chance(6) || stops_in_order || job.workload.kind == WorkloadKind::kEvaluation) return false;
  const sim::WorkloadSpec trained = std::exchange(job.workload, {});
  sim::WorkloadSpec& workload = job.workload;
  workload.kind = WorkloadKind::kConversation;
  workload.last_step = CountOf(job, "worker") > 3 ? 20 : draws.Between(40, 120);
  workload.step = trained.step;
  workload.timeout_ms = trained.timeout_ms;
  workload.master = draws.Chance(30) ? "ps:0" : trained.master;
  workload.clients = !workload.master.empty() && draws.Split("clients").Chance(40);
  workload.disk = trained.disk;
  workload.cpu = trained.cpu;
  workload.processors = trained.processors;
  workload.least_boot = trained.least_boot;
  workload.most_boot = trained.most_boot;
  workload.boots = trained.boots;
  workload.sessions = trained.sessions;
  workload.signatures = trained.signatures;
  job.plan.session_calls.clear();  // its calls are those of no monitored session
  job.limit += workload.last_step * workload.step + std::chrono::hours(1);
  if (draws.Chance(35)) {
    job.plan = {.default_link = job.plan.default_link};
    job.plan.default_link.loss = job.plan.default_link.duplication = 0;
    job.no_wait = false;
    return true;
  }
  constexpr std::string_view kMethods[] = {"CleanupAll",      "RegisterGraph", "RunGraph", "CleanupGraph",
                                           "DeregisterGraph", "ExtendSession", "Reset"};
  constexpr RpcFault::Effect kEffects[] = {RpcFault::Effect::kLostRequest, RpcFault::Effect::kLostReply,
                                           RpcFault::Effect::kReset,       RpcFault::Effect::kDelayed,
                                           RpcFault::Effect::kDuplicated,  RpcFault::Effect::kNeverAnswered};
  for (std::int64_t more = draws.Between(0, 4); more > 0; --more) {
    RpcFault& fault = job.plan.rpcs.emplace_back();
    // Of a graph that grows, and of a reset, only another task's master hears over the network.
    fault.method = kMethods[draws.Below(workload.master.empty() ? 5 : 7)];
    fault.call = draws.Between(1, fault.method == "RunGraph" ? 200 : fault.method == "Reset" ? 6 : 20);
    fault.effect = draws.Pick(kEffects);
    if (fault.effect == RpcFault::Effect::kDelayed) fault.by = Milliseconds(draws.Between(10, 6000));
  }
  return false;
}

void DrawSituation(const Draws& draws, Duration phase, JobSpec& job) {
  for (const Situation& situation : kSituations) {
    Draws own = draws.Split(situation.name);
    if (!situation.suits(job) || !own.Chance(situation.percent)) continue;
    job.plan = {.default_link = job.plan.default_link, .links = std::move(job.plan.links)};
    return situation.draw(own, phase, job);
  }
}

}  // namespace vigil::properties
