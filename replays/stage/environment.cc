#include "vigil/replays/stage/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "vigil/core/base/check.h"

namespace vigil::replays {

FaultPoint FaultPointOf(CallKind kind) {
  switch (kind) {
    case CallKind::kCreate:
      return FaultPoint::kCreate;
    case CallKind::kInit:
      return FaultPoint::kInit;
    case CallKind::kReadyForLocalInit:
      return FaultPoint::kReadyForLocalInit;
    case CallKind::kLocalInit:
      return FaultPoint::kLocalInit;
    case CallKind::kReady:
      return FaultPoint::kReady;
    case CallKind::kRestore:
      return FaultPoint::kRestore;
    case CallKind::kSave:
      return FaultPoint::kSave;
    case CallKind::kRun:
      return FaultPoint::kRun;
    case CallKind::kReadStep:
      return FaultPoint::kReadStep;
    case CallKind::kRawRun:
      return FaultPoint::kRawRun;
    case CallKind::kSummary:
      return FaultPoint::kSummary;
    case CallKind::kFinalOps:
      return FaultPoint::kFinalOps;
    case CallKind::kClose:
      return FaultPoint::kClose;
  }
  VIGIL_CHECK(!"a call kind without a fault point");
  return FaultPoint::kRawRun;
}

sim::SessionFault Environment::Next(CallKind kind, const std::shared_ptr<Session>& session) {
  return Next(FaultPointOf(kind), session);
}

sim::SessionFault Environment::Next(FaultPoint point, const std::shared_ptr<Session>& session) {
  if (session != nullptr) session_ = session;
  const std::int64_t number = ++calls_[static_cast<std::size_t>(point)];
  sim::SessionFault hit;
  if (calm_) return hit;
  for (const Fault& fault : faults_) {
    if (fault.at != point) continue;
    if (std::find(fault.calls.begin(), fault.calls.end(), number) == fault.calls.end()) continue;
    if (absl::Status failed = Act(fault); !failed.ok()) return {.error = std::move(failed)};
    if (fault.code.has_value()) {
      // By this text an op says that the model is not ready, and fails otherwise.
      const std::string_view why = fault.not_ready ? ": a variable is uninitialized" : "";
      hit.error = MakeStatus(*fault.code, fmt::format("scenario {}{}", CodeName(*fault.code), why));
      hit.lost_reply = fault.lost_reply;
    }
  }
  return hit;
}

absl::Status Environment::Act(const Fault& fault) {
  if (fault.advance_step.has_value()) AdvanceStep(*fault.advance_step);
  if (fault.sigterm && signal_ != nullptr) signal_();
  if (!fault.chief_init.has_value() || chief_init_ == nullptr) return absl::OkStatus();
  return chief_init_(*fault.chief_init);
}

void Environment::AdvanceStep(std::int64_t steps) {
  const std::shared_ptr<Session> session = session_.lock();
  if (session == nullptr || session->closed() || model_.bump_op == kNoNode) return;
  const RunSpec spec{.feeds = {model_.bump}, .fetches = {}, .targets = {model_.bump_op}, .unresolved = {}};
  const std::vector<Tensor> values = {Tensor::Scalar<std::int64_t>(steps)};
  std::vector<Tensor> nothing;
  // Other workers' progress on a model that is not initialised yet is no progress.
  session->Run({.spec = spec, .feed_values = values}, &nothing).IgnoreError();
}

void SleepSeam::SleepUntil(Time deadline) {
  inner().SleepUntil(deadline);
  if (applies_()) environment_.Next(FaultPoint::kSleep);
}

}  // namespace vigil::replays
