#include "vigil/replays/real/real_job.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/files.h"
#include "vigil/core/env/real/posix_files.h"
#include "vigil/core/env/real/system_clock.h"
#include "vigil/core/env/real/threads.h"
#include "vigil/replays/format/print.h"
#include "vigil/replays/real/relay.h"
#include "vigil/replays/real/stalls.h"
#include "vigil/replays/real/task_process.h"
#include "vigil/replays/stage/behaviour.h"
#include "vigil/sim/cluster/task_name.h"
#include "vigil/sim/cluster/whole_checkpoints.h"
#include "vigil/sim/fault_applier.h"
#include "vigil/sim/faults/fault_kinds.h"
#include "vigil/sim/workloads/draws.h"

namespace vigil::replays {
namespace {

using sim::JobMoment;
using sim::TimedFault;

constexpr std::chrono::seconds kPatience{60};  // for sessions to open, before the plan begins all the same
constexpr std::chrono::milliseconds kTick{20};
constexpr std::chrono::milliseconds kLastWords{300};
constexpr std::size_t kMostErrorText = 2000;

// One task over all its lives.
struct Member {
  std::string name;
  sim::JobTaskName split;
  int number = 0;
  bool trains = false;
  bool late = false;    // starts by the plan only
  bool opened = false;  // a session
  bool killed = false;  // by the plan, and not started since
  bool back = false;    // ... but will be; or will be for the first time
  sim::TaskFacts facts;
  std::unique_ptr<TaskProcess> process;  // of its last life; null: there was none
};

// Looks for stalls until it is destroyed or told to end.
class StallWatch {
 public:
  StallWatch(Clock& clock, Files& files, const std::string& folder)
      : clock_(clock), stalls_(clock, files, JoinPath(folder, "looks")), task_(threads_.Spawn("stalls", [this] {
          while (!over_) {
            stalls_.Look();
            threads_.SleepUntil(clock_.Monotonic() + Stalls::kBetweenLooks);
          }
        })) {}
  ~StallWatch() { End(); }
  const Stalls& End() {
    over_ = true;
    task_->Join(kNever);
    return stalls_;
  }

 private:
  Clock& clock_;
  Threads threads_;
  Stalls stalls_;
  std::atomic<bool> over_ = false;
  const std::unique_ptr<Task> task_;
};

class RealJob {
 public:
  RealJob(const Scenario& scenario, const RealJobOptions& options)
      : scenario_(scenario), job_(*scenario.job), options_(options), boots_(scenario.seed, 0x626f6f74) {}

  absl::StatusOr<RealJobRun> Play();

 private:
  using Ends = std::pair<std::string, std::string>;  // who goes to whom
  struct Action {
    Time at;
    std::function<absl::Status()> act;
  };

  absl::Status SetUp();
  absl::Status Relayed(const std::string& one, const std::string& other);
  absl::Status Start(Member& member);
  Duration Boot();
  std::map<std::string, std::vector<std::string>> ClusterFor(const Member& member) const;
  std::string Address(const Member& from, const Member& to) const;
  std::vector<Action> Actions(Time begin);
  void AddCut(const TimedFault& fault, Time at, std::vector<Action>& actions);
  void AddCrash(const TimedFault& fault, Time at, std::vector<Action>& actions);
  void Fired(const TimedFault& fault);

  // Hears and passes on until then, or until it is met.
  absl::Status Wait(const std::function<bool()>& met, Time deadline);
  absl::Status Heal(Time at);
  absl::Status Hear(Member& member);
  absl::Status LookAtEnd(Member& member);
  std::string LastWords(const Member& member);
  bool Interrupted() const { return options_.interrupt != nullptr && *options_.interrupt; }
  bool Runs(const Member& member) const { return member.process != nullptr && !member.process->ended().has_value(); }
  bool AnyTrains() const;
  Member& Of(std::string_view task) { return members_.find(task)->second; }
  Time Now() { return clock_.Monotonic(); }
  void Gather(const Stalls& stalls);

