#include "vigil/replays/runner.h"

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/scaffold.h"
#include "vigil/replays/caller.h"
#include "vigil/replays/directory.h"
#include "vigil/replays/environment.h"
#include "vigil/replays/model.h"
#include "vigil/replays/probe.h"
#include "vigil/replays/text.h"
#include "vigil/replays/unbuilt.h"
#include "vigil/sim/faulty_session.h"
#include "vigil/sim/world.h"

namespace vigil::replays {
namespace {

constexpr char kNode[] = "chief";
constexpr char kTask[] = "main";
constexpr std::string_view kTaskLabel = "chief/main";
constexpr char kDirectory[] = "/checkpoints";

// Switches that are named start from TensorFlow's behaviour.
Behaviour BehaviourOf(const BehaviourSpec& spec) {
  Behaviour out = spec.name == "default" ? Behaviour::Default() : Behaviour::TensorFlow();
  for (const BehaviourSwitch& known : BehaviourSwitches()) {
    const auto given = spec.switches.find(known.name);
    if (given != spec.switches.end()) out.*known.value = given->second;
  }
  return out;
}

// One scenario being played: everything that lives in the caller's task.
class Play {
 public:
  Play(const Scenario& scenario, const RunnerOptions& options, const Env& env, sim::World& world)
      : scenario_(scenario), options_(options), env_(env), world_(world), behaviour_(BehaviourOf(scenario.behaviour)) {}

  // The body of the caller's task. A status is a failure of the scenario's own set-up.
  absl::Status Body();

  FinalState final() const { return final_; }
  std::vector<std::string> messages() { return std::move(messages_); }

 private:
  void Sessions();
  absl::StatusOr<std::unique_ptr<MonitoredSessionBase>> Construct();
  std::shared_ptr<SessionFactory> FaultyFactory();
  std::shared_ptr<Scaffold> MakeScaffold();
  std::string RestoreFile() const;
  QueueRunnerStarter StartQueueRunnersOrFail();

