#include "vigil/replays/play/trace_player.h"

#include <optional>
#include <utility>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/env/forwarding.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/scaffold.h"
#include "vigil/core/train/session_creator.h"
#include "vigil/core/train/training_util.h"
#include "vigil/replays/show/trace_text.h"
#include "vigil/replays/traces/trace_script.h"
#include "vigil/replays/traces/trace_sessions.h"
#include "vigil/replays/traces/trace_supervisor.h"
#include "vigil/replays/traces/trace_user.h"
#include "vigil/sim/world.h"

namespace vigil::replays {
namespace {

constexpr int kMostPlays = 1000;  // of one trace
// A request is recorded, then it takes effect; in between its task may lose the processor for so long.
constexpr Duration kLongestDelay = std::chrono::milliseconds(100);

// The tasks of the node, but time is the recording's.
class RecordedTasks : public ForwardingTasks {
 public:
  RecordedTasks(Tasks& inner, TraceScript& script) : ForwardingTasks(inner), script_(script) {}
  void SleepUntil(Time deadline) override {
    script_.SleepUntil(deadline);
    if (factory_ != nullptr) failure_.Update(factory_->Slept());
  }
  void TellFactory(RecordedFactory* factory) { factory_ = factory; }
  // Of the set-up.
  const absl::Status& failure() const { return failure_; }

 private:
  TraceScript& script_;
  RecordedFactory* factory_ = nullptr;
  absl::Status failure_;
};

bool Any(const TraceSpec& trace, EventKind kind) {
  for (const TracedEvent& each : trace.events) {
    if (each.event.kind == kind) return true;
  }
  return false;
}

// The construction failed before there was a session, and not in Begin of a hook: the scaffold could not be finalized.
bool ScaffoldFails(const TraceSpec& trace) {
  std::optional<Code> begun;
  for (const TracedEvent& each : trace.events) {
    const Event& event = each.event;
    if (event.kind == EventKind::kConstructed)
      return event.code == Code::kUsage && begun.value_or(Code::kOk) == Code::kOk;
    if (event.kind == EventKind::kSessionCreated || event.kind == EventKind::kSessionCreateFailed) return false;
    if (event.kind == EventKind::kGraphFinalized) return false;
    if (event.kind == EventKind::kHookReturn) begun = event.code;
  }
  return false;
}

// One play, everything that lives in its task.
class TracePlay {
 public:
  TracePlay(const TraceSpec& trace, const LateRequests& late, const Env& env, std::function<void()> stop)
      : trace_(trace),
        script_(trace, late, *env.events, std::move(stop)),
        tasks_(*env.tasks, script_),
        env_(WithRecorded(env)),
        user_(env_, script_),
        graph_(BuiltinOps()) {}

  absl::Status Body();
  const TraceScript& script() const { return script_; }

 private:
  Env WithRecorded(Env env) {
    env.clock = &script_;
    env.tasks = &tasks_;
    env.events = &script_;
    return env;
  }
  absl::Status BuildGraph();
  absl::StatusOr<std::unique_ptr<MonitoredSessionBase>> Construct();
  std::shared_ptr<SessionCreator> Creator();
  QueueRunnerStarter Starter();
  std::string Directory() const { return trace_.has_checkpoint_dir ? kTraceDirectory : ""; }
  std::string Filename() const { return trace_.has_checkpoint_filename ? TraceCheckpoint() : ""; }

