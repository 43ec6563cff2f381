// How a modelled session comes into being, and comes again after a preemption.
#include <utility>

#include "vigil/properties/model/arguments.h"
#include "vigil/properties/model/session_layers.h"

namespace vigil::properties::model {
namespace {

constexpr double kRecoveryWaitSecs = 30;

double GraceSecs(const Scenario& scenario) {
  constexpr double kGraceSecs = 120;
  return NumberArgument(scenario.session.args, "stop_grace_period_secs").value_or(kGraceSecs);
}

bool HasQueue(const Scenario& scenario) { return scenario.model.batches.has_value() && scenario.model.queue_input; }

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
  const Code created = IsWorker(world_.scenario()) ? CreateAsWorker(raw) : CreateAsChief(raw);
  if (created != Code::kOk) return created;
  raw_ = raw;
  auto coord = std::make_shared<Coordinator>(world_, GraceSecs(world_.scenario()));
  if (HasQueue(world_.scenario())) {
    const World::Hit hit = world_.Next(FaultPoint::kQueueRunners);
    if (hit.code != Code::kOk) {
      world_.SayFailed("queue_runners", hit.code);
      return hit.code;
    }
    world_.Say("queue_runners started");
  }
  for (const std::unique_ptr<Hook>& hook : hooks_) {
    if (const Code code = hook->AfterCreateSession(raw, coord); code != Code::kOk) return code;
  }
  made = std::make_unique<Coordinated>();
  made->raw = raw;
  made->coord = coord;
  return Code::kOk;
}

Code SessionModel::CreateAsChief(RawSessionPtr& made) {
  RawSessionPtr session;
  if (const Code code = world_.CreateSession(session); code != Code::kOk) return code;
  bool restored = false;
  if (const Code code = Restore(*session, restored); code != Code::kOk) return code;
  if (!restored) {
    Variables& variables = *session->variables;
    const Code code = world_.Call(*session, FaultPoint::kInit, [&] {
      if (world_.scenario().model.fed_variable && !world_.scenario().init_feed.has_value())
        return Code::kInvalidArgument;
      variables.initialized = true;
      variables.step = 0;
      return Code::kOk;
    });
    if (code != Code::kOk) return code;
    if (world_.scenario().init_fn) {
      const World::Hit hit = world_.Next(FaultPoint::kInitFn);
      if (hit.code != Code::kOk) {
        world_.SayFailed("init_fn", hit.code);
        return hit.code;
      }
      world_.Say("init_fn session={}", World::Name(session.get()));
    }
  }
  bool ready = false;
  if (const Code code = TryLocalInit(*session, ready); code != Code::kOk) return code;
  if (!ready) return Code::kUsage;
  if (const Code code = IsReady(*session, FaultPoint::kReady, ready); code != Code::kOk) return code;
  if (!ready) return Code::kUsage;
  made = session;
  return Code::kOk;
}

Code SessionModel::CreateAsWorker(RawSessionPtr& made) {
  const double start = world_.now();
  while (!world_.over()) {
    RawSessionPtr session;
    if (const Code code = world_.CreateSession(session); code != Code::kOk) return code;
    bool ready = false;
    if (const Code code = TryLocalInit(*session, ready); code != Code::kOk) return code;
    if (ready) {
      if (const Code code = IsReady(*session, FaultPoint::kReady, ready); code != Code::kOk) return code;
    }
    if (ready) {
      made = session;
      return Code::kOk;
    }
    world_.CloseSession(*session);
    double left = max_wait_secs_ - (world_.now() - start);
    if (left < 0) left = 0;
    if (left - kRecoveryWaitSecs < 0) return Code::kDeadlineExceeded;
    world_.Sleep(kRecoveryWaitSecs);
  }
  return Code::kInternal;
}

Code SessionModel::Restore(RawSession& session, bool& restored) {
  const replays::CheckpointSpec& spec = world_.scenario().checkpoint;
  if (spec.dir && spec.filename.has_value()) return Code::kUsage;
  if (!spec.dir && !spec.filename.has_value()) return Code::kOk;
  Directory& directory = world_.directory();
  if (spec.filename.has_value()) {
    restored = true;
    return RestoreFile(session, *spec.filename);
  }
  if (directory.state() == Directory::State::kInvalid) return Code::kUsage;
  if (directory.state() != Directory::State::kNamesCheckpoints) return Code::kOk;
  if (const Code code = RestoreFile(session, directory.latest()); code != Code::kOk) return code;
  directory.RecoverLast();
  restored = true;
  return Code::kOk;
}

Code SessionModel::RestoreFile(RawSession& session, std::int64_t name) {
  if (!world_.scenario().model.global_step) return Code::kOk;  // nothing to restore, no call
  const Directory& directory = world_.directory();
  if (!directory.HasIndex(name)) return Code::kUsage;  // before the session is called
  return world_.Call(session, FaultPoint::kRestore, [&] {
    const Code code = directory.Restore(name, session.variables->step);
    if (code == Code::kOk) session.variables->initialized = true;
    return code;
  });
}

// Ready for the local initialisation: what is global is there. Ready: what is local as well.
Code SessionModel::IsReady(RawSession& session, FaultPoint which, bool& ready) {
  const Variables& variables = *session.variables;
  const replays::ModelSpec& model = world_.scenario().model;
  const bool has_local = model.local_variable || HasQueue(world_.scenario());
  const auto look = [&] {
    ready = variables.initialized || !model.global_step;
    if (which == FaultPoint::kReady && has_local) ready = ready && variables.local_initialized;
    return Code::kOk;
  };
  return world_.Call(session, which, look, [&] { return ready ? " -> yes" : " -> no"; });
}

Code SessionModel::TryLocalInit(RawSession& session, bool& done) {
  if (const Code code = IsReady(session, FaultPoint::kReadyForLocalInit, done); code != Code::kOk) return code;
  if (!done) return Code::kOk;
  return world_.Call(session, FaultPoint::kLocalInit, [&] {
    session.variables->local_initialized = true;
    return Code::kOk;
  });
}

}  // namespace vigil::properties::model
