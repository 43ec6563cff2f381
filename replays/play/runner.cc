#include "vigil/replays/play/runner.h"

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/scaffold.h"
#include "vigil/fakes/manual_signals.h"
#include "vigil/replays/format/args.h"
#include "vigil/replays/play/job_player.h"
#include "vigil/replays/play/play_chooser.h"
#include "vigil/replays/play/real_player.h"
#include "vigil/replays/play/trace_player.h"
#include "vigil/replays/show/text.h"
#include "vigil/replays/stage/behaviour.h"
#include "vigil/replays/stage/builtin_hooks.h"
#include "vigil/replays/stage/caller.h"
#include "vigil/replays/stage/directory.h"
#include "vigil/replays/stage/environment.h"
#include "vigil/replays/stage/file_seam.h"
#include "vigil/replays/stage/log_notes.h"
#include "vigil/replays/stage/model.h"
#include "vigil/replays/stage/shared_state.h"
#include "vigil/replays/stage/supervisor_caller.h"
#include "vigil/replays/stage/training.h"
#include "vigil/replays/units/unit.h"
#include "vigil/sim/faults/faulty_session.h"
#include "vigil/sim/world.h"

namespace vigil::replays {
namespace {

constexpr char kNode[] = "chief";
constexpr char kTask[] = "main";
constexpr std::string_view kTaskLabel = "chief/main";
constexpr char kDirectory[] = "/checkpoints";
constexpr char kTracePath[] = "/traces/scenario.trace";

// Whether what a supervisor's services do in tasks of their own is part of the scenario: recorded, and faults meet it.
bool RecordsServices(const Scenario& scenario) { return BoolArg(scenario.session.args, "services"); }

// One scenario being played: everything that lives in the caller's task.
class Play {
 public:
  Play(const Scenario& scenario, const Env& env, sim::World& world, const RunnerOptions& options)
      : scenario_(scenario),
        foreign_(options.foreign),
        trace_path_(options.write_trace ? kTracePath : ""),
        log_(*env.log, *env.events, kDirectory),
        env_(WithLog(env, log_)),
        world_(world),
        behaviour_(BehaviourOf(scenario.behaviour)),
        services_(RecordsServices(scenario)) {}

  // The body of the caller's task. A status is a failure of the scenario's own set-up.
  absl::Status Body();

  FinalState final() const { return final_; }
  std::vector<std::string> messages() { return std::move(messages_); }

 private:
  static Env WithLog(Env env, Log& log) {
    env.log = &log;
    return env;
  }
  void Sessions();
  void OneSession(Caller& caller, std::vector<HookPtr> hooks);
  void Supervised(Caller& caller);
  void NoteEnd(Caller& caller, const absl::Status& end) const;
  absl::Status SetUp();
  absl::StatusOr<std::unique_ptr<MonitoredSessionBase>> Construct(std::vector<HookPtr> hooks);
  absl::StatusOr<std::unique_ptr<MonitoredSessionBase>> ConstructTraining(std::vector<HookPtr> hooks);
  std::shared_ptr<SessionFactory> FaultyFactory();
  std::shared_ptr<Scaffold> MakeScaffold();
  HookParts PartsOfHooks() const;
  Feeds InitFeed() const;
  Duration StopGracePeriod() const;
  bool StopsOnSigterm() const { return BoolArg(scenario_.session.args, "stop_on_sigterm"); }
  std::string RestoreFile() const;
  QueueRunnerStarter StartQueueRunnersOrFail();

