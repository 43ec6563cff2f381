#include "vigil/sim/cluster/job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/client/cluster_session.h"
#include "vigil/core/cluster/cluster_spec.h"
#include "vigil/core/cluster/server/server.h"
#include "vigil/core/env/files.h"
#include "vigil/core/ops/ops.h"
#include "vigil/sim/cluster/client_costs.h"
#include "vigil/sim/cluster/facts_recorder.h"
#include "vigil/sim/cluster/process_tasks.h"
#include "vigil/sim/cluster/queue_watch.h"
#include "vigil/sim/cluster/restore_watch.h"
#include "vigil/sim/cluster/trainer.h"
#include "vigil/sim/cluster/update_watch.h"
#include "vigil/sim/cluster/whole_checkpoints.h"
#include "vigil/sim/node.h"

namespace vigil::sim {

// "chief:0" in its parts.
struct JobTaskName {
  std::string job;
  int index = 0;
};

namespace {

constexpr std::chrono::seconds kPatience{60};  // for sessions to open, before the plan begins all the same
constexpr std::chrono::milliseconds kPoll{20};
// After the last training task: longer than servers wait for one another's answers.
constexpr std::chrono::minutes kSoon{1};
constexpr std::chrono::minutes kRest{8};

// The server goes with its program, also when that is killed.
struct SetBack {
  const Server*& server;
  ~SetBack() { server = nullptr; }
};

// `requests`: also what is under way, which for a while may be that of others.
std::string Held(const Server::Load& load, std::int64_t open_files, bool requests) {
  std::vector<std::string> held;
  if (open_files > 0) held.push_back(fmt::format("{} open files", open_files));
  if (load.steps > 0) held.push_back(fmt::format("{} steps", load.steps));
  if (load.sessions > 0) held.push_back(fmt::format("{} sessions", load.sessions));
  if (requests) {
    for (const auto& [name, count] : load.under_way) held.push_back(fmt::format("{} of {}", count, name));
  }
  return fmt::format("{}", fmt::join(held, ", "));
}

void NoteAtRest(JobMoment& moment, const Server::Load& load, std::int64_t open_files, bool requests) {
  moment.subject = Held(load, open_files, requests);
  moment.step = static_cast<std::int64_t>(load.graphs);
}

JobTaskName Split(const std::string& name) {
  const std::size_t colon = name.find(':');
  JobTaskName split{name.substr(0, colon), 0};
  std::from_chars(name.data() + colon + 1, name.data() + name.size(), split.index);
  return split;
}

std::string AddressOf(std::string_view job, int index) { return fmt::format("{}-{}.sim:2222", job, index); }

ClusterSpec ClusterOf(const JobSpec& spec) {
  ClusterSpec::Jobs jobs;
  for (const auto& [job, count] : spec.tasks) {
    if (job == kEvaluatorJob) continue;
    std::vector<std::string> addresses;
    for (int i = 0; i < count; ++i) addresses.push_back(AddressOf(job, i));
    if (!addresses.empty()) jobs[job] = addresses;
  }
  absl::StatusOr<ClusterSpec> cluster = ClusterSpec::Create(jobs);
  VIGIL_CHECK(cluster.ok());
  return *std::move(cluster);
}

// The disks of a cluster are not alike.
Duration DiskTime(World& world, const std::string& node, Duration typical) {
  constexpr std::array<std::string_view, 3> kLabels = {"as others", "faster", "slower"};
  constexpr std::array<int, 3> kQuarters = {4, 1, 12};
  return typical * kQuarters[world.Choose(node, "disk", "speed", kLabels)] / 4;
}

std::int64_t RestoresWithoutLoss(const JobHistory& history) {
  std::int64_t reached = 0;
  std::int64_t saved = 0;
  std::int64_t restores = 0;
  for (const JobMoment& moment : history) {
    if (moment.kind == JobMoment::Kind::kSawStep || moment.kind == JobMoment::Kind::kRunReturned) reached = moment.step;
    if (moment.kind == JobMoment::Kind::kSaved) saved = moment.step;
    if (moment.kind == JobMoment::Kind::kRestored && moment.code == Code::kOk && reached <= saved) ++restores;
  }
  return restores;
}

}  // namespace

struct Job::Impl {
  // One task of the cluster over all its lives.
  struct Member {
    std::string name;
    JobTaskName split;
    Node* node = nullptr;
    bool trains = false;
    bool late = false;     // starts by the plan only
    bool started = false;  // at least once
    bool ended = false;    // its program has returned
    bool opened = false;
    const Server* server = nullptr;   // while it lives
    std::unique_ptr<OpRegistry> ops;  // of its servers, where its ledger is watched
    TaskFacts facts;
  };

