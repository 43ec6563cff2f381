#include "vigil/core/train/monitored_session.h"

#include <fmt/format.h>

#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/io/trace.pb.h"
#include "vigil/core/train/end_dropped.h"
#include "vigil/core/train/hook_call.h"
#include "vigil/core/train/recoverable_session.h"
#include "vigil/core/train/session_trace.h"

namespace vigil {
namespace {

constexpr std::uint8_t kPlainRun = 0;
constexpr std::uint8_t kStepFunction = 1;

absl::Status ClosedError(std::string_view what) {
  return UsageError(std::string(what) +
                    " was called on a closed session. Create a new one, or close it after the last call.");
}

// What a session listens to; null: nothing.
StopRequestPtr StopOf(const Env& env, StopRequestPtr given, bool stop_on_sigterm) {
  return given != nullptr || !stop_on_sigterm ? given : std::make_shared<StopRequest>(env);
}

absl::Status CallStepFn(const Env& env, const StepFn& step_fn, StepContext& context) {
  env.Emit(
      {.kind = EventKind::kStepFnCall, .closed = context.session().closed(), .session = context.session().number()});
  const absl::Status end = CallGuarded([&] { return step_fn(context); });
  env.Emit({.kind = EventKind::kStepFnReturn,
            .code = CodeOf(end),
            .has_value = true,
            .value = context.stop_requested() ? 1.0 : 0.0,
            .subject = OriginOf(end)});
  return end;
}

}  // namespace

absl::StatusOr<RunResult> StepContext::RunWithHooks(const Fetches& fetches, const Feeds& feeds,
                                                    const RunOptions& options) const {
  RunResult result;
  RunOptions merged = options;
  LayerRun run{fetches, feeds, merged, &result};
  VIGIL_RETURN_IF_ERROR(run_(run));
  return result;
}

absl::Status StepContext::RequestStop() {
  stop_requested_ = true;
  return WithOrigin(MakeStatus(Code::kStopIteration, "step_fn has requested the iterations to stop."), kOriginStepFn);
}

MonitoredSessionBase::MonitoredSessionBase(const Env& env, Graph& graph, Settings settings)
    : trace_(NewSessionTrace(env, settings.trace_path)),
      trace_path_(std::move(settings.trace_path)),
      env_(WithTrace(env)),
      graph_(graph),
      graph_was_finalized_(graph.finalized()),
      recover_(settings.recover),
      hooks_(std::move(settings.hooks)),
      life_(std::move(settings.life)),
      creator_(env_, std::move(settings.creator), hooks_, life_, std::move(settings.start_queue_runners)),
      stop_on_sigterm_(settings.stop_on_sigterm) {}

class MonitoredSessionBase::Call {
 public:
  explicit Call(MonitoredSessionBase& session) : layer(session.layer_), session_(session) { ++session_.calls_; }
  ~Call() { --session_.calls_; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  bool outermost() const { return session_.calls_ == 1; }

  const std::shared_ptr<SessionLayer> layer;

 private:
  MonitoredSessionBase& session_;
};

MonitoredSessionBase::~MonitoredSessionBase() {
  VIGIL_CHECK(calls_ == 0);  // destroyed by one of its own callbacks
  // TensorFlow leaves it open; what its tasks use is theirs as well.
  if (layer_ != nullptr && life_.behaviour.close_partial_session) Drop();
  ReleaseHooks();
  if (trace_ != nullptr) trace_->End();
}

Env MonitoredSessionBase::WithTrace(Env env) const {
  if (trace_ != nullptr) env.events = trace_;
  return env;
}

void MonitoredSessionBase::Drop() {
  env_.log->Write(
      Severity::kWarning,
      "A monitored session is destroyed without Close() or WithSession(): End of its hooks is not called. It is "
      "stopped and closed now.");
  EndDropped(
      env_, "close dropped session", true,
      [this] { return Leave(MakeStatus(Code::kCancelled, "The session was dropped.")); },
      [env = env_, coord = creator_.coordinator(), session = raw(), life = life_]() mutable {
        return session == nullptr ? absl::OkStatus() : StopJoinAndClose(env, *coord, *session, life);
      });
}

absl::Status MonitoredSessionBase::WatchSignals() {
  if (life_.stop != nullptr) creator_.creator().StopWaitingOn(life_.stop);
  if (!stop_on_sigterm_) return absl::OkStatus();
  if (env_.signals == nullptr) {
    return UsageError("stop_on_sigterm needs an Env with signals, such as that of a RealEnv.");
  }
  VIGIL_ASSIGN_OR_RETURN(watch_, env_.signals->Watch([log = env_.log, stop = life_.stop](std::string_view signal) {
    stop->Request(signal);
    log->Write(Severity::kWarning, fmt::format("{}: the training ends after the run in progress. The next {} ends the "
                                               "program at once.",
                                               signal, signal));
  }));
  return absl::OkStatus();
}

absl::Status MonitoredSessionBase::RefuseRun(std::string_view what) const {
  if (layer_ == nullptr) return ClosedError(what);
  if (!life_.creating) return absl::OkStatus();
  return UsageError(fmt::format(
      "{} was called while the session is being made anew, from inside of AfterCreateSession, init_fn or the start of "
      "the queue runners. Use the session that is given to them.",
      what));
}

absl::Status MonitoredSessionBase::RefuseClose() const {
  if (calls_ == 0) return absl::OkStatus();
  return UsageError(
      "A session cannot be closed from inside of one of its own calls (a hook, a listener, a step function, or End). "
      "Ask "
      "for a stop there, and close it after the call.");
}

void MonitoredSessionBase::StartTrace(const std::string& path) {
  const std::optional<CreatorTraits> traits = creator_.creator().traits();
  if (!traits.has_value()) {
    env_.log->Write(
        Severity::kWarning,
        fmt::format("There will be no trace {}: sessions of a creator of one's own cannot be traced. Derive "
                    "it from ChiefSessionCreator or WorkerSessionCreator.",
                    path));
    return;
  }
  creator_.creator().Watch(*trace_);
  trace_->Start(path, TraceHeaderOf(recover_, *traits, hooks_, life_, graph_));
}

absl::Status MonitoredSessionBase::TakeHooks() {
  if (!life_.behaviour.refuse_begin_in_session) return absl::OkStatus();
  for (std::size_t i = 0; i < hooks_.size(); ++i) {
    if (!hooks_[i]->in_open_session_) {
      hooks_[i]->in_open_session_ = true;
      continue;
    }
    for (std::size_t taken = 0; taken < i; ++taken) hooks_[taken]->in_open_session_ = false;
    return UsageError(
        fmt::format("Hook number {} ('{}') is in an open session already: close that session first, or give each "
                    "session (and each place of a list) a hook of its own.",
                    i + 1, hooks_[i]->name()));
  }
  hooks_taken_ = true;
  return absl::OkStatus();
}

void MonitoredSessionBase::ReleaseHooks() {
  if (!std::exchange(hooks_taken_, false)) return;
  for (const HookPtr& hook : hooks_) hook->in_open_session_ = false;
}

absl::Status MonitoredSessionBase::CallBegin() {
  BeginContext context{env_, graph_};
  for (std::size_t i = 0; i < hooks_.size(); ++i) {
    VIGIL_RETURN_IF_ERROR(CallHook(env_, *hooks_[i], i, HookMethod::kBegin, nullptr, nullptr, nullptr,
                                   [&] { return hooks_[i]->Begin(context); }));
  }
  return absl::OkStatus();
}

absl::Status MonitoredSessionBase::Init() {
  // Refused before anything is done: there is nothing to trace.
  VIGIL_RETURN_IF_ERROR(TakeHooks());
  VIGIL_RETURN_IF_ERROR(WatchSignals());
  if (trace_ != nullptr) StartTrace(trace_path_);
  const absl::Status status = CallGuarded([this] { return Construct(); });
  env_.Emit({.kind = EventKind::kConstructed, .code = CodeOf(status)});
  return status;
}

absl::Status MonitoredSessionBase::Construct() {
  VIGIL_RETURN_IF_ERROR(CallBegin());
  if (recover_) {
    VIGIL_ASSIGN_OR_RETURN(layer_, RecoverableSession::Create(env_, creator_, life_));
  } else {
    VIGIL_ASSIGN_OR_RETURN(layer_, creator_.Create());
  }
  return absl::OkStatus();
}

absl::Status MonitoredSessionBase::RunInto(RunResult* result, const Fetches& fetches, const Feeds& feeds,
                                           const RunOptions& options) {
  VIGIL_RETURN_IF_ERROR(RefuseRun("Run"));
  const Call call(*this);
  env_.Emit({.kind = EventKind::kRunStart, .call = kPlainRun});
  RunEvents(env_).CallerGives(graph_, feeds, options);
  RunOptions nested;  // the run around this one goes on with its own
  RunOptions& merged = call.outermost() ? run_options_ : nested;
  merged = options;
  LayerRun run{fetches, feeds, merged, result, options != RunOptions()};
  const absl::Status status = call.layer->Run(run);
  if (call.outermost()) life_.SettleStop();
  env_.Emit({.kind = EventKind::kRunEnd, .code = CodeOf(status), .call = kPlainRun});
  return status;
}

absl::StatusOr<RunResult> MonitoredSessionBase::Run(const Fetches& fetches, const Feeds& feeds,
                                                    const RunOptions& options) {
  RunResult result;
  VIGIL_RETURN_IF_ERROR(RunInto(&result, fetches, feeds, options));
  return result;
}

absl::Status MonitoredSessionBase::RunStepFn(const StepFn& step_fn) {
  VIGIL_RETURN_IF_ERROR(RefuseRun("RunStepFn"));
  const Call call(*this);
  env_.Emit({.kind = EventKind::kRunStart, .call = kStepFunction});
  const SessionPtr session_at_start = raw();
  const absl::Status status = call.layer->RunStepFn([&](const LayerRunFn& run) {
    // Held: the function may outlive the session in a recovery.
    const SessionPtr session = life_.behaviour.step_fn_sees_new_session ? raw() : session_at_start;
    const LayerRunFn inner = [&](LayerRun& inner_run) {
      env_.Emit({.kind = EventKind::kInnerRunStart});
      RunEvents(env_).CallerGives(graph_, inner_run.feeds, inner_run.options);
      absl::Status inner_end = run(inner_run);
      env_.Emit({.kind = EventKind::kInnerRunEnd, .code = CodeOf(inner_end)});
      return inner_end;
    };
    StepContext context(*session, inner);
    absl::Status end = CallStepFn(env_, step_fn, context);
    if (context.stop_requested() && life_.behaviour.step_fn_stop_is_kept) life_.RequestStop("a step function");
    return end;
  });
  if (call.outermost()) life_.SettleStop();
  env_.Emit({.kind = EventKind::kRunEnd, .code = CodeOf(status), .call = kStepFunction});
  return status;
}

absl::StatusOr<RunResult> MonitoredSessionBase::RunWithoutHooks(const Fetches& fetches, const Feeds& feeds,
                                                                const RunOptions& options) {
  VIGIL_RETURN_IF_ERROR(RefuseRun("RunWithoutHooks"));
  const Call call(*this);
  RunResult result;
  RunSpec spec;
  std::vector<Tensor> values;
  fetches.AppendTo(graph_, &spec);
  for (const Feed& feed : feeds) {
    spec.feeds.push_back(feed.tensor);
    values.push_back(feed.value);
  }
  result.Set(fetches);
  env_.Emit({.kind = EventKind::kBareRunStart});
  const absl::Status status = call.layer->RunStepFn([&](const LayerRunFn&) {
    const SessionPtr session = raw();
    const absl::Status end = CallGuarded([&] {
      return session->Run(
          {.spec = spec, .feed_values = values, .options = &options, .metadata = &result.mutable_metadata()},
          &result.tensors());
    });
    return WithOrigin(RootCauseOf(end, *creator_.coordinator()), kOriginRun);
  });
  if (call.outermost()) life_.SettleStop();
  env_.Emit({.kind = EventKind::kBareRunEnd, .code = CodeOf(status)});
  VIGIL_RETURN_IF_ERROR(status);
  return result;
}

absl::StatusOr<bool> MonitoredSessionBase::ShouldStop() {
  if (layer_ == nullptr) return true;
  const Call call(*this);
  absl::StatusOr<bool> stop = StopWanted() ? absl::StatusOr<bool>(true) : call.layer->ShouldStop();
  if (stop.ok() && StopWanted()) stop = true;  // it may have waited
  env_.Emit({.kind = EventKind::kShouldStop,
             .code = CodeOf(stop.status()),
             .has_value = stop.ok(),
             .value = stop.ok() && *stop ? 1.0 : 0.0});
  return stop;
}

absl::Status MonitoredSessionBase::Close() {
  VIGIL_RETURN_IF_ERROR(RefuseClose());
  env_.Emit({.kind = EventKind::kCloseStart});
  const absl::Status status = CloseInternal(/*clean=*/true);
  env_.Emit({.kind = EventKind::kCloseEnd, .code = CodeOf(status)});
  return status;
}

// Whether an error that left the scope means the end of the input and nothing worse.
bool MonitoredSessionBase::IsCleanExit(const absl::Status& body) const {
  if (body.ok()) return true;
  if (!IsCleanEnd(body)) return false;
  if (!life_.behaviour.clean_end_from_run_only) return true;
  const std::string origin = OriginOf(body);
  return origin == kOriginRun || origin == kOriginStepFn;
}

absl::Status MonitoredSessionBase::Exit(const absl::Status& body) {
  VIGIL_RETURN_IF_ERROR(RefuseClose());
  return Leave(body);
}

absl::Status MonitoredSessionBase::Leave(const absl::Status& body) {
  env_.Emit({.kind = EventKind::kCloseStart, .code = CodeOf(body), .subject = OriginOf(body)});
  const bool clean = IsCleanExit(body);
  absl::Status status = CloseInternal(clean);
  // An error of the close takes the place of the body's, as an exception in a finally block does.
  if (status.ok() && !clean) status = body;
  if (status.ok() || clean || !IsCleanEnd(body)) {
    env_.Emit({.kind = EventKind::kCloseEnd, .code = CodeOf(status)});
    return status;
  }
  const std::string origin = OriginOf(body);
  status = WithMessage(
      status, fmt::format("{} [from {}, not from a run of the monitored session: it is not taken for the end of the "
                          "input, so End of the hooks was not called]",
                          MessageOf(status),
                          origin.empty() ? "the scope's own code, or the raw session of a step function" : origin));
  env_.Emit({.kind = EventKind::kCloseEnd, .code = CodeOf(status)});
  return status;
}

absl::Status MonitoredSessionBase::CallEnd() {
  for (std::size_t i = 0; i < hooks_.size(); ++i) {
    // Held, and asked for anew: a hook that runs the session may have made it recover.
    const SessionPtr held = raw();
    VIGIL_RETURN_IF_ERROR(CallHook(env_, *hooks_[i], i, HookMethod::kEnd, held.get(), nullptr, nullptr,
                                   [&] { return hooks_[i]->End(held.get()); }));
  }
  return absl::OkStatus();
}

// The later error wins at each step, and each step is made whatever went wrong before.
absl::Status MonitoredSessionBase::CloseInternal(bool clean) {
  const Call call(*this);
  absl::Status status = clean ? CallEnd() : absl::OkStatus();
  if (layer_ == nullptr) {
    status = UsageError("Session is already closed.");
  } else if (const absl::Status closed = call.layer->Close(); !closed.ok()) {
    status = closed;
  }
  layer_ = nullptr;
  creator_.Forget();
  watch_ = nullptr;
  ReleaseHooks();
  if (!graph_was_finalized_ && graph_.finalized()) {
    graph_.Unfinalize();
    env_.Emit({.kind = EventKind::kGraphUnfinalized});
  }
  return status;
}

const Graph* MonitoredSessionBase::graph() const { return raw() == nullptr ? nullptr : &raw()->graph(); }

absl::StatusOr<std::unique_ptr<MonitoredSession>> MonitoredSession::Create(const Env& env, Graph& graph,
                                                                           MonitoredSessionOptions options) {
  if (options.session_creator == nullptr) {
    options.session_creator =
        std::make_shared<ChiefSessionCreator>(env, graph, ChiefSessionCreatorOptions{.behaviour = options.behaviour});
  }
  std::unique_ptr<MonitoredSession> made(
      new MonitoredSession(env, graph,
                           {.creator = std::move(options.session_creator),
                            .hooks = std::move(options.hooks),
                            .life = {.behaviour = options.behaviour,
                                     .stop_grace_period = options.stop_grace_period,
                                     .give_up_recovery_after = options.give_up_recovery_after,
                                     .stop = StopOf(env, std::move(options.stop), options.stop_on_sigterm)},
                            .start_queue_runners = std::move(options.start_queue_runners),
                            .trace_path = std::move(options.trace_path),
                            .stop_on_sigterm = options.stop_on_sigterm}));
  VIGIL_RETURN_IF_ERROR(made->Init());
  return made;
}

absl::StatusOr<std::unique_ptr<SingularMonitoredSession>> SingularMonitoredSession::Create(
    const Env& env, Graph& graph, SingularMonitoredSessionOptions options) {
  auto creator = std::make_shared<ChiefSessionCreator>(
      env, graph,
      ChiefSessionCreatorOptions{.scaffold = std::move(options.scaffold),
                                 .target = {.master = options.master, .config = options.config},
                                 .checkpoint_dir = options.checkpoint_dir,
                                 .checkpoint_filename_with_path = options.checkpoint_filename_with_path,
                                 .factory = std::move(options.factory),
                                 .behaviour = options.behaviour});
  std::unique_ptr<SingularMonitoredSession> made(
      new SingularMonitoredSession(env, graph,
                                   {.creator = std::move(creator),
                                    .hooks = std::move(options.hooks),
                                    .life = {.behaviour = options.behaviour,
                                             .stop_grace_period = options.stop_grace_period,
                                             .stop = StopOf(env, std::move(options.stop), options.stop_on_sigterm)},
                                    .start_queue_runners = std::move(options.start_queue_runners),
                                    .recover = false,
                                    .trace_path = std::move(options.trace_path),
                                    .stop_on_sigterm = options.stop_on_sigterm}));
  VIGIL_RETURN_IF_ERROR(made->Init());
  return made;
}

}  // namespace vigil
