#include "vigil/replays/traces/trace_user.h"

#include <utility>

#include "vigil/core/base/code.h"

namespace vigil::replays {
namespace {

// A hook that does in each call what it was recorded to do.
class RecordedHook : public SessionRunHook {
 public:
  RecordedHook(TraceUser& user, std::size_t index, std::string name)
      : user_(user), index_(index), name_(std::move(name)) {}
  std::string_view name() const override { return name_; }

  absl::Status Begin(BeginContext&) override { return user_.Call(EventKind::kHookReturn, nullptr); }
  absl::Status AfterCreateSession(const std::shared_ptr<Session>& session,
                                  const std::shared_ptr<Coordinator>& coordinator) override {
    user_.script().Know(session->number(), coordinator);
    return user_.Call(EventKind::kHookReturn, session.get());
  }
  absl::Status BeforeRun(RunContext& context, RunArgs& args) override {
    absl::Status status = InRun(context);
    if (index_ == 0) args.feeds = {{user_.fed().by_hook, Tensor::Scalar<std::int64_t>(0)}};
    if (RunEndsHere()) {
      args.feeds.push_back(
          {index_ == 0 ? user_.fed().by_caller : user_.fed().by_hook, Tensor::Scalar<std::int64_t>(0)});
    }
    return status;
  }
  absl::Status AfterRun(RunContext& context, const RunValues&) override { return InRun(context); }
  absl::Status End(Session* session) override { return user_.Call(EventKind::kHookReturn, session); }

 private:
  // After this hook has returned, the run fails before it was made.
  bool RunEndsHere() const {
    TraceScript& script = user_.script();
    const Event* next = script.Ahead(1);
    if (next != nullptr && next->kind == EventKind::kHookRequestsStop) next = script.Ahead(2);
    if (script.parted() || next == nullptr || next->code != Code::kUsage) return false;
    return next->kind == EventKind::kRunEnd || next->kind == EventKind::kInnerRunEnd;
  }

  absl::Status InRun(RunContext& context) {
    absl::Status status = user_.Call(EventKind::kHookReturn, &context.session());
    const TracedEvent* const returned = user_.script().Next();
    if (returned != nullptr && returned->event.value != 0) context.RequestStop();
    return status;
  }

  TraceUser& user_;
  const std::size_t index_;
  const std::string name_;
};

// The return of a call that has no event of its own: the user asks whether to stop.
bool IsAnswerOfSupervisor(const Event& event) {
  return event.kind == EventKind::kSupervisorReturn &&
         event.call == static_cast<std::uint8_t>(SupervisorMethod::kShouldStop);
}

}  // namespace

absl::Status RecordedStatus(Code code, std::string_view origin) {
  if (code == Code::kOk) return absl::OkStatus();
  absl::Status status = MakeStatus(code, "recorded");
  return origin.empty() ? status : WithOrigin(std::move(status), origin);
}

std::vector<HookPtr> TraceUser::MakeHooks(const std::vector<std::string>& names) {
  std::vector<HookPtr> hooks;
  for (const std::string& name : names) hooks.push_back(std::make_shared<RecordedHook>(*this, hooks.size(), name));
  return hooks;
}

SessionPtr TraceUser::FindHeld(std::int64_t number) const {
  const auto it = held_.find(number);
  return it == held_.end() ? nullptr : it->second;
}

void TraceUser::Drive() { ActUntil(std::nullopt, nullptr, nullptr); }

absl::Status TraceUser::Call(EventKind end, Session* raw, const StepContext* step) {
  const TracedEvent* const returned = ActUntil(end, raw, step);
  if (returned == nullptr) return absl::OkStatus();
  // Only the returns of step functions and bodies say where an error came from: the subject of the others is their
  // name.
  const bool says_origin = end == EventKind::kStepFnReturn || end == EventKind::kSupervisorReturn;
  return RecordedStatus(returned->event.code, says_origin ? returned->event.subject : "");
}

const TracedEvent* TraceUser::ActUntil(std::optional<EventKind> end, Session* raw, const StepContext* step) {
  while (true) {
    const TracedEvent* const next = script_.Next();
    if (next == nullptr || (next->event.kind == end && !IsAnswerOfSupervisor(next->event))) return next;
    const std::size_t before = script_.position();
    const bool done = Act(next->event, raw, step);
    // What emits nothing would be done for ever.
    if (!script_.parted() && (!done || script_.position() == before)) script_.Part();
  }
}

bool TraceUser::Act(const Event& next, Session* raw, const StepContext* step) {
  switch (next.kind) {
    case EventKind::kRunStart:
    case EventKind::kBareRunStart:
    case EventKind::kShouldStop:
    case EventKind::kRecovery:  // found by ShouldStop, which has no event of its own at its beginning
    case EventKind::kCloseStart:
      return UseSession(next);
    case EventKind::kInnerRunStart:
      if (step != nullptr) step->RunWithHooks({}, CallerFeeds()).status().IgnoreError();
      return step != nullptr;
    case EventKind::kSessionCall:
      return UseRaw(next, raw);
    case EventKind::kCoordinatorRequestStop:
    case EventKind::kCoordinatorJoin:
      return UseCoordinator(next);
    case EventKind::kSupervisorCall:
    case EventKind::kSupervisorReturn:
      return act_on_supervisor_ != nullptr && act_on_supervisor_(next);
    case EventKind::kSleep:
    case EventKind::kWriterCall:
    case EventKind::kListenerCall:
    case EventKind::kNote:
      env_.Emit(next);
      return true;
    default:
      return false;
  }
}

// What comes of it is recorded: the layer's events tell.
bool TraceUser::UseSession(const Event& next) {
  if (session_ == nullptr) return false;
  switch (next.kind) {
    case EventKind::kRunStart:
      if (next.call == 0) {
        session_->Run({}, CallerFeeds()).status().IgnoreError();
      } else {
        session_->RunStepFn([this](StepContext& context) { return Step(context); }).IgnoreError();
      }
      return true;
    case EventKind::kBareRunStart:
      session_->RunWithoutHooks({}).status().IgnoreError();
      return true;
    case EventKind::kCloseStart:
      session_->Exit(RecordedStatus(next.code, next.subject)).IgnoreError();
      return true;
    default:
      session_->ShouldStop().status().IgnoreError();
      return true;
  }
}

absl::Status TraceUser::Step(StepContext& context) {
  absl::Status status = Call(EventKind::kStepFnReturn, &context.session(), &context);
  const TracedEvent* const returned = script_.Next();
  if (returned != nullptr && returned->event.value != 0) context.RequestStop().IgnoreError();
  return status;
}

// A call has no effect but its answer, which went to the user; closing is seen by the layer.
bool TraceUser::UseRaw(const Event& next, Session* raw) {
  const SessionPtr held = FindHeld(next.session);
  if (raw == nullptr) raw = held.get();
  if (next.call == static_cast<std::uint8_t>(CallKind::kClose) && raw != nullptr && raw->number() == next.session) {
    raw->Close().IgnoreError();
  } else {
    env_.Emit(next);
  }
  return true;
}

bool TraceUser::UseCoordinator(const Event& next) {
  const std::shared_ptr<Coordinator> coordinator = script_.FindCoordinator(next.session);
  if (coordinator == nullptr) {
    env_.Emit(next);
  } else if (next.kind == EventKind::kCoordinatorJoin) {
    coordinator->Join({.stop_grace_period = Duration::zero(), .ignore_live_tasks = true}).IgnoreError();
  } else {
    coordinator->RequestStop(RecordedStatus(next.code)).IgnoreError();
  }
  return true;
}

}  // namespace vigil::replays
