// The methods of a supervisor that its user calls, and what is said of each: that it is called, and what came of it.
#include "vigil/core/base/code.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/io/summary.pb.h"
#include "vigil/core/train/supervisor/supervisor.h"
#include "vigil/core/train/supervisor/supervisor_trace.h"

namespace vigil {

absl::Status Supervisor::Failing(SupervisorMethod method, absl::Status status) const {
  if (!status.ok()) env_.Emit(ReturnOf(method, status));
  return status;
}

absl::StatusOr<SessionPtr> Supervisor::PrepareOrWaitForSession(const PrepareSessionOptions& options) {
  env_.Emit(CallOf(options));
  absl::StatusOr<SessionPtr> session = CallGuarded([&] { return Prepare(options); });
  Event end = ReturnOf(SupervisorMethod::kPrepare, session.status());
  if (session.ok()) end.session = (*session)->number();
  env_.Emit(end);
  return session;
}

absl::StatusOr<std::optional<std::vector<TaskPtr>>> Supervisor::StartStandardServices(const SessionPtr& session) {
  env_.Emit(CallOf(SupervisorMethod::kStartServices, session));
  absl::StatusOr<std::optional<std::vector<TaskPtr>>> started = CallGuarded([&] { return StartServices(session); });
  env_.Emit(ReturnOf(SupervisorMethod::kStartServices, started.status()));
  return started;
}

absl::StatusOr<std::vector<TaskPtr>> Supervisor::StartQueueRunners(
    const SessionPtr& session, const std::optional<std::vector<QueueRunnerPtr>>& queue_runners) {
  env_.Emit(CallOf(SupervisorMethod::kStartQueueRunners, session));
  absl::StatusOr<std::vector<TaskPtr>> started = CallGuarded([&] { return StartRunners(session, queue_runners); });
  env_.Emit(ReturnOf(SupervisorMethod::kStartQueueRunners, started.status()));
  return started;
}

absl::Status Supervisor::SummaryComputed(const SessionPtr& session, const std::string& summary,
                                         std::optional<std::int64_t> step) {
  Event call = CallOf(SupervisorMethod::kSummaryComputed, session);
  call.has_value = step.has_value();
  call.value = static_cast<double>(step.value_or(0));
  env_.Emit(call);
  const absl::Status written = WriteSummary(session, summary, step);
  env_.Emit(ReturnOf(SupervisorMethod::kSummaryComputed, written));
  return written;
}

absl::Status Supervisor::SummaryComputed(const SessionPtr& session, const proto::Summary& summary,
                                         std::optional<std::int64_t> step) {
  return SummaryComputed(session, summary.SerializeAsString(), step);
}

bool Supervisor::ShouldStop() const {
  const bool stop = coord_->ShouldStop();
  Event answer = ReturnOf(SupervisorMethod::kShouldStop, absl::OkStatus());
  answer.has_value = true;
  answer.value = stop ? 1 : 0;
  env_.Emit(answer);
  return stop;
}

absl::Status Supervisor::Stop(const StopOptions& options) {
  env_.Emit(CallOf(options));
  const absl::Status stopped = StopAll(options);
  Event end = ReturnOf(SupervisorMethod::kStop, stopped);
  // Nobody has reported an error: it is the join's own, which has waited in vain.
  end.has_value = true;
  end.value = CodeOf(stopped) == Code::kUsage && coord_->joined() && coord_->RequestedError().ok() ? 1 : 0;
  env_.Emit(end);
  return stopped;
}

absl::Status Supervisor::CallBody(const SessionPtr& session,
                                  const std::function<absl::Status(const SessionPtr&)>& body) {
  env_.Emit(CallOf(SupervisorMethod::kBody, session));
  const absl::Status error = CallGuarded([&] { return body(session); });
  const std::string origin = OriginOf(error);
  Event end = ReturnOf(SupervisorMethod::kBody, error);
  end.subject = origin;
  end.value = !error.ok() && IsSameError(error, coord_->RequestedError()) ? 1 : 0;  // handed on, not made by the body
  env_.Emit(end);
  return error;
}

absl::Status Supervisor::ManagedSession(const ManagedSessionOptions& options,
                                        const std::function<absl::Status(const SessionPtr&)>& body) {
  env_.Emit(CallOf(options));
  const absl::Status end = Manage(options, body);
  env_.Emit(ReturnOf(SupervisorMethod::kManagedSession, end));
  return end;
}

}  // namespace vigil
