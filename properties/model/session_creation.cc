// How a modelled session comes into being, and comes again after a preemption.
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
  }
  return Code::kInternal;
}

Code SessionModel::CreateCoordinated(std::unique_ptr<Coordinated>& made) {
  RawSessionPtr raw;
  if (!graph_finalized_) world_.Say("graph finalized");
  graph_finalized_ = true;
  const replays::CheckpointSpec& checkpoint = world_.scenario().checkpoint;
  SessionManagerModel manager(world_, {.directory = checkpoint.dir, .filename = checkpoint.filename});
  const Code created = IsWorker(world_.scenario()) ? manager.Wait(max_wait_secs_, raw) : manager.Prepare(raw);
  if (created != Code::kOk) return created;
  raw_ = raw;
  auto coord = std::make_shared<Coordinator>(world_, GraceSecs(world_.scenario()));
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
  made = std::make_unique<Coordinated>();
  made->raw = raw;
  made->coord = coord;
  return Code::kOk;
}

}  // namespace vigil::properties::model
