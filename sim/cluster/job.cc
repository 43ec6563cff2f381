#include "vigil/sim/cluster/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/client/cluster_session.h"
#include "vigil/core/cluster/cluster_spec.h"
#include "vigil/core/cluster/server/server.h"
#include "vigil/core/env/files.h"
#include "vigil/core/env/notification.h"
#include "vigil/core/ops/ops.h"
#include "vigil/fakes/manual_signals.h"
#include "vigil/sim/cluster/chronicle.h"
#include "vigil/sim/cluster/client_costs.h"
#include "vigil/sim/cluster/facts_recorder.h"
#include "vigil/sim/cluster/held.h"
#include "vigil/sim/cluster/op_costs.h"
#include "vigil/sim/cluster/orphans.h"
#include "vigil/sim/cluster/restore_watch.h"
#include "vigil/sim/cluster/server_watch.h"
#include "vigil/sim/cluster/task_name.h"
#include "vigil/sim/cluster/trainer.h"
#include "vigil/sim/cluster/whole_checkpoints.h"
#include "vigil/sim/node.h"

namespace vigil::sim {

// Of a simulated world.
class WorldChronicle final : public Chronicle {
 public:
  WorldChronicle(World& world, JobHistory& history) : world_(world), history_(history) {}
  Time Now() override { return world_.now(); }
  std::size_t Events() override { return world_.trace().size(); }
  IndexedCheckpoints Checkpoints() override { return LookAtCheckpoints(world_); }
  std::int64_t DamageMet(std::int64_t step) override { return sim::DamageMet(world_, step); }
  void Add(JobMoment moment) override {
    world_.scheduler().Touch(kTraceObject, Access::kWrite);
    history_.push_back(std::move(moment));
  }
  void Became(const TaskFacts&) override {}  // they are the world's own

 private:
  World& world_;
  JobHistory& history_;
};

namespace {

constexpr std::chrono::seconds kPatience{60};  // for sessions to open, before the plan begins all the same
constexpr std::chrono::milliseconds kPoll{20};
constexpr std::chrono::minutes kLooks{1};  // how often it is looked what servers hold
// After the last training task: longer than servers wait for one another's answers.
constexpr std::chrono::minutes kSoon{1};
constexpr std::chrono::minutes kRest{8};

// What goes with a program, also when that is killed.
template <typename T>
struct SetBack {
  T*& pointer;
  ~SetBack() { pointer = nullptr; }
};

std::string AddressOf(std::string_view job, int index) { return fmt::format("{}-{}.sim:2222", job, index); }

// "chief:0" of the node "chief:0~2".
std::string TaskOf(const std::string& node) { return node.substr(0, node.find('~')); }

// Which lives of a task were on that node.
std::vector<int> LivesOn(const std::string& node, const TaskFacts& task) {
  std::vector<int> lives;
  for (std::size_t i = 0; i < task.nodes.size(); ++i) {
    if (task.nodes[i] == node) lives.push_back(static_cast<int>(i) + 1);
  }
  return lives;
}

bool BringsElsewhere(const TimedFault& fault) {
  return fault.kind == TimedFault::Kind::kZombie ||
         (fault.kind == TimedFault::Kind::kCrash && fault.elsewhere.has_value());
}

ClusterSpec ClusterOf(const JobSpec& spec) {
  ClusterSpec::Jobs jobs;
  for (const auto& [job, count] : spec.tasks) {
    if (job == kEvaluatorJob || (spec.workload.clients && job != "ps")) continue;
    std::vector<std::string> addresses;
    for (int i = 0; i < count; ++i) addresses.push_back(AddressOf(job, i));
    if (!addresses.empty()) jobs[job] = addresses;
  }
  absl::StatusOr<ClusterSpec> cluster = ClusterSpec::Create(jobs);
  VIGIL_CHECK(cluster.ok());
  return *std::move(cluster);
}

using ChooseLabel = std::function<std::size_t(std::span<const std::string_view>)>;

// One of these, known by its whole milliseconds. The first is the calm choice.
Duration OneOf(const std::vector<Duration>& times, const ChooseLabel& choose) {
  std::vector<std::string> texts;
  for (const Duration time : times)
    texts.push_back(fmt::format("{}ms", std::chrono::floor<std::chrono::milliseconds>(time).count()));
  const std::vector<std::string_view> labels(texts.begin(), texts.end());
  return times[choose(labels)];
}

// The disks and the processors of a cluster are not alike.
Duration SpeedOf(World& world, const std::string& node, std::string_view part, Duration typical) {
  constexpr std::array<std::string_view, 3> kLabels = {"as others", "faster", "slower"};
  constexpr std::array<int, 3> kQuarters = {4, 1, 12};
  return typical * kQuarters[world.Choose(node, part, "speed", kLabels)] / 4;
}

}  // namespace

struct Job::Impl {
  struct Member;
  // A machine that a task is on, or may come to.
  struct Machine {
    Machine(Member& owner, Node& own) : member(owner), node(own) {}
    Member& member;
    Node& node;
    const Server* server = nullptr;           // while it lives
    FactsRecorder* recorder = nullptr;        // of the program, while it runs
    Notification* stop = nullptr;             // of a parameter server: tells it to end, while it serves
    fakes::ManualSignals* signals = nullptr;  // of one that trains and will be told to stop, while it does
    std::unique_ptr<OpRegistry> ops;          // of its servers, where its ledger is watched
    std::unique_ptr<OpRegistry> own_ops;      // ... and of what its program runs by itself, if it saves so
  };
  // One task of the cluster over all its lives.
  struct Member {
    std::string name;
    JobTaskName split;
    std::deque<Machine> machines;
    Machine* machine = nullptr;  // where its newest process is
    bool trains = false;
    bool late = false;     // starts by the plan only
    bool started = false;  // at least once
    bool ended = false;    // its program has returned
    bool opened = false;
    TaskFacts facts;
  };