  const Scenario& scenario_;
  const ForeignHook* const foreign_;
  const std::string trace_path_;
  NotingLog log_;
  const Env env_;
  sim::World& world_;
  const Behaviour behaviour_;
  const bool services_;
  fakes::ManualSignals signals_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Environment> environment_;
  std::unique_ptr<SleepSeam> tasks_;
  std::unique_ptr<FileSeam> files_;
  Env layer_env_;                        // what the session layer and its hooks are given
  std::unique_ptr<SharedState> shared_;  // null: each session has a state of its own
  std::shared_ptr<Scaffold> scaffold_;
  std::vector<std::string> messages_;
  FinalState final_;
};

absl::Status Play::SetUp() {
  VIGIL_RETURN_IF_ERROR(PrepareDirectory(env_, kDirectory, scenario_.checkpoint));
  VIGIL_ASSIGN_OR_RETURN(model_, BuildModel(env_, scenario_.model));
  if (foreign_ != nullptr && foreign_->extend_model != nullptr) {
    VIGIL_RETURN_IF_ERROR(foreign_->extend_model(*model_));
  }
  environment_ = std::make_unique<Environment>(scenario_.faults, *model_);
  tasks_ =
      std::make_unique<SleepSeam>(*env_.tasks, *environment_, [this] { return world_.CurrentTask() == kTaskLabel; });
  layer_env_ = env_;
  layer_env_.tasks = tasks_.get();
  files_ = std::make_unique<FileSeam>(*env_.files, scenario_.faults);
  layer_env_.files = files_.get();
  layer_env_.signals = &signals_;
  if (!scenario_.session.shared_state) return absl::OkStatus();
  shared_ = std::make_unique<SharedState>(env_, *model_);
  environment_->set_chief_init([this](std::int64_t step) {
    return shared_->ChiefInit(scaffold_ == nullptr ? std::nullopt : scaffold_->init_op(), step);
  });
  return absl::OkStatus();
}

absl::Status Play::Body() {
  VIGIL_RETURN_IF_ERROR(SetUp());
  Sessions();
  Env quiet = env_;
  quiet.events = nullptr;
  final_ = StateOfDirectory(quiet, kDirectory);
  return absl::OkStatus();
}

std::string Play::RestoreFile() const {
  if (!scenario_.checkpoint.filename.has_value()) return "";
  return JoinPath(kDirectory, fmt::format("model.ckpt-{}", *scenario_.checkpoint.filename));
}

std::shared_ptr<SessionFactory> Play::FaultyFactory() {
  sim::SessionFaultPlan plan;
  plan.next = [this](CallKind kind, const std::shared_ptr<Session>& session) {
    return environment_->Next(kind, session);
  };
  plan.next_elsewhere = [this] { return environment_->Next(FaultPoint::kEnqueue); };
  plan.applies = [this] {
    const std::string_view task = world_.CurrentTask();
    return task == kTaskLabel || (services_ && !ServiceOfTask(task).empty());
  };
  if (scenario_.model.run_secs > 0) {
    plan.after_run = [this] { env_.tasks->SleepUntil(DeadlineAfter(env_, Seconds(scenario_.model.run_secs))); };
  }
  DirectSessionOptions options;
  if (shared_ != nullptr) options = {.shared_resources = shared_->resources(), .traces_as_on_server = true};
  Env session_env = env_;
  session_env.files = files_.get();
  return sim::NewFaultyFactory(std::make_shared<DirectSessionFactory>(session_env, options), std::move(plan));
}

std::shared_ptr<Scaffold> Play::MakeScaffold() {
  ScaffoldOptions options;
  options.behaviour = behaviour_;
  if (scenario_.init_feed.has_value()) options.init_feed_dict = InitFeed();
  if (scenario_.init_fn) {
    options.init_fn = [this](Scaffold&, Session&) { return environment_->Next(FaultPoint::kInitFn).error; };
  }
  return std::make_shared<Scaffold>(layer_env_, *model_->graph, options);
}

QueueRunnerStarter Play::StartQueueRunnersOrFail() {
  return [this](const std::shared_ptr<Session>& session, const std::shared_ptr<Coordinator>& coord) {
    const sim::SessionFault fault = environment_->Next(FaultPoint::kQueueRunners);
    return fault.error.ok() ? StartQueueRunners(session, coord).status() : fault.error;
  };
}

Feeds Play::InitFeed() const {
  if (!scenario_.init_feed.has_value()) return {};
  return {{model_->base_value, Tensor::Scalar<std::int64_t>(*scenario_.init_feed)}};
}

Duration Play::StopGracePeriod() const {
  const Duration missing = MonitoredSessionOptions().stop_grace_period;
  return SecondsArg(scenario_.session.args, "stop_grace_period_secs").value_or(missing);
}

HookParts Play::PartsOfHooks() const {
  return {.env = layer_env_,
          .model = *model_,
          .scaffold = scaffold_,
          .behaviour = behaviour_,
          .directory = kDirectory,
          .foreign = foreign_};
}

absl::StatusOr<std::unique_ptr<MonitoredSessionBase>> Play::ConstructTraining(std::vector<HookPtr> hooks) {
  MonitoredTrainingSessionOptions options = TrainingOptions(scenario_.session);
  VIGIL_ASSIGN_OR_RETURN(options.chief_only_hooks, MakeHooks(scenario_.session.chief_only_hooks, PartsOfHooks()));
  options.checkpoint_dir = scenario_.checkpoint.dir ? kDirectory : "";
  options.scaffold = scaffold_;
  options.hooks = std::move(hooks);
  options.behaviour = behaviour_;
  options.factory = FaultyFactory();
  options.start_queue_runners = StartQueueRunnersOrFail();
  options.trace_path = trace_path_;
  return MonitoredTrainingSession(layer_env_, *model_->graph, std::move(options));
}

absl::StatusOr<std::unique_ptr<MonitoredSessionBase>> Play::Construct(std::vector<HookPtr> hooks) {
  if (scenario_.session.kind == SessionKind::kTraining) return ConstructTraining(std::move(hooks));
  const std::string directory = scenario_.checkpoint.dir ? kDirectory : "";
  if (scenario_.session.kind == SessionKind::kSingular) {
    return SingularMonitoredSession::Create(layer_env_, *model_->graph,
                                            {.hooks = std::move(hooks),
                                             .scaffold = scaffold_,
                                             .checkpoint_dir = directory,
                                             .stop_grace_period = StopGracePeriod(),
                                             .checkpoint_filename_with_path = RestoreFile(),
                                             .behaviour = behaviour_,
                                             .factory = FaultyFactory(),
                                             .start_queue_runners = StartQueueRunnersOrFail(),
                                             .trace_path = trace_path_,
                                             .stop_on_sigterm = StopsOnSigterm()});
  }
  auto creator =
      std::make_shared<ChiefSessionCreator>(layer_env_, *model_->graph,
                                            ChiefSessionCreatorOptions{.scaffold = scaffold_,
                                                                       .checkpoint_dir = directory,
                                                                       .checkpoint_filename_with_path = RestoreFile(),
                                                                       .factory = FaultyFactory(),
                                                                       .behaviour = behaviour_});
  return MonitoredSession::Create(layer_env_, *model_->graph,
                                  {.session_creator = std::move(creator),
                                   .hooks = std::move(hooks),
                                   .stop_grace_period = StopGracePeriod(),
                                   .behaviour = behaviour_,
                                   .start_queue_runners = StartQueueRunnersOrFail(),
                                   .trace_path = trace_path_,
                                   .stop_on_sigterm = StopsOnSigterm()});
}

void Play::NoteEnd(Caller& caller, const absl::Status& end) const {
  if (end.ok()) {
    caller.NotePlain(Note::kExitClean);
  } else {
    caller.NoteError(Note::kExitFailed, end);
  }
}

void Play::Supervised(Caller& caller) {
  SupervisorSurroundings surroundings{.directory = kDirectory,
                                      .factory = FaultyFactory(),
                                      .init_fn = nullptr,
                                      .init_feed = InitFeed(),
                                      .behaviour = behaviour_,
                                      .trace_path = trace_path_};
  if (scenario_.init_fn) {
    surroundings.init_fn = [this](Session&) { return environment_->Next(FaultPoint::kInitFn).error; };
  }
  const absl::StatusOr<std::unique_ptr<Supervisor>> supervisor =
      MakeSupervisor(layer_env_, *model_, scenario_.session, surroundings);
  if (!supervisor.ok()) return caller.NoteError(Note::kConstructFailed, supervisor.status());
  if (shared_ != nullptr) {
    environment_->set_chief_init(
        [this, init_op = (*supervisor)->init_op()](std::int64_t step) { return shared_->ChiefInit(init_op, step); });
  }
  SupervisorCaller supervised(env_, *model_, scenario_, **supervisor, caller);
  NoteEnd(caller, supervised.Drive());
  const absl::Status after = supervised.Execute(scenario_.after);
  if (!after.ok()) caller.NoteError(Note::kAfterFailed, after);
}

void Play::Sessions() {
  Caller caller(env_, *model_, messages_);
  environment_->set_signal([&] {
    caller.NotePlain(Note::kSigterm);
    signals_.Raise();
  });
  if (scenario_.session.kind == SessionKind::kSupervisor) return Supervised(caller);
  scaffold_ = MakeScaffold();
  absl::StatusOr<std::vector<HookPtr>> hooks = MakeHooks(scenario_.hooks, PartsOfHooks());
  if (!hooks.ok()) return caller.NoteError(Note::kHooksRejected, hooks.status());
  const int lives = foreign_ == nullptr ? 1 : foreign_->lives;
  for (int i = 0; i < lives; ++i) {
    OneSession(caller, *hooks);
    if (foreign_ != nullptr && foreign_->on_life_end != nullptr) foreign_->on_life_end();
    environment_->Calm();
  }
}

void Play::OneSession(Caller& caller, std::vector<HookPtr> hooks) {
  absl::StatusOr<std::unique_ptr<MonitoredSessionBase>> session = Construct(std::move(hooks));
  if (!session.ok()) return caller.NoteError(Note::kConstructFailed, session.status());
  const auto body = [&](MonitoredSessionBase& s) { return caller.Execute(s, scenario_.drive); };
  NoteEnd(caller, scenario_.scope_with ? WithSession(**session, body) : body(**session));
  const absl::Status after = caller.Execute(**session, scenario_.after);
  if (!after.ok()) caller.NoteError(Note::kAfterFailed, after);
}

// A line of text stands for up to this many typed events (the others are for rules, or of service tasks).
constexpr std::int64_t kEventsForALine = 8;
// A session that waits in a loop, second by second, for what never comes makes no events: that ends, too.
constexpr std::uint64_t kMostSwitches = 5'000'000;

// Plays a scenario of one session, or of a unit.
Outcome PlaySession(const Scenario& scenario, const RunnerOptions& options, sim::StackPool& stacks) {
  Outcome outcome;
  std::optional<Play> play;  // outlives the world: service tasks that it ends use the model and the log
  PlayChooser choosing(scenario, options);
  sim::World world({.chooser = choosing.chooser(),
                    .seed = scenario.seed,
                    .stacks = &stacks,
                    .max_events = static_cast<std::uint64_t>(scenario.limits.events * kEventsForALine),
                    .max_virtual = Seconds(scenario.limits.virtual_s),
                    .max_switches = kMostSwitches,
                    .preempt = choosing.preempt(),
                    .interrupt = options.interrupt,
                    .steps = options.steps});
  sim::Node& node = world.AddNode(kNode);
  absl::Status set_up;
  node.Spawn(kTask, [&] {
    if (scenario.unit.has_value()) {
      set_up = PlayUnit(*scenario.unit, node.env(), outcome.events);
    } else {
      play.emplace(scenario, node.env(), world, options);
      set_up = play->Body();
      outcome.final = play->final();
      outcome.messages = play->messages();
    }
    world.Stop();  // the process ends with its main task, whatever service tasks still wait for
  });
  const sim::WorldResult result = world.Run();
  outcome.verdict = VerdictOf(result.verdict);
  outcome.reason = result.report;
  if (!set_up.ok()) {
    outcome.verdict = Verdict::kNotSetUp;
    outcome.reason = MessageOf(set_up);
  }
  if (options.write_trace) {
    const auto contents = node.disk().Contents();
    if (const auto written = contents.find(kTracePath); written != contents.end())
      outcome.written_trace = written->second;
  }
  outcome.hash = world.hash();
  outcome.choices = world.ChoicesMade();
  outcome.start = world.options().start;
  outcome.trace = world.TakeTrace();
  if (outcome.verdict == Verdict::kRunaway && outcome.trace.size() >= world.options().max_events)
    outcome.reason += fmt::format(", {} for each of limits.events = {}", kEventsForALine, scenario.limits.events);
  if (!scenario.unit.has_value()) outcome.events = TextOfTask(outcome.trace, kTaskLabel, RecordsServices(scenario));
  if (std::ssize(outcome.events) > scenario.limits.events && outcome.verdict == Verdict::kPlayed) {
    outcome.verdict = Verdict::kRunaway;
    outcome.reason = fmt::format("more than {} events", scenario.limits.events);
  }
  outcome.unused_choices = choosing.Unused();
  return outcome;
}

}  // namespace

Verdict VerdictOf(sim::WorldVerdict verdict) {
  switch (verdict) {
    case sim::WorldVerdict::kDone:
    case sim::WorldVerdict::kStopped:
      return Verdict::kPlayed;
    case sim::WorldVerdict::kDeadlock:
      return Verdict::kDeadlock;
    case sim::WorldVerdict::kRunaway:
      return Verdict::kRunaway;
    case sim::WorldVerdict::kInterrupted:
      return Verdict::kInterrupted;
  }
  return Verdict::kPlayed;
}

struct Runner::Shared {
  sim::StackPool stacks;
};

Runner::Runner(const PlayerOptions& player)
    : shared_(std::make_unique<Shared>()),
      options_(player),
      player_(player.command.empty() ? nullptr : std::make_unique<PlayerClient>(player)) {}
Runner::~Runner() = default;

bool Runner::PlaysChoices(const std::atomic<bool>* interrupt) {
  if (player_ == nullptr) return true;
  const absl::StatusOr<Greeting> greeting = player_->Greet(interrupt);
  return greeting.ok() && greeting->choices;
}

Outcome Runner::Run(const Scenario& scenario, const RunnerOptions& options) {
  if (player_ != nullptr) {
    VIGIL_CHECK(options.chooser == nullptr && options.steps == nullptr && options.foreign == nullptr);
    Outcome outcome;
    player_->Play(scenario, {.random = options.random_schedule, .interrupt = options.interrupt}, outcome, outcome);
    return outcome;
  }
  if (!options_.task_program.empty()) return PlayForReal(scenario, options_, options);
  if (scenario.job.has_value()) return PlayJob(scenario, options, shared_->stacks);
  if (scenario.trace != nullptr) return PlayTrace(*scenario.trace, shared_->stacks);
  return PlaySession(scenario, options, shared_->stacks);
}

}  // namespace vigil::replays