  const TraceSpec& trace_;
  TraceScript script_;
  RecordedTasks tasks_;
  const Env env_;
  TraceUser user_;
  Graph graph_;
  std::shared_ptr<Scaffold> scaffold_;
  std::shared_ptr<RecordedFactory> factory_;
  std::optional<TraceSupervisor> supervisor_;
};

absl::Status TracePlay::BuildGraph() {
  Builder b(graph_);
  VIGIL_RETURN_IF_ERROR(GetOrCreateGlobalStep(env_, b).status());
  const Output zero = b.Const("zero", Tensor::Scalar<std::int64_t>(0));
  user_.Feed({ops::PlaceholderWithDefault(b, "by_caller", zero), ops::PlaceholderWithDefault(b, "by_hook", zero)});
  VIGIL_RETURN_IF_ERROR(b.status());
  // That there is one is all that the layer asks: the stand-in of the starter starts none.
  if (Any(trace_, EventKind::kQueueRunners)) {
    const NodeId enqueue = b.Group("enqueue", {}).node;
    VIGIL_ASSIGN_OR_RETURN(QueueRunnerPtr runner,
                           QueueRunner::Create(env_, {.queue_name = "queue", .enqueue_ops = {enqueue}}));
    graph_.AddToCollection(kQueueRunners, std::move(runner));
  }
  ScaffoldOptions options;
  if (trace_.has_init_fn) {
    options.init_fn = [this](Scaffold&, Session& session) { return user_.Call(EventKind::kInitFn, &session); };
  }
  if (HasNothingToSave(trace_)) {
    options.saver =
        std::make_shared<Saver>(env_, SaverOptions{.variables = std::vector<Output>(), .allow_empty = true});
  }
  scaffold_ = std::make_shared<Scaffold>(env_, graph_, options);
  if (ScaffoldFails(trace_)) {
    for (const char* const name : {"one", "another"})
      graph_.AddToCollection(kInitOp, Output{b.Group(name, {}).node, 0});
    return b.status();
  }
  if (!trace_.graph_is_finalized) return absl::OkStatus();
  script_.Mute();
  VIGIL_RETURN_IF_ERROR(scaffold_->Finalize());
  script_.Unmute();
  return absl::OkStatus();
}

QueueRunnerStarter TracePlay::Starter() {
  return [this](const std::shared_ptr<Session>& session, const std::shared_ptr<Coordinator>& coordinator) {
    script_.Know(session->number(), coordinator);
    return user_.Call(EventKind::kQueueRunners, session.get());
  };
}

std::shared_ptr<SessionCreator> TracePlay::Creator() {
  if (!trace_.is_chief) {
    return std::make_shared<WorkerSessionCreator>(
        env_, graph_,
        WorkerSessionCreatorOptions{
            .scaffold = scaffold_, .max_wait = trace_.max_wait, .factory = factory_, .behaviour = trace_.behaviour});
  }
  return std::make_shared<ChiefSessionCreator>(env_, graph_,
                                               ChiefSessionCreatorOptions{.scaffold = scaffold_,
                                                                          .checkpoint_dir = Directory(),
                                                                          .checkpoint_filename_with_path = Filename(),
                                                                          .factory = factory_,
                                                                          .behaviour = trace_.behaviour});
}

absl::StatusOr<std::unique_ptr<MonitoredSessionBase>> TracePlay::Construct() {
  if (trace_.recovers) {
    return MonitoredSession::Create(env_, graph_,
                                    {.session_creator = Creator(),
                                     .hooks = user_.MakeHooks(trace_.hooks),
                                     .stop_grace_period = trace_.stop_grace_period,
                                     .behaviour = trace_.behaviour,
                                     .start_queue_runners = Starter()});
  }
  return SingularMonitoredSession::Create(env_, graph_,
                                          {.hooks = user_.MakeHooks(trace_.hooks),
                                           .scaffold = scaffold_,
                                           .checkpoint_dir = Directory(),
                                           .stop_grace_period = trace_.stop_grace_period,
                                           .checkpoint_filename_with_path = Filename(),
                                           .behaviour = trace_.behaviour,
                                           .factory = factory_,
                                           .start_queue_runners = Starter()});
}

absl::Status TracePlay::Body() {
  factory_ = std::make_shared<RecordedFactory>(env_, trace_, script_);
  tasks_.TellFactory(factory_.get());
  if (trace_.supervisor.has_value()) {
    supervisor_.emplace(trace_, env_, user_);
    VIGIL_RETURN_IF_ERROR(supervisor_->Construct(graph_, factory_));
    user_.Drive();
    return tasks_.failure();
  }
  VIGIL_RETURN_IF_ERROR(BuildGraph());
  const absl::StatusOr<std::unique_ptr<MonitoredSessionBase>> session = Construct();
  if (session.ok()) user_.Use(**session);
  user_.Drive();
  return tasks_.failure();
}

struct PlayedTrace {
  Outcome outcome;
  bool parted = false;
  std::size_t position = 0;
};

PlayedTrace PlayOnce(const TraceSpec& trace, const LateRequests& late, sim::StackPool& stacks) {
  PlayedTrace played;
  sim::World world({.stacks = &stacks});
  sim::Node& node = world.AddNode("traced");
  std::optional<TracePlay> play;
  absl::Status set_up;
  node.Spawn("main", [&] {
    play.emplace(trace, late, node.env(), [&] {
      world.Stop();
      node.env().tasks->SleepUntil(kNever);
    });
    set_up = play->Body();
    world.Stop();
  });
  const sim::WorldResult result = world.Run();
  if (result.verdict == sim::WorldVerdict::kDeadlock) played.outcome.verdict = Verdict::kDeadlock;
  played.outcome.reason = result.report;
  if (!set_up.ok()) {
    played.outcome.verdict = Verdict::kNotSetUp;
    played.outcome.reason = MessageOf(set_up);
  }
  played.outcome.hash = world.hash();
  played.outcome.start = world.options().start;
  played.outcome.trace = world.TakeTrace();
  played.outcome.events = play->script().lines();
  played.parted = play->script().parted();
  played.position = play->script().position();
  return played;
}

// The last request of another task that may have changed the decision at `position`, though it need not have been in
// effect yet.
std::optional<std::size_t> RequestToDelay(const TraceSpec& trace, std::size_t position, const LateRequests& late) {
  const Duration now = position < trace.events.size() ? trace.events[position].time : Duration::zero();
  for (std::size_t i = trace.requests.size(); i-- > 0;) {
    const TracedRequest& request = trace.requests[i];
    if (request.before > position) continue;
    if (now - request.time > kLongestDelay) return std::nullopt;
    const auto known = late.find(i);
    if (known == late.end() || known->second < position) return i;
  }
  return std::nullopt;
}

}  // namespace

Outcome PlayTrace(const TraceSpec& trace, sim::StackPool& stacks) {
  LateRequests late;
  PlayedTrace best = PlayOnce(trace, late, stacks);
  for (int plays = 1; best.parted && plays < kMostPlays; ++plays) {
    const std::optional<std::size_t> delayed = RequestToDelay(trace, best.position, late);
    if (!delayed.has_value()) break;
    late[*delayed] = best.position;
    PlayedTrace again = PlayOnce(trace, late, stacks);
    if (!again.parted || again.position > best.position) best = std::move(again);
  }
  return std::move(best.outcome);
}

}  // namespace vigil::replays
