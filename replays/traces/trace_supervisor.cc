#include "vigil/replays/traces/trace_supervisor.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/summary/observed_writer.h"
#include "vigil/core/train/training_util.h"
#include "vigil/replays/traces/trace_sessions.h"

namespace vigil::replays {
namespace {

// Stands for all that was still running when a join gave up.
class StuckTask : public Task {
 public:
  const std::string& name() const override { return name_; }
  bool done() const override { return false; }
  bool Join(Time) override { return false; }

 private:
  const std::string name_ = "recorded";
};

template <typename T>
OrDefault<T> GivenIf(bool there_is_one, T piece) {
  return there_is_one ? OrDefault<T>(std::move(piece)) : OrDefault<T>(std::nullopt);
}

constexpr double kLongestWait = 1e9;  // seconds

std::optional<Duration> WaitOf(const Event& event) {
  return event.has_value ? std::optional<Duration>(Seconds(std::min(event.value, kLongestWait))) : std::nullopt;
}

bool IsReturn(const Event& event, SupervisorMethod method) {
  return event.kind == EventKind::kSupervisorReturn && event.call == static_cast<std::uint8_t>(method);
}

// What the recording says of a failure next, of a call that is over by then.
absl::Status AnswerOf(const TraceScript& script, SupervisorMethod method) {
  const Event* const next = script.parted() ? nullptr : script.Ahead(0);
  return next != nullptr && IsReturn(*next, method) ? RecordedStatus(next->code) : absl::OkStatus();
}

// How the next call of that method is recorded to return; null: it does not.
const Event* NextReturn(const TraceScript& script, SupervisorMethod method) {
  for (std::size_t ahead = 0; !script.parted(); ++ahead) {
    const Event* const event = script.Ahead(ahead);
    if (event == nullptr || IsReturn(*event, method)) return event;
  }
  return nullptr;
}

class RecordedWriter : public SummaryWriter {
 public:
  explicit RecordedWriter(const TraceScript& script) : script_(script) {}
  const std::string& logdir() const override { return logdir_; }
  absl::Status AddSummary(const std::string&, std::optional<std::int64_t>) override { return Answer(); }
  absl::Status AddSessionLog(SessionLogStatus, std::optional<std::int64_t>, const std::string&) override {
    return Answer();
  }
  absl::Status AddGraph(const Graph&) override { return Answer(); }
  absl::Status AddMetaGraph(const Graph&, std::optional<std::int64_t>) override { return Answer(); }
  absl::Status AddRunMetadata(const RunMetadata&, const std::string&, std::optional<std::int64_t>) override {
    return Answer();
  }
  absl::Status Flush() override { return Answer(); }
  absl::Status Close() override { return Answer(); }
  absl::Status Reopen() override { return Answer(); }

 private:
  absl::Status Answer() const { return AnswerOf(script_, SupervisorMethod::kWriter); }

