#include "vigil/properties/model/model.h"

#include <utility>

#include "vigil/properties/model/caller.h"
#include "vigil/properties/model/refusal.h"
#include "vigil/properties/model/supervisor.h"
#include "vigil/properties/model/supervisor_caller.h"
#include "vigil/properties/model/training.h"

namespace vigil::properties::model {
namespace {

using replays::SessionKind;

constexpr double kTrainingMaxWaitSecs = 7200;

void SayExit(World& world, Code end) {
  if (end == Code::kOk) {
    world.Say("driver exit clean");
  } else {
    world.SayFailed("driver exit", end);
  }
}

void SayAfter(World& world, Code after) {
  if (after != Code::kOk) world.SayFailed("driver after", after);
}

void PlaySupervisor(World& world) {
  SupervisorModel supervisor(world);
  if (const Code code = supervisor.Construct(); code != Code::kOk) return world.SayFailed("driver construct", code);
  SupervisorCallerModel caller(world, supervisor);
  SayExit(world, caller.Drive());
  SayAfter(world, caller.Execute(world.scenario().after));
  supervisor.Drop();
}

// Hooks, session, scope, and what comes after it.
void PlayModel(World& world) {
  const Scenario& scenario = world.scenario();
  if (scenario.session.kind == SessionKind::kSupervisor) return PlaySupervisor(world);
  std::vector<std::unique_ptr<Hook>> hooks;
  if (const Code code = MakeHooks(world, scenario.hooks, hooks); code != Code::kOk)
    return world.Say("hooks rejected {}", CodeName(code));
  double max_wait_secs = kTrainingMaxWaitSecs;
  if (scenario.session.kind == SessionKind::kTraining) {
    const Code code = CompleteTraining(world, hooks, max_wait_secs);
    if (code != Code::kOk) return world.SayFailed("driver construct", code);
  }
  SessionModel session(world, std::move(hooks), max_wait_secs);
  if (const Code code = session.Construct(); code != Code::kOk) return world.SayFailed("driver construct", code);
  CallerModel caller(world, session);
  Code end = caller.Execute(scenario.drive);
  if (scenario.scope_with) end = session.Exit(end);
  SayExit(world, end);
  SayAfter(world, caller.Execute(scenario.after));
  session.Drop();
}

}  // namespace

absl::StatusOr<Prediction> Predict(const Scenario& scenario) {
  if (const std::string what = WhatIsNotModelled(scenario); !what.empty())
    return MakeStatus(Code::kUnimplemented, what);
  World world(scenario);
  PlayModel(world);
  if (!world.refused().empty()) return MakeStatus(Code::kUnimplemented, world.refused());
  Prediction prediction;
  prediction.runaway = world.runaway();
  prediction.final = world.directory().Final();
  prediction.lines = world.TakeLines();
  return prediction;
}

}  // namespace vigil::properties::model
