// How a modelled session comes into being, and comes again after a preemption.
#include <algorithm>
#include <cmath>
#include <utility>

#include "vigil/properties/model/arguments.h"
#include "vigil/properties/model/input_queue.h"
#include "vigil/properties/model/session_layers.h"
#include "vigil/properties/model/session_manager.h"

namespace vigil::properties::model {
namespace {

double GraceSecs(const Scenario& scenario) {
  constexpr double kGraceSecs = 120;
  return NumberArgument(scenario.session.args, "stop_grace_period_secs").value_or(kGraceSecs);
}

bool IsWorker(const Scenario& scenario) {
  return scenario.session.kind == replays::SessionKind::kTraining &&
         !FlagArgument(scenario.session.args, "is_chief", true);
}

}  // namespace

Code SessionModel::CreateUntilItWorks() {
  while (!world_.over()) {
    const Code code = CreateCoordinated(session_);
    if (!IsPreemptionError(code)) return code;
    if (const Code given_up = PauseBeforeNextAttempt(); given_up != Code::kOk) return given_up;
    if (world_.told_to_end()) return Code::kCancelled;
  }
  return Code::kInternal;
}

Code SessionModel::PauseBeforeNextAttempt() {
  if (!world_.behaviour().bounded_recovery) return Code::kOk;
  failing_ = true;
  waited_last_ = waited_;
  const double elapsed = world_.now() - attempts_since_ - (waited_ - waited_at_start_);
  if (elapsed >= kGiveUpAfter) return Code::kDeadlineExceeded;
  // Time has whole nanoseconds.
  constexpr double kTicks = 1e9;
  const double jitter = std::floor(wait_ * kTicks * world_.DrawJitter() / 4) / kTicks;
  const double wait = std::round((wait_ + jitter) * kTicks) / kTicks;
  if (world_.SleepUnlessTold(std::min(wait, kGiveUpAfter - elapsed))) return Code::kCancelled;
  wait_ = std::min(2 * wait_, kLongestWait);
  return Code::kOk;
}

void SessionModel::Completed() {
  attempts_since_ = world_.clock();
  if (!failing_) return;
  failing_ = false;
  wait_ = kFirstWait;
  waited_at_start_ = waited_last_;
}

Code SessionModel::CreateCoordinated(std::unique_ptr<Coordinated>& made) {
  RawSessionPtr raw;
  if (!graph_finalized_) world_.Say("graph finalized");
  graph_finalized_ = true;
  const replays::CheckpointSpec& checkpoint = world_.scenario().checkpoint;
  SessionManagerModel manager(world_, {.directory = checkpoint.dir, .filename = checkpoint.filename});
  const Code created = IsWorker(world_.scenario()) ? manager.Wait(max_wait_secs_, raw) : manager.Prepare(raw);
  waited_ += manager.waited();
  if (created != Code::kOk) return created;
  raw_ = raw;
  auto coord = std::make_shared<Coordinator>(world_, GraceSecs(world_.scenario()));
  if (const Code code = StartCoordinated(raw, coord); code != Code::kOk) {
    if (world_.behaviour().close_partial_session) StopJoinAndClose(*raw, *coord);
    return code;
  }
  if (!world_.behaviour().stop_survives_recovery) stop_requested_ = false;
  made = std::make_unique<Coordinated>();
  made->raw = raw;
  made->coord = coord;
  return Code::kOk;
}

Code SessionModel::StartCoordinated(const RawSessionPtr& raw, const std::shared_ptr<Coordinator>& coord) {
  if (HasInputQueue(world_.scenario().model)) {
    const World::Hit hit = world_.Next(FaultPoint::kQueueRunners);
    if (hit.code != Code::kOk) {
      world_.SayFailed("queue_runners", hit.code);
      return hit.code;
    }
    world_.Say("queue_runners started");
    StartInputQueue(world_, *raw, *coord);
  }
  for (const std::unique_ptr<Hook>& hook : hooks_) {
    if (const Code code = hook->AfterCreateSession(raw, coord); code != Code::kOk) return code;
  }
  return Code::kOk;
}

Code SessionModel::StopJoinAndClose(RawSession& raw, Coordinator& coord) {
  coord.RequestStop(Code::kOk);
  if (world_.behaviour().one_grace_period) coord.set_grace(std::max(0.0, GraceSecs(world_.scenario()) - grace_used_));
  const double start = world_.clock();
  const Code joined = coord.Join();
  grace_used_ += world_.clock() - start;
  world_.CloseSession(raw);  // its errors are nobody's
  return joined;
}

}  // namespace vigil::properties::model