  Impl(World& w, const JobSpec& s, const JobOptions& o) : world(w), spec(s), options(o), cluster(ClusterOf(s)) {}

  void AddNodes();
  Machine& AddMachine(Member& member, Node& node);
  const OpRegistry* OpsOf(const Machine& machine) const;
  void WatchLedger(Machine& machine);
  void Boot(Node& node);
  void Start(Machine& machine);
  void Live(Machine& machine, const Env& env);
  absl::Status Program(Machine& machine, const Env& env, FactsRecorder& recorder);
  std::string TargetOf(const Member& member, const Server* own) const;  // of its sessions
  Duration BootTime(const Machine& machine);
  // What the conductor asks of them: whether they have begun, opened a session, ended.
  void TouchMembers(Access access) { world.scheduler().Touch(NamedObject("members", {}), access); }
  void Conduct();
  static void NoteTasksLeft(const Machine& machine, const Server* server, const Env& env, FactsRecorder& recorder);
  bool TellToStop(const Node& node);
  static void ServeUntilTold(Machine& machine, const Env& env, Server& server, FactsRecorder& recorder);
  void WaitUntil(const std::function<bool()>& met, Duration patience);
  bool AnyTrains() const;
  void LookAtRest(Duration later, JobMoment::Kind kind);
  // As one look: its numbers are of one moment, and its server does not go meanwhile.
  Server::Load LoadOf(const Server& server) {
    const Scheduler::Undisturbed whole(world.scheduler());
    return server.load();
  }
  std::size_t InLineOf(const Server& server) {
    const Scheduler::Undisturbed whole(world.scheduler());
    return server.InLine();
  }
  void LookForOrphans();
  void Finish();