  const Scenario& scenario_;
  const sim::JobSpec& job_;
  const RealJobOptions& options_;
  sim::Draws boots_;
  SystemClock clock_;
  PosixFiles files_;
  std::map<std::string, HeldPort, std::less<>> ports_;
  std::map<Ends, std::unique_ptr<Relay>> relays_;
  std::map<std::string, Member, std::less<>> members_;
  std::map<sim::FaultKind, sim::FaultTally> tallies_;
  RealJobRun run_;
};

std::string CheckpointsIn(const std::string& folder) { return JoinPath(folder, "checkpoints"); }
std::string ErrorsOf(const std::string& folder, std::string_view task) {
  std::string name(task);
  std::ranges::replace(name, ':', '-');
  return JoinPath(folder, name + ".log");
}

absl::Status RealJob::SetUp() {
  int number = 0;
  for (const std::string& name : sim::TaskNames(job_)) {
    Member& member = members_[name];
    member.name = name;
    member.split = sim::SplitTaskName(name);
    member.number = number++;
    member.trains = member.split.job != "ps";
    if (member.split.job == sim::kEvaluatorJob) continue;
    VIGIL_ASSIGN_OR_RETURN(HeldPort port, HeldPort::Create());
    ports_.emplace(name, std::move(port));
  }
  for (const TimedFault& fault : job_.plan.timed) {
    if (fault.kind == TimedFault::Kind::kStart) Of(fault.task).late = true;
    if (fault.peer.empty()) continue;
    VIGIL_RETURN_IF_ERROR(Relayed(fault.task, fault.peer));
    VIGIL_RETURN_IF_ERROR(Relayed(fault.peer, fault.task));
  }
  return absl::OkStatus();
}

absl::Status RealJob::Relayed(const std::string& one, const std::string& other) {
  const auto port = ports_.find(other);
  if (port == ports_.end()) return absl::OkStatus();  // nobody goes to it
  std::unique_ptr<Relay>& relay = relays_[{one, other}];
  if (relay != nullptr) return absl::OkStatus();
  VIGIL_ASSIGN_OR_RETURN(relay, Relay::Create(port->second.number()));
  return absl::OkStatus();
}

std::string RealJob::Address(const Member& from, const Member& to) const {
  const auto relay = relays_.find({from.name, to.name});
  return fmt::format("127.0.0.1:{}",
                     relay == relays_.end() ? ports_.find(to.name)->second.number() : relay->second->port());
}

std::map<std::string, std::vector<std::string>> RealJob::ClusterFor(const Member& member) const {
  std::map<std::string, std::vector<std::string>> cluster;
  for (const auto& [name, other] : members_) {
    if (other.split.job == sim::kEvaluatorJob) continue;
    std::vector<std::string>& tasks = cluster[other.split.job];
    const auto index = static_cast<std::size_t>(other.split.index);
    tasks.resize(std::max(tasks.size(), index + 1));
    tasks[index] = Address(member, other);
  }
  return cluster;
}

// What a program does before it has a server: TensorFlow's are imported.
Duration RealJob::Boot() {
  const std::vector<Duration>& measured = job_.workload.boots;
  if (!measured.empty()) return measured[boots_.Next() % measured.size()];
  const Duration least = job_.workload.least_boot;
  const Duration range = std::max(Duration::zero(), job_.workload.most_boot - least);
  return least + std::chrono::milliseconds(
                     boots_.Next() %
                     static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::milliseconds>(range).count() + 1));
}

absl::Status RealJob::Start(Member& member) {
  // What the one before has said counts for this one.
  if (member.process != nullptr) VIGIL_RETURN_IF_ERROR(Hear(member));
  TaskOrders orders{.scenario = PrintRecord(scenario_),
                    .task = member.name,
                    .number = member.number,
                    .cluster = ClusterFor(member),
                    .checkpoint_dir = CheckpointsIn(options_.folder),
                    .boot = Boot(),
                    .plant = options_.plant,
                    .facts = member.facts};
  if (!job_.workload.master.empty()) orders.target = "grpc://" + Address(member, Of(job_.workload.master));
  VIGIL_ASSIGN_OR_RETURN(member.process,
                         TaskProcess::Start(options_.program, ErrorsOf(options_.folder, member.name), orders));
  member.killed = false;
  return absl::OkStatus();
}

void RealJob::Fired(const TimedFault& fault) {
  for (const sim::FaultKind kind : sim::KindsOf(fault)) {
    ++tallies_[kind].fired;
    ++tallies_[kind].effective;
  }
}

void RealJob::AddCrash(const TimedFault& fault, Time at, std::vector<Action>& actions) {
  const Time dies = at + (LikeTensorFlow(scenario_.behaviour) ? sim::kDying : std::chrono::milliseconds(0));
  if (dies > at) {
    actions.push_back({at, [this, &fault] {
                         if (Runs(Of(fault.task))) Of(fault.task).process->Stop();
                         return absl::OkStatus();
                       }});
  }
  actions.push_back({dies, [this, &fault] {
                       Member& member = Of(fault.task);
                       if (!Runs(member)) return absl::OkStatus();
                       Fired(fault);
                       member.process->Kill();
                       member.killed = true;
                       member.back = fault.restart_after.has_value();
                       return absl::OkStatus();
                     }});
  if (!fault.restart_after.has_value()) return;
  actions.push_back({std::max(dies, at + *fault.restart_after), [this, &fault] {
                       Member& member = Of(fault.task);
                       member.back = false;
                       return member.killed ? Start(member) : absl::OkStatus();
                     }});
}

void RealJob::AddCut(const TimedFault& fault, Time at, std::vector<Action>& actions) {
  const auto set = [this, &fault](Relay::Mode mode) {
    for (const Ends& ends : {Ends(fault.task, fault.peer), Ends(fault.peer, fault.task)}) {
      if (const auto relay = relays_.find(ends); relay != relays_.end()) relay->second->Set(mode);
    }
    return absl::OkStatus();
  };
  const auto mode = fault.kind == TimedFault::Kind::kCut ? Relay::Mode::kCut : Relay::Mode::kSilent;
  actions.push_back({at, [this, &fault, set, mode] {
                       Fired(fault);
                       return set(mode);
                     }});
  if (fault.lasts.has_value()) actions.push_back({at + *fault.lasts, [set] { return set(Relay::Mode::kOpen); }});
}

std::vector<RealJob::Action> RealJob::Actions(Time begin) {
  std::vector<Action> actions;
  for (const TimedFault& fault : job_.plan.timed) {
    for (const sim::FaultKind kind : sim::KindsOf(fault)) ++tallies_[kind].planned;
    const Time at = begin + fault.at;
    if (fault.kind == TimedFault::Kind::kCrash) AddCrash(fault, at, actions);
    if (!fault.peer.empty()) AddCut(fault, at, actions);
    if (fault.kind == TimedFault::Kind::kStart) {
      Of(fault.task).back = true;
      actions.push_back({at, [this, &fault] {
                           Fired(fault);
                           Of(fault.task).back = false;
                           return Start(Of(fault.task));
                         }});
    }
    if (fault.kind == TimedFault::Kind::kPause) {
      actions.push_back({at, [this, &fault] {
                           if (!Runs(Of(fault.task))) return absl::OkStatus();
                           Fired(fault);
                           Of(fault.task).process->Stop();
                           return absl::OkStatus();
                         }});
      if (!fault.lasts.has_value()) continue;
      actions.push_back({at + *fault.lasts, [this, &fault] {
                           if (Of(fault.task).process != nullptr) Of(fault.task).process->Continue();
                           return absl::OkStatus();
                         }});
    }
  }
  std::ranges::stable_sort(actions, {}, &Action::at);
  return actions;
}

absl::Status RealJob::Hear(Member& member) {
  return member.process->Hear([this, &member](TaskWord word) {
    if (word.facts.has_value()) member.facts = *std::move(word.facts);
    if (!word.moment.has_value()) return;
    if (word.moment->kind == JobMoment::Kind::kOpened) member.opened = true;
    run_.history.push_back(*std::move(word.moment));
  });
}

std::string RealJob::LastWords(const Member& member) {
  const absl::StatusOr<std::string> text = ReadAll(files_, ErrorsOf(options_.folder, member.name));
  if (!text.ok() || text->empty()) return "it has said nothing";
  return "its last words: " + text->substr(text->size() - std::min(text->size(), kMostErrorText));
}

// A process ends by its own program, or since it was killed by the plan.
absl::Status RealJob::LookAtEnd(Member& member) {
  if (member.process == nullptr || member.killed) return absl::OkStatus();
  const std::optional<int> ended = member.process->ended();
  if (!ended.has_value()) return absl::OkStatus();
  VIGIL_RETURN_IF_ERROR(Hear(member));
  if (member.facts.outcome != "running" && *ended == 0) return absl::OkStatus();
  return MakeStatus(Code::kInternal,
                    fmt::format("the process of {} {}; {}", member.name,
                                *ended < 0 ? fmt::format("died of signal {}", -*ended)
                                           : fmt::format("exited with {}, before its program's end", *ended),
                                LastWords(member)));
}

absl::Status RealJob::Wait(const std::function<bool()>& met, Time deadline) {
  while (!Interrupted() && !met() && Now() < deadline) {
    std::vector<pollfd> waits;
    for (const auto& [name, member] : members_) {
      if (member.process != nullptr && member.process->words() >= 0)
        waits.push_back({.fd = member.process->words(), .events = POLLIN, .revents = 0});
    }
    for (const auto& [ends, relay] : relays_) relay->AddTo(waits);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Now());
    poll(waits.data(), waits.size(), static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, kTick.count())));
    for (const auto& [ends, relay] : relays_) relay->Work();
    for (auto& [name, member] : members_) {
      if (member.process != nullptr) VIGIL_RETURN_IF_ERROR(Hear(member));
      VIGIL_RETURN_IF_ERROR(LookAtEnd(member));
    }
  }
  return absl::OkStatus();
}

