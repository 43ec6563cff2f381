#include "vigil/replays/stage/probe.h"

#include <fmt/format.h>

#include <algorithm>

#include "vigil/core/base/status_macros.h"
#include "vigil/replays/stage/notes.h"
#include "vigil/replays/stage/run_parts.h"
#include "vigil/replays/stage/unresponsive_task.h"

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

absl::Status Probe::StopCoordinator(const PlanEntry& entry) const {
  const bool report = entry.action == Action::kReport;
  Emit(env_, report ? Note::kHookReports : Note::kHookStopsCoordinator, name(), report ? entry.code : Code::kOk);
  if (coord_ == nullptr) return NoCoordinator();
  if (!report) return coord_->RequestStop();
  return coord_->RequestStop(MakeStatus(entry.code, "scenario " + std::string(CodeName(entry.code))));
}

void Probe::AskFor(const PlanEntry& entry, RunArgs& args) const {
  if (entry.action == Action::kFeed) {
    args.feeds = {{model_.feed_me, Tensor::Scalar<std::int64_t>(entry.value)}};
  } else if (entry.action == Action::kOptions) {
    args.options = entry.options;
  } else if (entry.nested.has_value()) {
    args.fetches = FetchesOf(model_, *entry.nested);
  } else {
    // As Python's None: a model without a global step has nothing to fetch.
    args.fetches = entry.what == "step" && !model_.read.has_value() ? Fetches() : FetchesOf(model_, entry.what);
  }
}

void Probe::Show(const RunValues& values) const {
  const auto say = [this](const std::string& line) {
    env_.Emit({.kind = EventKind::kNote, .call = static_cast<std::uint8_t>(Note::kHookSees), .subject = line});
  };
  say(fmt::format("hook {} sees results {}", name(), ValueText(values.results)));
  say(fmt::format("hook {} sees options {} traced={}", name(), OptionsText(values.options),
                  TracedText(values.metadata)));
}

absl::Status Probe::Do(const PlanEntry& entry, Session* session, RunContext* context, RunArgs* args,
                       const RunValues* values) {
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
    case Action::kCoordinatorStop:
      return StopCoordinator(entry);
    case Action::kReadStep:
      return ReadStep(session);
    case Action::kFetch:
    case Action::kFeed:
    case Action::kOptions:
      if (args != nullptr) AskFor(entry, *args);
      return absl::OkStatus();
    case Action::kShow:
      if (values != nullptr) Show(*values);
      return absl::OkStatus();
    case Action::kStartThread:
      return StartThread(entry.value);
  }
  return absl::OkStatus();
}

absl::Status Probe::StartThread(std::int64_t secs) const {
  env_.Emit({.kind = EventKind::kNote,
             .call = static_cast<std::uint8_t>(Note::kHookStartsThread),
             .has_value = true,
             .value = static_cast<double>(secs),
             .subject = name()});
  if (coord_ == nullptr) return NoCoordinator();
  StartUnresponsiveTask(env_, *coord_, Seconds(static_cast<double>(secs)));
  return absl::OkStatus();
}

absl::Status Probe::Act(HookMethod method, Session* session, RunContext* context, RunArgs* args,
                        const RunValues* values) {
  const std::int64_t call = ++calls_[static_cast<std::size_t>(method)];
  for (const PlanEntry& entry : spec_.plan) {
    if (Matches(entry, method, call)) VIGIL_RETURN_IF_ERROR(Do(entry, session, context, args, values));
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

absl::Status Probe::AfterRun(RunContext& context, const RunValues& values) {
  return Act(HookMethod::kAfterRun, &context.session(), &context, nullptr, &values);
}

absl::Status Probe::End(Session* session) { return Act(HookMethod::kEnd, session, nullptr, nullptr); }

}  // namespace vigil::replays
