#include "vigil/replays/probe.h"

#include <algorithm>

#include "vigil/core/base/status_macros.h"
#include "vigil/replays/notes.h"

namespace vigil::replays {
namespace {

void Emit(const Env& env, Note note, std::string_view name, Code code = Code::kOk) {
  env.Emit({.kind = EventKind::kNote, .code = code, .call = static_cast<std::uint8_t>(note), .subject = name});
}

bool Matches(const PlanEntry& entry, HookMethod method, std::int64_t call) {
  if (entry.method != HookMethodName(method)) return false;
  return entry.calls.empty() || std::find(entry.calls.begin(), entry.calls.end(), call) != entry.calls.end();
}

absl::Status NoCoordinator() { return UsageError("The probe has no coordinator before its first session."); }

}  // namespace

absl::Status Probe::ReadStep(Session* session) const {
  if (session == nullptr)
    return UsageError("The probe was asked to read the global step, but there is no session any more.");
  if (!model_.read.has_value())
    return UsageError("The probe was asked to read the global step of a model without one.");
  return RunFetch(*session, *model_.read).status();
}

absl::Status Probe::Do(const PlanEntry& entry, Session* session, RunContext* context, RunArgs* args) {
  switch (entry.action) {
    case Action::kRaise:
      Emit(env_, Note::kHookRaises, name(), entry.code);
      return MakeStatus(entry.code, "scenario " + std::string(CodeName(entry.code)));
    case Action::kRequestStop:
      Emit(env_, Note::kHookRequestsStop, name());
      if (context == nullptr) return UsageError("A probe can request a stop in before_run and after_run only.");
      context->RequestStop();
      return absl::OkStatus();
    case Action::kReport:
      Emit(env_, Note::kHookReports, name(), entry.code);
      if (coord_ == nullptr) return NoCoordinator();
      return coord_->RequestStop(MakeStatus(entry.code, "scenario " + std::string(CodeName(entry.code))));
    case Action::kCoordinatorStop:
      Emit(env_, Note::kHookStopsCoordinator, name());
      if (coord_ == nullptr) return NoCoordinator();
      return coord_->RequestStop();
    case Action::kReadStep:
      return ReadStep(session);
    case Action::kFetch:
      if (args == nullptr) return absl::OkStatus();
      if (entry.what == "step") {
        args->fetches = model_.read.has_value() ? Fetches(*model_.read) : Fetches();
      } else {
        args->fetches = model_.fed;
      }
      return absl::OkStatus();
    case Action::kFeed:
      if (args != nullptr) args->feeds = {{model_.feed_me, Tensor::Scalar<std::int64_t>(entry.value)}};
      return absl::OkStatus();
    case Action::kStartThread:
      return StartThread(entry.value);
  }
  return absl::OkStatus();
}

// It belongs to the session's tasks, but hears of no stop until its time is over.
absl::Status Probe::StartThread(std::int64_t secs) const {
  env_.Emit({.kind = EventKind::kNote,
             .call = static_cast<std::uint8_t>(Note::kHookStartsThread),
             .has_value = true,
             .value = static_cast<double>(secs),
             .subject = name()});
  if (coord_ == nullptr) return NoCoordinator();
  const Time end = DeadlineAfter(env_, Seconds(static_cast<double>(secs)));
  coord_->Register(env_.tasks->Spawn("deaf", [tasks = env_.tasks, end] { tasks->SleepUntil(end); }));
  return absl::OkStatus();
}

absl::Status Probe::Act(HookMethod method, Session* session, RunContext* context, RunArgs* args) {
  const std::int64_t call = ++calls_[static_cast<std::size_t>(method)];
  for (const PlanEntry& entry : spec_.plan) {
    if (Matches(entry, method, call)) VIGIL_RETURN_IF_ERROR(Do(entry, session, context, args));
  }
  return absl::OkStatus();
}

absl::Status Probe::Begin(BeginContext&) { return Act(HookMethod::kBegin, nullptr, nullptr, nullptr); }

absl::Status Probe::AfterCreateSession(const std::shared_ptr<Session>& session,
                                       const std::shared_ptr<Coordinator>& coord) {
  coord_ = coord;
  return Act(HookMethod::kAfterCreateSession, session.get(), nullptr, nullptr);
}

absl::Status Probe::BeforeRun(RunContext& context, RunArgs& args) {
  return Act(HookMethod::kBeforeRun, &context.session(), &context, &args);
}

absl::Status Probe::AfterRun(RunContext& context, const RunValues&) {
  return Act(HookMethod::kAfterRun, &context.session(), &context, nullptr);
}

absl::Status Probe::End(Session* session) { return Act(HookMethod::kEnd, session, nullptr, nullptr); }

}  // namespace vigil::replays