  Impl(World& w, const JobSpec& s, const JobOptions& o) : world(w), spec(s), options(o), cluster(ClusterOf(s)) {}

  void AddNodes();
  void WatchLedger(Member& member);
  void Start(Member& member);
  void Live(Member& member, const Env& env);
  absl::Status Program(Member& member, const Env& env, FactsRecorder& recorder);
  std::string TargetOf(const Server* own) const;  // of the sessions of a task that has that server; null: none
  Duration BootTime(Member& member);
  void Conduct();
  void WaitUntil(const std::function<bool()>& met, Duration patience);
  bool AnyTrains() const;
  void LookAtRest(Duration later, JobMoment::Kind kind);
  void Finish();

  World& world;
  const JobSpec spec;
  const JobOptions options;
  const ClusterSpec cluster;
  std::map<std::string, Member, std::less<>> members;
  std::unique_ptr<FaultApplier> applier;
  JobHistory history;
  JobFacts facts;  // at the end
  Node* conductor = nullptr;
};

void Job::Impl::AddNodes() {
  std::map<std::string, Node*, std::less<>> nodes;
  for (const std::string& name : TaskNames(spec)) {
    Member& member = members[name];
    member.name = name;
    member.split = Split(name);
    member.node = &world.AddNode(name);
    member.trains = member.split.job != "ps";
    if (member.split.job != kEvaluatorJob)
      world.network().NameAddress(AddressOf(member.split.job, member.split.index), name);
    nodes[name] = member.node;
    if (spec.workload.disk > Duration::zero()) member.node->set_disk_time(DiskTime(world, name, spec.workload.disk));
    if (options.ledger && member.split.job != kEvaluatorJob) WatchLedger(member);
  }
  applier = std::make_unique<FaultApplier>(world, std::move(nodes), spec.plan,
                                           [this](Node& node) { Start(members.find(node.name())->second); });
  for (auto& [name, member] : members) member.late = applier->StartsLate(name);
  conductor = &world.AddNode("conductor");
  conductor->Spawn("main", [this] { Conduct(); });
}

void Job::Impl::WatchLedger(Member& member) {
  const auto written = [this, &member](const LedgerWrite& write) {
    using Kind = JobMoment::Kind;
    constexpr std::array kKinds = {Kind::kApplied, Kind::kAssigned, Kind::kWritten, Kind::kStepMade, Kind::kStepSet};
    const Member& keeps = write.server.empty() ? member : members.find(write.server)->second;
    history.push_back({.at = world.now(),
                       .task = keeps.name,
                       .life = keeps.facts.lives,
                       .kind = kKinds[static_cast<std::size_t>(write.kind)],
                       .step = write.value,
                       .subject = write.replica,
                       .checkpoint = write.checkpoint,
                       .attempt = write.attempt});
  };
  const auto queued = [this, &member](std::shared_ptr<const QueueOp> op) {
    JobMoment moment{.at = world.now(),
                     .task = member.name,
                     .life = member.facts.lives,
                     .kind = JobMoment::Kind::kQueueCalled,
                     .step = static_cast<std::int64_t>(history.size()),
                     .queue = std::move(op)};
    history.push_back(moment);
    return [this, moment = std::move(moment)](const absl::Status& status) mutable {
      moment.at = world.now();
      moment.kind = JobMoment::Kind::kQueueReturned;
      moment.code = CodeOf(status);
      history.push_back(moment);
    };
  };
  const OpRegistry& ops = options.ops == nullptr ? BuiltinOps() : *options.ops;
  member.ops = WatchQueues(*WatchUpdates(ops, written), queued);
}

void Job::Impl::Start(Member& member) {
  member.started = true;
  member.ended = false;
  member.node->Spawn("main", [this, &member] { Live(member, member.node->env()); });
}

// From the least to the most in a few steps of whole milliseconds, as the labels say; the least is the calm choice.
Duration Job::Impl::BootTime(Member& member) {
  constexpr std::size_t kSteps = 5;
  const Duration least = spec.workload.least_boot;
  const Duration most = spec.workload.most_boot;
  if (most <= least) return least;
  std::array<std::string, kSteps> texts;
  std::array<std::string_view, kSteps> labels;
  const auto step = [&](std::size_t i) {
    return std::chrono::floor<std::chrono::milliseconds>(least + (most - least) * static_cast<std::int64_t>(i) /
                                                                     static_cast<std::int64_t>(kSteps - 1));
  };
  for (std::size_t i = 0; i < kSteps; ++i) {
    texts[i] = fmt::format("{}ms", step(i).count());
    labels[i] = texts[i];
  }
  return step(world.Choose(member.name, "main", "boot", labels));
}

void Job::Impl::Live(Member& member, const Env& env) {
  FactsRecorder recorder(member.name, member.facts, history, world, env.events);
  Env own = env;
  own.events = &recorder;
  const absl::Status status = Program(member, own, recorder);
  world.scheduler().KilledCall();  // a fault may have struck as it sent its last words: then it has not ended by itself
  for (const std::string& task : member.node->TaskNames()) {
    if (!IsProcessTask(task)) recorder.TaskLeft(task);
  }
  recorder.Ended(status);
  member.ended = true;
  member.node->Kill();  // the process ends with its program, whatever else it has started
}

std::string Job::Impl::TargetOf(const Server* own) const {
  if (own == nullptr) return "";
  if (spec.workload.master.empty()) return own->target();
  const JobTaskName master = Split(spec.workload.master);
  return "grpc://" + AddressOf(master.job, master.index);
}

absl::Status Job::Impl::Program(Member& member, const Env& env, FactsRecorder& recorder) {
  const Time started = env.clock->Monotonic();
  env.tasks->SleepUntil(DeadlineAfter(env, member.node->Takes(BootTime(member))));
  std::unique_ptr<Server> server;
  if (member.split.job != kEvaluatorJob) {
    VIGIL_ASSIGN_OR_RETURN(server,
                           Server::Create(env, {.cluster = cluster,
                                                .job_name = member.split.job,
                                                .task_index = member.split.index,
                                                .ops = member.ops != nullptr ? member.ops.get() : options.ops}));
    recorder.Serving();
    member.server = server.get();
  }
  const SetBack gone{member.server};
  if (!member.trains) {
    server->Join();
    return absl::OkStatus();
  }
  const auto costly = NewCostlyFactory(env, std::make_shared<ClusterSessionFactory>(env));
  const auto factory = WatchRestores(applier->Decorate(member.name, costly),
                                     [&recorder](std::int64_t step) { recorder.Restoring(step); });
  const absl::Status trained = Train({.env = env,
                                      .job = spec,
                                      .cluster = cluster,
                                      .job_name = member.split.job,
                                      .index = member.split.index,
                                      .target = TargetOf(server.get()),
                                      .factory = factory,
                                      .behaviour = options.behaviour,
                                      .seed = options.seed,
                                      .ledger = options.ledger,
                                      .checkpoint_dir = kCheckpoints,
                                      .started = started,
                                      .opened = [&member] { member.opened = true; },
                                      .recorder = recorder,
                                      .takes = [&member](Duration work) { return member.node->Takes(work); }});
  if (server != nullptr) {
    const Server::Load load = server->load();  // first: others may add to the history while it is counted
    NoteAtRest(recorder.AtRest(), load, 0, false);
  }
  return trained;
}

void Job::Impl::WaitUntil(const std::function<bool()>& met, Duration patience) {
  const Env& env = conductor->env();
  const Time deadline = DeadlineAfter(env, patience);
  while (!met() && env.clock->Monotonic() < deadline) env.tasks->SleepUntil(DeadlineAfter(env, kPoll));
}

bool Job::Impl::AnyTrains() const {
  return std::ranges::any_of(members, [this](const auto& entry) {
    const Member& member = entry.second;
    if (!member.trains || !member.started || member.ended) return false;
    return !member.node->killed() || applier->ComesBack(member.name);
  });
}

void Job::Impl::Conduct() {
  const Env& env = conductor->env();
  const auto start = [this](bool workers) {
    for (auto& [name, member] : members) {
      if (!member.late && (member.split.job == "worker" || member.split.job == kEvaluatorJob) == workers) Start(member);
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
  history.push_back({.at = world.now(), .kind = JobMoment::Kind::kBegin});
  const Time begin = env.clock->Monotonic();
  const Time limit = begin + spec.limit;
  applier->Begin();
  env.tasks->SleepUntil(std::min(limit, begin + applier->LastStart()));
  const bool healed = spec.heal_after.has_value() && AnyTrains();
  if (healed) {
    env.tasks->SleepUntil(std::min(limit, begin + *spec.heal_after));
    applier->HealAll();
    history.push_back({.at = world.now(), .kind = JobMoment::Kind::kHealed});
  }
  WaitUntil([&] { return !AnyTrains(); }, limit - env.clock->Monotonic());
  Finish();
  if (healed && !AnyTrains()) {
    LookAtRest(kSoon, JobMoment::Kind::kAtRestSoon);
    LookAtRest(kRest - kSoon, JobMoment::Kind::kAtRest);
    for (UnheardRequest& request : world.network().Unheard()) {
      facts.unheard.push_back({std::move(request.from), std::move(request.to), std::move(request.method),
                               world.options().start + request.sent});
    }
  }
  world.Stop();
}

// When nobody is left who asks for anything, and nothing disturbs any more, servers let go of everything.
void Job::Impl::LookAtRest(Duration later, JobMoment::Kind kind) {
  const Env& env = conductor->env();
  env.tasks->SleepUntil(DeadlineAfter(env, later));
  for (const auto& [name, member] : members) {
    if (member.server == nullptr || member.node->killed()) continue;
    const Server::Load load = member.server->load();
    JobMoment& moment =
        history.emplace_back(JobMoment{.at = world.now(), .task = name, .life = member.facts.lives, .kind = kind});
    NoteAtRest(moment, load, member.node->open_files(), true);
  }
}

// What is there when the world ends: the nodes die with it.
void Job::Impl::Finish() {
  for (const auto& [name, member] : members) {
    if (!member.trains) continue;
    TaskFacts& task = facts.tasks[name] = member.facts;
    if (!member.ended && member.started && member.node->killed()) task.outcome = "killed";
  }
  facts.checkpoints = WholeCheckpoints(world);
  facts.half_deleted = HalfDeletedCheckpoints(world);
  facts.rotten = RottenCheckpoints(world);
  facts.state_file_rotten = StateFileHasRotted(world);
  facts.restores_without_loss = RestoresWithoutLoss(history);
  if (!facts.checkpoints.empty()) {
    facts.newest_checkpoint = facts.checkpoints.back();
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

Job::Job(World& world, const JobSpec& spec, const JobOptions& options)
    : impl_(std::make_unique<Impl>(world, spec, options)) {
  impl_->AddNodes();
}
Job::~Job() = default;

JobFacts Job::Facts() const { return impl_->facts; }
const JobHistory& Job::history() const { return impl_->history; }
const Node& Job::node(std::string_view task) const { return *impl_->members.find(task)->second.node; }
const std::vector<FaultApplier::Entry>& Job::fault_history() const { return impl_->applier->history(); }
std::vector<FaultApplier::DiskEntry> Job::disk_fault_history() const { return impl_->applier->DiskHistory(); }

}  // namespace vigil::sim