  const TraceScript& script_;
  const std::string logdir_ = kTraceDirectory;
};

bool HasFlag(const Event& event, std::int32_t flag) { return (event.index & flag) != 0; }

}  // namespace

absl::StatusOr<std::unique_ptr<File>> GraphFiles::Open(const std::string& path, OpenMode mode) {
  VIGIL_RETURN_IF_ERROR(AnswerOf(script_, SupervisorMethod::kWriteGraph));
  return inner().Open(path, mode);
}

TraceSupervisor::TraceSupervisor(const TraceSpec& trace, const Env& env, TraceUser& user)
    : trace_(trace), user_(user), files_(*env.files, user.script()), env_([&] {
        Env with_files = env;
        with_files.files = &files_;
        return with_files;
      }()) {}

// All of them are given, so that the supervisor neither looks for any nor makes one.
absl::StatusOr<SupervisorOptions> TraceSupervisor::Pieces(Graph& graph) {
  const SupervisorSpec& spec = *trace_.supervisor;
  Builder b(graph);
  b.device = "/job:ps/task:0";  // others than the chief insist on devices
  VIGIL_ASSIGN_OR_RETURN(const Output step, GetOrCreateGlobalStep(env_, b));
  const Tensor nothing(DType::kString, Shape({0}));
  SaverOptions saver_options;
  if (spec.saver == SupervisorSpec::SaverKind::kEmpty) {
    saver_options = {.variables = std::vector<Output>(), .allow_empty = true};
  }
  std::shared_ptr<SummaryWriter> writer = std::make_shared<RecordedWriter>(user_.script());
  if (spec.writer == SupervisorSpec::Writer::kOwn) writer = ObserveWriter(env_, std::move(writer));
  SupervisorOptions options{
      .ready_op = GivenIf(spec.has_ready_op, b.Const("ready", nothing)),
      .ready_for_local_init_op = GivenIf(spec.has_ready_for_local_init_op, b.Const("ready_for_local_init", nothing)),
      .init_op = GivenIf(spec.has_init_op, b.Group("init", {}).node),
      .local_init_op = GivenIf(spec.has_local_init_op, b.Group("local_init", {}).node),
      .summary_op = std::nullopt,
      .saver = GivenIf(spec.saver != SupervisorSpec::SaverKind::kNone, std::make_shared<Saver>(env_, saver_options)),
      .global_step = GivenIf(spec.has_global_step, step),
      .summary_writer = GivenIf(spec.writer != SupervisorSpec::Writer::kNone, std::move(writer)),
  };
  VIGIL_RETURN_IF_ERROR(b.status());
  return options;
}

absl::Status TraceSupervisor::Construct(Graph& graph, std::shared_ptr<SessionFactory> factory) {
  VIGIL_ASSIGN_OR_RETURN(SupervisorOptions options, Pieces(graph));
  options.is_chief = trace_.is_chief;
  options.logdir = trace_.has_checkpoint_dir ? kTraceDirectory : "";
  options.save_summaries_secs = options.save_model_secs = Duration::zero();
  options.recovery_wait_secs = trace_.supervisor->recovery_wait;
  options.stop_grace_secs = trace_.stop_grace_period;
  if (trace_.has_init_fn) {
    options.init_fn = [this](Session& session) { return user_.Call(EventKind::kInitFn, &session); };
  }
  options.factory = std::move(factory);
  options.behaviour = trace_.behaviour;
  if (trace_.graph_is_finalized) {
    // As before the traced one was made.
    user_.script().Mute();
    if (options.saver.value().has_value()) VIGIL_RETURN_IF_ERROR((*options.saver.value())->Build(graph));
    graph.Finalize();
    user_.script().Unmute();
  }
  VIGIL_ASSIGN_OR_RETURN(supervisor_, Supervisor::Create(env_, graph, std::move(options)));
  user_.script().Know(0, supervisor_->coord());
  user_.UseSupervisor([this](const Event& next) { return Act(next); });
  return absl::OkStatus();
}

void TraceSupervisor::LeaveBehind() {
  const Event* const stop = NextReturn(user_.script(), SupervisorMethod::kStop);
  if (stop != nullptr && stop->value != 0) supervisor_->coord()->Register(std::make_shared<StuckTask>());
}

absl::Status TraceSupervisor::Body(const SessionPtr& session) {
  user_.Hold(session);
  absl::Status end = user_.Call(EventKind::kSupervisorReturn, session.get());
  const TracedEvent* const returned = user_.script().Next();
  if (!end.ok() && returned != nullptr && returned->event.value != 0) end = supervisor_->coord()->RequestedError();
  LeaveBehind();
  return end;
}

// What comes of it is recorded: the supervisor's events tell.
bool TraceSupervisor::Act(const Event& next) {
  const SessionPtr session = user_.FindHeld(next.session);
  const auto method = static_cast<SupervisorMethod>(next.call);
  if (next.kind == EventKind::kSupervisorReturn) {
    if (method == SupervisorMethod::kShouldStop) supervisor_->ShouldStop();
    return method == SupervisorMethod::kShouldStop;
  }
  switch (method) {
    case SupervisorMethod::kPrepare: {
      absl::StatusOr<SessionPtr> made =
          supervisor_->PrepareOrWaitForSession({.wait_for_checkpoint = HasFlag(next, kSupervisorWaitsForCheckpoint),
                                                .max_wait_secs = WaitOf(next),
                                                .start_standard_services = HasFlag(next, kSupervisorStartsServices)});
      if (made.ok()) user_.Hold(*made);
      return true;
    }
    case SupervisorMethod::kManagedSession: {
      const Event* const prepared = NextReturn(user_.script(), SupervisorMethod::kPrepare);
      if (prepared != nullptr && prepared->code != Code::kOk) LeaveBehind();  // else the body does
      supervisor_
          ->ManagedSession({.max_wait_secs = WaitOf(next),
                            .start_standard_services = HasFlag(next, kSupervisorStartsServices),
                            .close_summary_writer = HasFlag(next, kSupervisorClosesWriter)},
                           [this](const SessionPtr& managed) { return Body(managed); })
          .IgnoreError();
      return true;
    }
    case SupervisorMethod::kStop:
      LeaveBehind();
      supervisor_
          ->Stop({.close_summary_writer = HasFlag(next, kSupervisorClosesWriter),
                  .ignore_live_tasks = HasFlag(next, kSupervisorIgnoresLiveTasks)})
          .IgnoreError();
      return true;
    case SupervisorMethod::kStartServices:
      supervisor_->StartStandardServices(session).status().IgnoreError();
      return true;
    case SupervisorMethod::kStartQueueRunners: {
      // The graph has none; without a session one is enough to be refused.
      const std::size_t runners = session == nullptr ? 1 : 0;
      supervisor_->StartQueueRunners(session, std::vector<QueueRunnerPtr>(runners)).status().IgnoreError();
      return true;
    }
    case SupervisorMethod::kSummaryComputed:
      supervisor_
          ->SummaryComputed(
              session, std::string(),
              next.has_value ? std::optional<std::int64_t>(static_cast<std::int64_t>(next.value)) : std::nullopt)
          .IgnoreError();
      return true;
    default:
      return false;
  }
}

}  // namespace vigil::replays