bool RealJob::AnyTrains() const {
  return std::ranges::any_of(members_, [this](const auto& entry) {
    const Member& member = entry.second;
    return member.trains && (Runs(member) || (member.back && (member.killed || member.process == nullptr)));
  });
}

absl::StatusOr<RealJobRun> RealJob::Play() {
  VIGIL_RETURN_IF_ERROR(SetUp());
  StallWatch watch(clock_, files_, options_.folder);
  const Time started = Now();
  const auto start = [this](bool workers) -> absl::Status {
    for (auto& [name, member] : members_) {
      const bool later = member.split.job == "worker" || member.split.job == sim::kEvaluatorJob;
      if (!member.late && later == workers) VIGIL_RETURN_IF_ERROR(Start(member));
    }
    return absl::OkStatus();
  };
  VIGIL_RETURN_IF_ERROR(start(false));
  const Member& chief = Of("chief:0");
  if (!job_.no_wait) VIGIL_RETURN_IF_ERROR(Wait([&] { return chief.opened || chief.late; }, Now() + kPatience));
  VIGIL_RETURN_IF_ERROR(start(true));
  const auto all_open = [this] {
    return std::ranges::all_of(
        members_, [](const auto& entry) { return !entry.second.trains || entry.second.late || entry.second.opened; });
  };
  if (!job_.no_wait) VIGIL_RETURN_IF_ERROR(Wait(all_open, Now() + kPatience));
  run_.history.push_back({.at = clock_.Now(), .kind = JobMoment::Kind::kBegin});
  const Time begin = Now();
  const Time limit = begin + job_.limit;
  const Time heals = job_.heal_after.has_value() ? std::min(limit, begin + *job_.heal_after) : limit;
  for (const Action& action : Actions(begin)) {
    VIGIL_RETURN_IF_ERROR(Wait([this] { return !AnyTrains(); }, std::min(heals, action.at)));
    if (Interrupted() || !AnyTrains()) break;  // what comes later strikes nobody
    if (action.at <= heals) VIGIL_RETURN_IF_ERROR(action.act());
  }
  VIGIL_RETURN_IF_ERROR(Heal(heals));
  VIGIL_RETURN_IF_ERROR(Wait([this] { return !AnyTrains(); }, limit));
  VIGIL_RETURN_IF_ERROR(Wait([] { return false; }, Now() + kLastWords));
  run_.interrupted = Interrupted();
  run_.facts.virtual_time = Now() - started;
  Gather(watch.End());
  return std::move(run_);
}

