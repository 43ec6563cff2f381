#include "vigil/properties/model/session_manager.h"

#include "vigil/properties/model/input_queue.h"

namespace vigil::properties::model {

Code SessionManagerModel::Prepare(RawSessionPtr& made) {
  RawSessionPtr session;
  if (const Code code = world_.CreateSession(session); code != Code::kOk) return code;
  bool restored = false;
  if (const Code code = Restore(*session, restored); code != Code::kOk) return code;
  if (!restored) {
    if (const Code code = Initialize(*session); code != Code::kOk) return code;
  }
  bool ready = false;
  if (const Code code = TryLocalInit(*session, ready); code != Code::kOk) return code;
  if (!ready) return Code::kUsage;
  if (const Code code = IsReady(*session, FaultPoint::kReady, ready); code != Code::kOk) return code;
  if (!ready) return Code::kUsage;
  made = session;
  return Code::kOk;
}

Code SessionManagerModel::Initialize(RawSession& session) {
  const Scenario& scenario = world_.scenario();
  const Code code = world_.Call(session, FaultPoint::kInit, [&] {
    if (scenario.model.fed_variable && !scenario.init_feed.has_value()) return Code::kInvalidArgument;
    session.variables->initialized = true;
    session.variables->step = 0;
    return Code::kOk;
  });
  if (code != Code::kOk || !scenario.init_fn) return code;
  const World::Hit hit = world_.Next(FaultPoint::kInitFn);
  if (hit.code != Code::kOk) {
    world_.SayFailed("init_fn", hit.code);
    return hit.code;
  }
  world_.Say("init_fn session={}", World::Name(&session));
  return Code::kOk;
}

Code SessionManagerModel::Wait(double max_wait_secs, RawSessionPtr& made) {
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
    double left = max_wait_secs - (world_.now() - start);
    if (left < 0) left = 0;
    if (left - options_.recovery_wait_secs < 0) return Code::kDeadlineExceeded;
    world_.Sleep(options_.recovery_wait_secs);
  }
  return Code::kInternal;
}

Code SessionManagerModel::Restore(RawSession& session, bool& restored) {
  if (options_.directory && options_.filename.has_value()) return Code::kUsage;
  if (!options_.saver || (!options_.directory && !options_.filename.has_value())) return Code::kOk;
  Directory& directory = world_.directory();
  if (options_.filename.has_value()) {
    restored = true;
    return RestoreFile(session, *options_.filename);
  }
  if (directory.state() == Directory::State::kInvalid) return Code::kUsage;
  if (directory.state() != Directory::State::kNamesCheckpoints) return Code::kOk;
  if (const Code code = RestoreFile(session, directory.latest()); code != Code::kOk) return code;
  directory.RecoverLast();
  restored = true;
  return Code::kOk;
}

Code SessionManagerModel::RestoreFile(RawSession& session, std::int64_t name) {
  const replays::ModelSpec& model = world_.scenario().model;
  if (!model.global_step && !model.fed_variable) return Code::kOk;  // nothing to restore, no call
  const Directory& directory = world_.directory();
  if (!directory.HasIndex(name)) return Code::kUsage;  // before the session is called
  return world_.Call(session, FaultPoint::kRestore, [&] {
    const Code code = directory.Restore(name, !model.fed_variable, session.variables->step);
    if (code == Code::kOk) session.variables->initialized = true;
    return code;
  });
}

// Ready for the local initialisation: what is global is there. Ready: what is local as well.
Code SessionManagerModel::IsReady(RawSession& session, FaultPoint which, bool& ready) {
  const Variables& variables = *session.variables;
  const replays::ModelSpec& model = world_.scenario().model;
  const bool has_local = model.local_variable || HasInputQueue(model);
  const auto look = [&] {
    ready = variables.initialized || !model.global_step;
    if (which == FaultPoint::kReady && has_local) ready = ready && variables.local_initialized;
    return Code::kOk;
  };
  return world_.Call(session, which, look, [&] { return ready ? " -> yes" : " -> no"; });
}

Code SessionManagerModel::TryLocalInit(RawSession& session, bool& done) {
  done = true;
  if (options_.ready_for_local_init) {
    if (const Code code = IsReady(session, FaultPoint::kReadyForLocalInit, done); code != Code::kOk) return code;
  }
  if (!done) return Code::kOk;
  return world_.Call(session, FaultPoint::kLocalInit, [&] {
    session.variables->local_initialized = true;
    return Code::kOk;
  });
}

}  // namespace vigil::properties::model
