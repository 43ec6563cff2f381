#include "vigil/core/train/coordinated_session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/saturating.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/train/hook_call.h"

namespace vigil {
namespace {

// They keep what they use: their session with its graph, the coordinator.
void NoteStragglers(const Env& env, const Coordinator& coord, const Session& session, Duration waited,
                    SessionLife& life) {
  const std::vector<std::string> left = coord.stragglers();
  if (left.empty()) return;
  life.grace_used = SaturatingAdd(life.grace_used, waited);
  life.stragglers.insert(life.stragglers.end(), left.begin(), left.end());
  if (!life.behaviour.one_grace_period) return;
  env.log->Write(
      Severity::kError,
      fmt::format("Session {} is closed while tasks of its coordinator still run: {}. They did not end within the "
                  "stop grace period ({:g} s for all sessions of a monitored one); what they are given by you must "
                  "outlive them.",
                  session.number(), fmt::join(left, ", "), ToSeconds(life.stop_grace_period)));
}

}  // namespace

CoordinatedSession::CoordinatedSession(const Env& env, SessionPtr session, const std::vector<HookPtr>& hooks,
                                       std::shared_ptr<Coordinator> coord, SessionLife& life)
    : hooked_(env, session, hooks, life),
      env_(env),
      session_(std::move(session)),
      coord_(std::move(coord)),
      life_(life) {}

absl::Status CoordinatedSession::Run(LayerRun& run) {
  if (closed_) return UsageError("This session was closed by a recovery. Use the monitored session instead.");
  return RootCauseOf(hooked_.Run(run), *coord_);
}

absl::Status CoordinatedSession::RunStepFn(const LayerStepFn& step_fn) {
  return step_fn([this](LayerRun& run) { return Run(run); });
}

absl::StatusOr<bool> CoordinatedSession::CheckStop() const {
  // In this order: an error that comes in between must not look like a stop without one, which ends a scope cleanly.
  const bool stop = coord_->ShouldStop();
  VIGIL_RETURN_IF_ERROR(coord_->RequestedError());
  return stop;
}

absl::StatusOr<bool> CoordinatedSession::ShouldStop() {
  VIGIL_ASSIGN_OR_RETURN(const bool stop, CheckStop());
  return stop || hooked_.should_stop();
}

absl::Status CoordinatedSession::Close() {
  closed_ = true;
  return StopJoinAndClose(env_, *coord_, *session_, life_);
}

absl::Status RootCauseOf(const absl::Status& status, const Coordinator& coord) {
  if (status.ok() || IsPreemption(status)) return status;
  const absl::Status root_cause = coord.RequestedError();
  return IsPreemption(root_cause) ? root_cause : status;
}

absl::Status StopJoinAndClose(const Env& env, Coordinator& coord, Session& session, SessionLife& life) {
  VIGIL_RETURN_IF_ERROR(coord.RequestStop());
  Duration grace = life.stop_grace_period;
  if (life.behaviour.one_grace_period) grace = std::max(Duration::zero(), grace - life.grace_used);
  const Time start = env.clock->Monotonic();
  const absl::Status joined = coord.Join({.stop_grace_period = grace, .ignore_live_tasks = true});
  NoteStragglers(env, coord, session, env.clock->Monotonic() - start, life);
  // TensorFlow ignores what closing the raw session fails with: the run is over either way.
  CallGuarded([&] { return session.Close(); }).IgnoreError();
  return joined;
}

CoordinatedSessionCreator::CoordinatedSessionCreator(const Env& env, std::shared_ptr<SessionCreator> creator,
                                                     const std::vector<HookPtr>& hooks, SessionLife& life,
                                                     QueueRunnerStarter start_queue_runners)
    : env_(env),
      creator_(std::move(creator)),
      hooks_(hooks),
      life_(life),
      start_queue_runners_(std::move(start_queue_runners)) {
  if (start_queue_runners_ != nullptr) return;
  start_queue_runners_ = [](const auto& session, const auto& coord) {
    return vigil::StartQueueRunners(session, coord).status();
  };
}

absl::Status CoordinatedSessionCreator::StartQueueRunners() {
  if (session_->graph().Collection(kQueueRunners).empty()) return absl::OkStatus();
  const absl::Status status = CallGuarded([this] { return start_queue_runners_(session_, coord_); });
  env_.Emit({.kind = EventKind::kQueueRunners, .code = CodeOf(status), .session = session_->number()});
  return status;
}

absl::Status CoordinatedSessionCreator::CallAfterCreateSession() {
  for (std::size_t i = 0; i < hooks_.size(); ++i) {
    VIGIL_RETURN_IF_ERROR(CallHook(env_, *hooks_[i], i, HookMethod::kAfterCreateSession, session_.get(), nullptr,
                                   nullptr, [&] { return hooks_[i]->AfterCreateSession(session_, coord_); }));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CoordinatedSession>> CoordinatedSessionCreator::Create() {
  struct Creating {
    explicit Creating(bool& flag) : flag_(flag) { flag_ = true; }
    ~Creating() { flag_ = false; }
    bool& flag_;
  } const creating(life_.creating);
  VIGIL_ASSIGN_OR_RETURN(session_, CallGuarded([this] { return creator_->CreateSession(); }));
  coord_ = std::make_shared<Coordinator>(
      env_, CoordinatorOptions{.clean_stop_codes = {}, .session = session_->number(), .behaviour = life_.behaviour});
  absl::Status status = StartQueueRunners();
  if (status.ok()) status = CallAfterCreateSession();
  if (status.ok()) return std::make_unique<CoordinatedSession>(env_, session_, hooks_, coord_, life_);
  if (life_.behaviour.close_partial_session) {
    // What it was created for has failed already: that error is the one to tell.
    StopJoinAndClose(env_, *coord_, *session_, life_).IgnoreError();
  }
  return status;
}

void CoordinatedSessionCreator::Forget() {
  session_ = nullptr;
  coord_ = nullptr;
}

}  // namespace vigil
