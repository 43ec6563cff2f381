#include "vigil/properties/model/session_manager.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "vigil/properties/model/input_queue.h"

namespace vigil::properties::model {

Code SessionManagerModel::Prepare(RawSessionPtr& made) {
  RawSessionPtr session;
  if (const Code code = world_.CreateSession(session); code != Code::kOk) return code;
  const Code code = MakeReady(*session);
  if (code == Code::kOk) {
    made = session;
  } else {
    CloseUnready(*session);
  }
  return code;
}

void SessionManagerModel::CloseUnready(RawSession& session) {
  if (world_.behaviour().close_partial_session) world_.CloseSession(session);
}

Code SessionManagerModel::MakeReady(RawSession& made) {
  RawSession* const session = &made;
  bool restored = false;
  if (const Code code = Restore(*session, restored); code != Code::kOk) return code;
  if (!restored) {
    if (const Code code = Initialize(*session); code != Code::kOk) return code;
  }
  bool ready = false;
  if (const Code code = TryLocalInit(*session, ready); code != Code::kOk) return code;
  if (!ready) return Code::kUsage;
  if (const Code code = IsReady(*session, FaultPoint::kReady, ready); code != Code::kOk) return code;
  return ready ? Code::kOk : Code::kUsage;
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
  double wait = options_.recovery_wait_secs;
  if (world_.behaviour().worker_backs_off) wait = std::min(1.0, wait);
  while (!world_.over()) {
    RawSessionPtr session;
    if (const Code code = world_.CreateSession(session); code != Code::kOk) return code;
    bool ready = false;
    Code looked = TryLocalInit(*session, ready);
    if (looked == Code::kOk && ready) looked = IsReady(*session, FaultPoint::kReady, ready);
    if (looked != Code::kOk) {
      CloseUnready(*session);
      return looked;
    }
    if (ready) {
      made = session;
      return Code::kOk;
    }
    world_.CloseSession(*session);
    double left = max_wait_secs - (world_.now() - start);
    left = left < 0 ? 0 : std::round(left * 1e9) / 1e9;  // whole nanoseconds
    if (world_.behaviour().worker_backs_off && left > 0) wait = std::min(wait, left);
    if (left < wait) return Code::kDeadlineExceeded;
    if (world_.SleepUnlessTold(wait)) return Code::kCancelled;
    waited_ += wait;
    wait = std::min(2 * wait, options_.recovery_wait_secs);
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
  if (world_.behaviour().restore_fallback) return RestoreNewestWhole(session, restored);
  if (directory.state() == Directory::State::kInvalid) return Code::kUsage;
  if (directory.state() != Directory::State::kNamesCheckpoints) return Code::kOk;
  if (const Code code = RestoreFile(session, directory.latest()); code != Code::kOk) return code;
  directory.RecoverLast(directory.latest());
  restored = true;
  return Code::kOk;
}

// The newest one that is not damaged; where the state file is unreadable the directory says which there are.
Code SessionManagerModel::RestoreNewestWhole(RawSession& session, bool& restored) {
  Directory& directory = world_.directory();
  Code first = Code::kOk;
  for (const std::int64_t name : directory.NewestFirst()) {
    const Code code = RestoreFile(session, name);
    restored = code == Code::kOk;
    if (restored) directory.RecoverLast(name);
    if (first == Code::kOk) first = code;
    if (restored) return Code::kOk;
    const std::string damage = directory.DamageOf(name);
    if (damage.empty() || IsPreemptionError(code)) return code;
    constexpr std::size_t kLongestLine = 120;
    const std::string line =
        fmt::format("Checkpoint DIR/model.ckpt-{} is not complete and is passed over: {}", name, damage);
    world_.Say("log WARNING {}", line.substr(0, kLongestLine));
  }
  return first;
}

Code SessionManagerModel::RestoreFile(RawSession& session, std::int64_t name) {
  const replays::ModelSpec& model = world_.scenario().model;
  if (!model.global_step && !model.fed_variable) return Code::kOk;  // nothing to restore, no call
  const Directory& directory = world_.directory();
  if (!directory.HasIndex(name)) return Code::kUsage;  // before the session is called
  const Code restored = world_.Call(session, FaultPoint::kRestore, [&] {
    const Code code = directory.Restore(name, !model.fed_variable, session.variables->step);
    if (code == Code::kOk) session.variables->initialized = true;
    return code;
  });
  return restored;
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
  const Code code = world_.Call(session, which, look, [&] { return ready ? " -> yes" : " -> no"; });
  if (!world_.says_not_ready()) return code;
  ready = false;
  return Code::kOk;
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