// Then every fault ends, and what would come back is there.
absl::Status RealJob::Heal(Time at) {
  VIGIL_RETURN_IF_ERROR(Wait([this] { return !AnyTrains(); }, at));
  if (!job_.heal_after.has_value() || !AnyTrains() || Interrupted()) return absl::OkStatus();
  for (const auto& [ends, relay] : relays_) relay->Set(Relay::Mode::kOpen);
  for (auto& [name, member] : members_) {
    if (Runs(member)) member.process->Continue();
    if (std::exchange(member.back, false) && !Runs(member)) VIGIL_RETURN_IF_ERROR(Start(member));
  }
  run_.history.push_back({.at = clock_.Now(), .kind = JobMoment::Kind::kHealed});
  return absl::OkStatus();
}

void RealJob::Gather(const Stalls& stalls) {
  std::ranges::stable_sort(run_.history, {}, &JobMoment::at);
  for (auto& [name, member] : members_) {
    const bool killed = member.killed;
    member.process.reset();
    if (!member.trains) continue;
    sim::TaskFacts& facts = run_.facts.tasks[name] = member.facts;
    if (killed && facts.outcome == "running") facts.outcome = "killed";
    facts.machine_still = StillInLongestRun(stalls, run_.history, name);
  }
  for (const auto& [kind, tally] : tallies_) {
    run_.facts.faults.push_back({std::string(sim::InfoOf(kind).name), tally.planned, tally.fired, tally.effective});
  }
  const std::string checkpoints = CheckpointsIn(options_.folder);
  sim::IndexedCheckpoints found = sim::LookAtCheckpoints(files_, checkpoints);
  run_.facts.checkpoints = std::move(found.whole);
  run_.facts.incomplete = std::move(found.incomplete);
  run_.facts.half_deleted = sim::HalfDeletedCheckpoints(files_, checkpoints);
  run_.facts.restores_without_loss = sim::RestoresWithoutLoss(run_.history);
  if (run_.facts.checkpoints.empty()) return;
  run_.facts.newest_checkpoint = run_.facts.checkpoints.back();
  run_.facts.final_loss = sim::LossInCheckpoint(files_, checkpoints, run_.facts.checkpoints.back(), scenario_.seed);
}