  World& world;
  const JobSpec spec;
  const JobOptions options;
  const ClusterSpec cluster;
  std::map<std::string, Member, std::less<>> members;
  std::unique_ptr<FaultApplier> applier;
  Orphans orphans;
  JobHistory history;
  WorldChronicle chronicle{world, history};
  JobFacts facts;  // at the end
  Node* conductor = nullptr;
};

void Job::Impl::AddNodes() {
  FaultApplier::Tasks nodes;
  for (const std::string& name : TaskNames(spec)) {
    Member& member = members[name];
    member.name = name;
    member.split = SplitTaskName(name);
    member.trains = member.split.job != "ps";
    if (member.split.job != kEvaluatorJob)
      world.network().NameAddress(AddressOf(member.split.job, member.split.index), name);
    member.machine = &AddMachine(member, world.AddNode(name));
    nodes[name] = &member.machine->node;
  }
  FaultApplier::Spares spares;
  for (const TimedFault& fault : spec.plan.timed) {
    if (!BringsElsewhere(fault)) continue;
    Member& member = members.find(fault.task)->second;
    Node& node = world.AddNode(fmt::format("{}~{}", fault.task, member.machines.size() + 1));
    node.set_task(fault.task);
    AddMachine(member, node);
    spares[fault.task].push_back(&node);
  }
  applier = std::make_unique<FaultApplier>(
      world, std::move(nodes), spec.plan, [this](Node& node) { Boot(node); }, std::move(spares),
      [this](Node& node) { return TellToStop(node); });
  for (auto& [name, member] : members) member.late = applier->StartsLate(name);
  conductor = &world.AddNode("conductor");
  conductor->Spawn("main", [this] { Conduct(); });
}

Job::Impl::Machine& Job::Impl::AddMachine(Member& member, Node& node) {
  Machine& machine = member.machines.emplace_back(member, node);
  if (spec.workload.disk > Duration::zero())
    node.set_disk_time(SpeedOf(world, node.name(), "disk", spec.workload.disk));
  if (spec.workload.cpu > Duration::zero()) {
    node.set_cpu_time(SpeedOf(world, node.name(), "cpu", spec.workload.cpu));
    node.set_processors(static_cast<std::size_t>(spec.workload.processors));
  }
  if (options.ledger && member.split.job != kEvaluatorJob) WatchLedger(machine);
  if (spec.workload.cpu > Duration::zero())
    machine.ops = WithCosts(*OpsOf(machine), [&node](std::uint64_t bytes) { node.Work(bytes); });
  return machine;
}

// What its servers run.
const OpRegistry* Job::Impl::OpsOf(const Machine& machine) const {
  if (machine.ops != nullptr) return machine.ops.get();
  return options.ops == nullptr ? &BuiltinOps() : options.ops;
}

void Job::Impl::WatchLedger(Machine& machine) {
  const auto process = [this, &machine](std::string_view server) -> WatchedProcess {
    const Machine& its = server.empty() ? machine : *members.find(server)->second.machine;
    if (its.recorder != nullptr) return {its.recorder->task(), its.recorder->life()};
    return {its.member.name, its.member.facts.lives};
  };
  const auto next_call = [this] { return static_cast<std::int64_t>(history.size()); };
  const ServerWatch watch{.chronicle = chronicle, .process = process, .next_call = next_call};
  machine.ops = WatchServer(*OpsOf(machine), watch);
  // What else a trainer runs by itself writes nothing.
  if (machine.member.trains && spec.workload.async_saves) machine.own_ops = WatchServer(BuiltinOps(), watch);
}

void Job::Impl::Boot(Node& node) {
  Member& member = members.find(node.task())->second;
  Machine& before = *member.machine;
  for (Machine& machine : member.machines) {
    if (&machine.node == &node) member.machine = &machine;
  }
  // On another machine the old process may live on.
  if (member.machine != &before && before.recorder != nullptr && !before.node.killed()) before.recorder->Replaced();
  Start(*member.machine);
}

void Job::Impl::Start(Machine& machine) {
  TouchMembers(Access::kWrite);
  machine.member.started = true;
  machine.member.ended = false;
  machine.node.Spawn("main", [this, &machine] { Live(machine, machine.node.env()); });
}

// One of those that were measured; or from the least to the most in a few steps of whole milliseconds, as the labels
// say. The least is the calm choice.
Duration Job::Impl::BootTime(const Machine& machine) {
  constexpr std::int64_t kSteps = 5;
  const WorkloadSpec& workload = spec.workload;
  std::vector<Duration> times = workload.boots;
  if (times.empty()) {
    if (workload.most_boot <= workload.least_boot) return workload.least_boot;
    const Duration range = workload.most_boot - workload.least_boot;
    for (std::int64_t i = 0; i < kSteps; ++i)
      times.push_back(std::chrono::floor<std::chrono::milliseconds>(workload.least_boot + range * i / (kSteps - 1)));
  }
  return OneOf(times, [&](std::span<const std::string_view> labels) {
    return world.Choose(machine.node.name(), "main", "boot", labels);
  });
}

void Job::Impl::Live(Machine& machine, const Env& env) {
  Member& member = machine.member;
  FactsRecorder recorder(member.name, machine.node.name(), member.facts, chronicle, env.events);
  machine.recorder = &recorder;
  const SetBack<FactsRecorder> over{machine.recorder};
  Env own = env;
  own.events = &recorder;
  const absl::Status status = Program(machine, own, recorder);
  world.scheduler().KilledCall();  // a fault may have struck as it sent its last words: then it has not ended by itself
  recorder.Ended(status);
  TouchMembers(Access::kWrite);
  if (member.machine == &machine) member.ended = true;
  machine.node.Kill();  // the process ends with its program, whatever else it has started
}

// What a server does for others, or beside its requests, as in ending a step that has failed, may end a moment after
// the program: whoever waits for nothing, and has stood still a few times at the most, has ended then.
void Job::Impl::NoteTasksLeft(const Machine& machine, const Server* server, const Env& env, FactsRecorder& recorder) {
  constexpr std::chrono::seconds kMoment{3};
  const Server::Load load = server != nullptr ? server->load() : Server::Load{};
  for (const std::string& task : ProgramTasks(machine.node.TaskNames(), load)) recorder.TaskLeft(task);
  if (load.under_way.empty()) return;
  env.tasks->SleepUntil(DeadlineAfter(env, kMoment));
  for (const std::string& task : machine.node.TaskNames()) {
    if (IsOfServer(task, load)) recorder.TaskLeft(task);
  }
}

bool Job::Impl::TellToStop(const Node& node) {
  Member& member = members.find(node.task())->second;
  Machine& machine = *member.machine;
  if (&machine.node != &node || (machine.stop == nullptr && machine.signals == nullptr)) return false;
  machine.node.Spawn("stop", [&machine] {
    if (machine.stop != nullptr) machine.stop->Notify();
    if (machine.signals == nullptr) return;
    machine.recorder->ToldToStop();
    machine.signals->Raise();
  });
  return true;
}

void Job::Impl::ServeUntilTold(Machine& machine, const Env& env, Server& server, FactsRecorder& recorder) {
  Notification told(*env.tasks, "told to stop");
  machine.stop = &told;
  const SetBack<Notification> over{machine.stop};
  told.Wait(kNever);
  recorder.ToldToStop();
  server.Stop();
  recorder.HasStopped(Held(server.load(), {}));
  NoteTasksLeft(machine, nullptr, env, recorder);
}

std::string Job::Impl::TargetOf(const Member& member, const Server* own) const {
  if (member.split.job == kEvaluatorJob) return "";
  if (spec.workload.master.empty()) return own->target();
  const JobTaskName master = SplitTaskName(spec.workload.master);
  return "grpc://" + AddressOf(master.job, master.index);
}

absl::Status Job::Impl::Program(Machine& machine, const Env& env, FactsRecorder& recorder) {
  Member& member = machine.member;
  const Time started = env.clock->Monotonic();
  env.tasks->SleepUntil(DeadlineAfter(env, machine.node.Takes(BootTime(machine))));
  std::unique_ptr<Server> server;
  if (!member.trains || (member.split.job != kEvaluatorJob && !spec.workload.clients)) {
    VIGIL_ASSIGN_OR_RETURN(server, Server::Create(env, {.cluster = cluster,
                                                        .job_name = member.split.job,
                                                        .task_index = member.split.index,
                                                        .start_number = static_cast<std::uint64_t>(recorder.life()),
                                                        .ops = OpsOf(machine)}));
    recorder.Serving();
    machine.server = server.get();
  }
  const SetBack<const Server> gone{machine.server};
  if (!member.trains) {
    ServeUntilTold(machine, env, *server, recorder);
    return absl::OkStatus();
  }
  const DrawTime drawn = [this](std::string_view point, const std::vector<Duration>& times) {
    return OneOf(times, [&](std::span<const std::string_view> labels) { return world.Choose(point, labels); });
  };
  const auto costly = NewCostlyFactory(env, std::make_shared<ClusterSessionFactory>(env), spec.workload, drawn);
  const auto factory = WatchRestores(applier->Decorate(member.name, costly),
                                     [&recorder](std::int64_t step) { recorder.Restoring(step); });
  // Who trains listens to signals only where one will come: jobs without it stay what they are.
  fakes::ManualSignals signals;
  Env listening = env;
  if (IsToldToStop(spec.plan, member.name)) {
    listening.signals = &signals;
    machine.signals = &signals;
  }
  const SetBack<fakes::ManualSignals> no_more{machine.signals};
  const absl::Status trained = Train({.env = listening,
                                      .job = spec,
                                      .cluster = cluster,
                                      .job_name = member.split.job,
                                      .index = member.split.index,
                                      .ops = machine.own_ops == nullptr ? BuiltinOps() : *machine.own_ops,
                                      .target = TargetOf(member, server.get()),
                                      .factory = factory,
                                      .behaviour = options.behaviour,
                                      .seed = options.seed,
                                      .ledger = options.ledger,
                                      .checkpoint_dir = kCheckpoints,
                                      .started = started,
                                      .opened =
                                          [this, &member] {
                                            TouchMembers(Access::kWrite);
                                            member.opened = true;
                                          },
                                      .recorder = recorder,
                                      .takes = [&machine](Duration work) { return machine.node.Takes(work); }});
  NoteTasksLeft(machine, server.get(), env, recorder);
  if (server != nullptr) {
    const Server::Load load = LoadOf(*server);  // first: others may add to the history while it is counted
    const std::size_t tasks = ProgramTasks(machine.node.TaskNames(), load).size();
    recorder.AtRest(Held(load, {.requests = false, .tasks = tasks}), static_cast<std::int64_t>(load.graphs));
  }
  return trained;
}

void Job::Impl::WaitUntil(const std::function<bool()>& met, Duration patience) {
  const Env& env = conductor->env();
  const Time deadline = DeadlineAfter(env, patience);
  const auto look = [&] {
    TouchMembers(Access::kRead);
    return met();
  };
  while (!look() && env.clock->Monotonic() < deadline) env.tasks->SleepUntil(DeadlineAfter(env, kPoll));
}

bool Job::Impl::AnyTrains() const {
  return std::ranges::any_of(members, [this](const auto& entry) {
    const Member& member = entry.second;
    if (!member.trains || !member.started || member.ended) return false;
    return !member.machine->node.killed() || applier->ComesBack(member.name);
  });
}

void Job::Impl::Conduct() {
  const Env& env = conductor->env();
  const auto start = [this](bool workers) {
    for (auto& [name, member] : members) {
      if (!member.late && (member.split.job == "worker" || member.split.job == kEvaluatorJob) == workers)
        Start(*member.machine);
    }
  };
  start(false);
  if (!spec.no_wait) {
    Member& chief = members.find("chief:0")->second;
    WaitUntil([&] { return chief.opened || chief.late; }, kPatience);
  }
  start(true);
  if (!spec.no_wait) {
    WaitUntil(
        [&] {
          return std::ranges::all_of(members, [](const auto& entry) {
            return !entry.second.trains || entry.second.late || entry.second.opened;
          });
        },
        kPatience);
  }
  world.scheduler().TouchEverything();
  history.push_back({.at = world.now(), .kind = JobMoment::Kind::kBegin});
  const Time begin = env.clock->Monotonic();
  const Time limit = begin + spec.limit;
  applier->Begin();
  env.tasks->SleepUntil(std::min(limit, begin + applier->LastStart()));
  const bool healed = spec.heal_after.has_value() && AnyTrains();
  if (healed) {
    env.tasks->SleepUntil(std::min(limit, begin + *spec.heal_after));
    world.scheduler().TouchEverything();
    applier->HealAll();
    history.push_back({.at = world.now(), .kind = JobMoment::Kind::kHealed});
  }
  Time look = env.clock->Monotonic();
  const auto over = [&] {
    if (healed && env.clock->Monotonic() >= look) {
      LookForOrphans();
      look = DeadlineAfter(env, kLooks);
    }
    return !AnyTrains();
  };
  WaitUntil(over, limit - env.clock->Monotonic());
  Finish();
  if (healed && !AnyTrains()) {
    LookAtRest(kSoon, JobMoment::Kind::kAtRestSoon);
    LookAtRest(kRest - kSoon, JobMoment::Kind::kAtRest);
    for (UnheardRequest& request : world.network().Unheard()) {
      const std::string sender = TaskOf(request.from);
      facts.unheard.push_back({.sender = sender,
                               .lives = LivesOn(request.from, members.find(sender)->second.facts),
                               .server = TaskOf(request.to),
                               .method = std::move(request.method),
                               .sent = world.options().start + request.sent});
    }
  }
  world.Stop();
}

// When nobody is left who asks for anything, and nothing disturbs any more, servers let go of everything.
void Job::Impl::LookAtRest(Duration later, JobMoment::Kind kind) {
  const Env& env = conductor->env();
  env.tasks->SleepUntil(DeadlineAfter(env, later));
  world.scheduler().TouchEverything();
  for (const auto& [name, member] : members) {
    if (member.machine->server == nullptr || member.machine->node.killed()) continue;
    const Server::Load load = LoadOf(*member.machine->server);
    history.push_back(
        {.at = world.now(),
         .task = name,
         .life = member.facts.lives,
         .kind = kind,
         .step = static_cast<std::int64_t>(load.graphs),
         .subject = Held(load, {.open_files = member.machine->node.open_files(),
                                .bytes_in_flight = world.network().BytesInFlight(member.machine->node.name()),
                                .in_line = InLineOf(*member.machine->server)})});
  }
}

void Job::Impl::LookForOrphans() {
  world.scheduler().TouchEverything();
  std::map<std::string, Server::Load> servers;
  for (const auto& [name, member] : members) {
    if (member.machine->server == nullptr || member.machine->node.killed()) continue;
    servers[name] = LoadOf(*member.machine->server);
  }
  for (const auto& [task, found] : orphans.Look(servers, world.now())) {
    history.push_back({.at = world.now(),
                       .task = task,
                       .life = members.find(task)->second.facts.lives,
                       .kind = JobMoment::Kind::kHolds,
                       .overdue = std::make_shared<const Overdue>(found)});
  }
}

// What is there when the world ends: the nodes die with it.
void Job::Impl::Finish() {
  world.scheduler().TouchEverything();
  for (const auto& [name, member] : members) {
    if (!member.trains) continue;
    TaskFacts& task = facts.tasks[name] = member.facts;
    if (!member.ended && member.started && member.machine->node.killed()) task.outcome = "killed";
  }
  IndexedCheckpoints found = LookAtCheckpoints(world);
  facts.checkpoints = std::move(found.whole);
  facts.incomplete = std::move(found.incomplete);
  facts.half_deleted = HalfDeletedCheckpoints(world);
  facts.rotten = RottenCheckpoints(world);
  facts.state_file_rotten = StateFileHasRotted(world);
  facts.rotten_state_file_names = NamedByRottenStateFile(world);
  facts.restores_without_loss = RestoresWithoutLoss(history);
  if (!facts.checkpoints.empty()) {
    facts.newest_checkpoint = facts.checkpoints.back();
    // What has diverged may have been saved before anybody saw it.
    if (spec.workload.nan_batch == 0)
      facts.final_loss = LossInCheckpoint(world, facts.checkpoints.back(), options.seed);
  }
  const FaultTallies tallies = applier->Tallies();
  for (const FaultKindInfo& info : AllFaultKinds()) {
    const FaultTally& tally = tallies[info.kind];
    if (tally.planned == 0) continue;
    facts.faults.push_back({std::string(info.name), tally.planned, tally.fired, tally.effective});
  }
  facts.inert = applier->Inert();
  facts.virtual_time = world.now() - world.options().start;
  facts.messages = static_cast<std::uint64_t>(world.network().counts().sent);
}

// One patience for the chief's session, one for all others.
Duration LongestWorld(const JobSpec& spec) { return 2 * kPatience + spec.limit + kRest + std::chrono::minutes(1); }

Job::Job(World& world, const JobSpec& spec, const JobOptions& options)
    : impl_(std::make_unique<Impl>(world, spec, options)) {
  impl_->AddNodes();
}
Job::~Job() = default;

JobFacts Job::Facts() const { return impl_->facts; }
const JobHistory& Job::history() const { return impl_->history; }
const Node& Job::node(std::string_view task) const { return impl_->members.find(task)->second.machine->node; }
const std::vector<FaultApplier::Entry>& Job::fault_history() const { return impl_->applier->history(); }
std::vector<FaultApplier::DiskEntry> Job::disk_fault_history() const { return impl_->applier->DiskHistory(); }

}  // namespace vigil::sim