  const Scenario& scenario_;
  const RunnerOptions& options_;
  const Env env_;
  sim::World& world_;
  const Behaviour behaviour_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Environment> environment_;
  std::vector<std::string> messages_;
  FinalState final_;
};

absl::Status Play::Body() {
  VIGIL_RETURN_IF_ERROR(PrepareDirectory(env_, kDirectory, scenario_.checkpoint));
  Env quiet = env_;
  quiet.events = nullptr;
  VIGIL_ASSIGN_OR_RETURN(model_, BuildModel(env_, scenario_.model));
  environment_ = std::make_unique<Environment>(scenario_.faults, *model_);
  Sessions();
  final_ = StateOfDirectory(quiet, kDirectory);
  return absl::OkStatus();
}

std::string Play::RestoreFile() const {
  if (!scenario_.checkpoint.filename.has_value()) return "";
  return JoinPath(kDirectory, fmt::format("model.ckpt-{}", *scenario_.checkpoint.filename));
}

std::shared_ptr<SessionFactory> Play::FaultyFactory() {
  sim::SessionFaultPlan plan;
  plan.next = [this](CallKind kind, Session* session) {
    if (options_.at_each_call) options_.at_each_call(world_);
    return environment_->Next(kind, session);
  };
  plan.applies = [this] { return world_.CurrentTask() == kTaskLabel; };
  if (scenario_.model.run_secs > 0) {
    plan.after_run = [this] { env_.tasks->SleepUntil(DeadlineAfter(env_, Seconds(scenario_.model.run_secs))); };
  }
  return sim::NewFaultyFactory(std::make_shared<DirectSessionFactory>(env_), std::move(plan));
}

std::shared_ptr<Scaffold> Play::MakeScaffold() {
  ScaffoldOptions options;
  if (scenario_.init_fn) {
    options.init_fn = [this](Scaffold&, Session& session) {
      return environment_->Next(FaultPoint::kInitFn, &session).error;
    };
  }
  return std::make_shared<Scaffold>(env_, *model_->graph, options);
}

QueueRunnerStarter Play::StartQueueRunnersOrFail() {
  return [this](const std::shared_ptr<Session>& session, const std::shared_ptr<Coordinator>& coord) {
    const sim::SessionFault fault = environment_->Next(FaultPoint::kQueueRunners, session.get());
    return fault.error.ok() ? StartQueueRunners(session, coord) : fault.error;
  };
}

absl::StatusOr<std::unique_ptr<MonitoredSessionBase>> Play::Construct() {
  std::vector<HookPtr> hooks;
  for (const HookSpec& spec : scenario_.hooks) hooks.push_back(std::make_shared<Probe>(env_, spec, *model_));
  const std::string directory = scenario_.checkpoint.dir ? kDirectory : "";
  if (scenario_.session.kind == SessionKind::kSingular) {
    return SingularMonitoredSession::Create(env_, *model_->graph,
                                            {.hooks = std::move(hooks),
                                             .scaffold = MakeScaffold(),
                                             .checkpoint_dir = directory,
                                             .checkpoint_filename_with_path = RestoreFile(),
                                             .behaviour = behaviour_,
                                             .factory = FaultyFactory(),
                                             .start_queue_runners = StartQueueRunnersOrFail()});
  }
  auto creator =
      std::make_shared<ChiefSessionCreator>(env_, *model_->graph,
                                            ChiefSessionCreatorOptions{.scaffold = MakeScaffold(),
                                                                       .checkpoint_dir = directory,
                                                                       .checkpoint_filename_with_path = RestoreFile(),
                                                                       .factory = FaultyFactory(),
                                                                       .behaviour = behaviour_});
  return MonitoredSession::Create(env_, *model_->graph,
                                  {.session_creator = std::move(creator),
                                   .hooks = std::move(hooks),
                                   .behaviour = behaviour_,
                                   .start_queue_runners = StartQueueRunnersOrFail()});
}

void Play::Sessions() {
  Caller caller(env_, *model_, messages_);
  absl::StatusOr<std::unique_ptr<MonitoredSessionBase>> session = Construct();
  if (!session.ok()) return caller.NoteError(Note::kConstructFailed, session.status());
  const auto body = [&](MonitoredSessionBase& s) { return caller.Execute(s, scenario_.drive); };
  const absl::Status end = scenario_.scope_with ? WithSession(**session, body) : body(**session);
  if (end.ok()) {
    caller.NotePlain(Note::kExitClean);
  } else {
    caller.NoteError(Note::kExitFailed, end);
  }
  const absl::Status after = caller.Execute(**session, scenario_.after);
  if (!after.ok()) caller.NoteError(Note::kAfterFailed, after);
}

Verdict VerdictOf(sim::WorldVerdict verdict) {
  switch (verdict) {
    case sim::WorldVerdict::kDone:
    case sim::WorldVerdict::kStopped:
      return Verdict::kPlayed;
    case sim::WorldVerdict::kDeadlock:
      return Verdict::kDeadlock;
    case sim::WorldVerdict::kRunaway:
      return Verdict::kRunaway;
  }
  return Verdict::kPlayed;
}

// A line of text stands for up to this many typed events (the others are for rules, or of service tasks).
constexpr std::int64_t kEventsForALine = 8;

}  // namespace

struct Runner::Shared {
  sim::StackPool stacks;
};

Runner::Runner() : shared_(std::make_unique<Shared>()) {}
Runner::~Runner() = default;

Outcome Runner::Run(const Scenario& scenario, const RunnerOptions& options) {
  Outcome outcome;
  outcome.reason = WhatIsUnbuilt(scenario);
  if (!outcome.reason.empty()) {
    outcome.verdict = Verdict::kUnsupported;
    return outcome;
  }
  sim::RandomChooser random(scenario.seed);
  sim::ReplayChooser replay(scenario.choices);
  sim::Chooser* const chooser = options.random_schedule ? static_cast<sim::Chooser*>(&random) : &replay;
  sim::World world({.chooser = chooser,
                    .seed = scenario.seed,
                    .stacks = &shared_->stacks,
                    .max_events = static_cast<std::uint64_t>(scenario.limits.events * kEventsForALine),
                    .max_virtual = Seconds(scenario.limits.virtual_s),
                    .preempt = options.random_schedule || !scenario.choices.empty()});
  sim::Node& node = world.AddNode(kNode);
  absl::Status set_up;
  node.Spawn(kTask, [&] {
    Play play(scenario, options, node.env(), world);
    set_up = play.Body();
    outcome.final = play.final();
    outcome.messages = play.messages();
    world.Stop();  // the process ends with its main task, whatever service tasks still wait for
  });
  const sim::WorldResult result = world.Run();
  outcome.verdict = VerdictOf(result.verdict);
  outcome.reason = set_up.ok() ? result.report : fmt::format("the scenario could not be set up: {}", MessageOf(set_up));
  if (!set_up.ok()) outcome.verdict = Verdict::kUnsupported;
  outcome.hash = world.hash();
  outcome.choices = world.ChoicesMade();
  outcome.trace = world.TakeTrace();
  outcome.events = TextOfTask(outcome.trace, kTaskLabel);
  if (std::ssize(outcome.events) > scenario.limits.events && outcome.verdict == Verdict::kPlayed) {
    outcome.verdict = Verdict::kRunaway;
    outcome.reason = fmt::format("more than {} events", scenario.limits.events);
  }
  outcome.unused_choices = replay.UnusedEntries();
  for (const std::string& refused : replay.RefusedEntries()) outcome.unused_choices.push_back(refused);
  return outcome;
}

}  // namespace vigil::replays