std::string WhyNotRealFault(const TimedFault& fault) {
  switch (fault.kind) {
    case TimedFault::Kind::kCrash:
    case TimedFault::Kind::kPause:
    case TimedFault::Kind::kStart:
    case TimedFault::Kind::kCut:
    case TimedFault::Kind::kSilent:
      break;
    default:
      return std::string(sim::InfoOf(sim::KindsOf(fault).front()).name);
  }
  if (fault.point.has_value()) return "a fault at a point of the job's course";
  if (fault.one_way) return "a cut one way";
  if (fault.disk != sim::DiskLoss::kNothing) return "a power cut";
  if (fault.silently || fault.elsewhere.has_value()) return "the death of a machine";
  if (fault.in_order) return "a task that stops in good order";
  return "";
}

}  // namespace

std::string WhyNotReal(const sim::JobSpec& job) {
  const sim::WorkloadSpec& workload = job.workload;
  const sim::FaultPlan& plan = job.plan;
  for (const TimedFault& fault : plan.timed) {
    if (std::string why = WhyNotRealFault(fault); !why.empty()) return why;
  }
  if (!plan.rpcs.empty()) return "faults of single requests";
  if (!plan.disks.empty()) return "faults of disks";
  if (!plan.session_calls.empty()) return "faults of calls on a session";
  if (!plan.links.empty() || plan.default_link != sim::LinkSpec{}) return "links of a quality of their own";
  if (workload.disk > Duration::zero() || workload.cpu > Duration::zero()) return "the time of disks and processors";
  if (workload.clients) return "clients without a server";
  if (workload.diary > Duration::zero()) return "files of a task's own";
  if (workload.nan_batch > 0) return "a loss that becomes NaN";
  return "";
}

absl::StatusOr<RealJobRun> PlayRealJob(const Scenario& scenario, const RealJobOptions& options) {
  VIGIL_CHECK(scenario.job.has_value() && WhyNotReal(*scenario.job).empty());
  return RealJob(scenario, options).Play();
}

}  // namespace vigil::replays
