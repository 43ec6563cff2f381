#include "vigil/properties/generators/stories.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"

namespace vigil::properties {
namespace {

using replays::Action;
using replays::Fault;
using replays::FaultPoint;
using replays::HookSpec;
using replays::Op;
using replays::PlanEntry;
using replays::Scenario;
using replays::Statement;

Statement Plain(Op op, bool caught = false) {
  Statement statement;
  statement.op = op;
  statement.catch_error = caught;
  return statement;
}

}  // namespace

// What is asked of should_stop after a step function or a hook has
// asked for a stop, with a recovery or without.
void AddStopStory(Draws draws, Scenario& scenario) {
  std::vector<Statement> story;
  const bool by_step = draws.Chance(50);
  if (by_step) {
    Statement step = Plain(Op::kStep, true);
    if (draws.Chance(60)) step.body.push_back(Plain(Op::kRunWithHooks));
    if (draws.Chance(70)) step.body.push_back(Plain(Op::kRequestStop));
    if (step.body.empty()) step.body.push_back(Plain(Op::kRunWithHooks));
    story.push_back(std::move(step));
  } else {
    HookSpec hook{.hook = "probe", .name = "stop", .plan = {}, .listeners = {}, .args = {}};
    PlanEntry asks;
    asks.method = draws.Chance(70) ? "before_run" : "after_run";
    asks.calls = {1};
    asks.action = Action::kRequestStop;
    hook.plan.push_back(std::move(asks));
    scenario.hooks.push_back(std::move(hook));
    story.push_back(Plain(Op::kRun, true));
  }
  if (draws.Chance(65)) {
    Fault fault;
    fault.at = FaultPoint::kRun;
    fault.calls = {1};
    fault.code = draws.Chance(50) ? Code::kAborted : Code::kUnavailable;
    scenario.faults.push_back(std::move(fault));
  }
  story.push_back(Plain(Op::kShouldStop));
  story.push_back(Plain(Op::kShouldStop));
  scenario.drive.insert(scenario.drive.begin(), story.begin(), story.end());
}

// A hook that waits for a step, and others who make it: one with each look.
void AddWaiter(Draws draws, Scenario& scenario) {
  HookSpec hook;
  hook.hook = "global_step_waiter";
  hook.args["wait_until_step"] = draws.Between(1, 4);
  scenario.hooks.insert(scenario.hooks.begin(), std::move(hook));
  Fault fault;
  fault.at = FaultPoint::kReadStep;
  fault.calls = {1, 2, 3, 4, 5, 6, 7, 8};
  fault.advance_step = 1;
  scenario.faults.push_back(std::move(fault));
  scenario.model.global_step = true;
}

// Hooks that feed the same thing, to runs of a caller who may feed it, too.
void AddFeedConflict(Draws draws, Scenario& scenario) {
  for (const char* const name : {"first", "second"}) {
    PlanEntry feeds;
    feeds.method = "before_run";
    feeds.calls = {draws.Between(1, 2)};
    feeds.action = Action::kFeed;
    feeds.value = draws.Between(1, 9);
    scenario.hooks.push_back({.hook = "probe", .name = name, .plan = {std::move(feeds)}, .listeners = {}, .args = {}});
  }
}

// Hooks that ask the same run for different things.
void AddOwnFetches(Draws draws, Scenario& scenario) {
  const std::int64_t call = draws.Between(1, 2);
  for (const auto& [name, what] : {std::pair("one", "step"), std::pair("other", "fed")}) {
    PlanEntry asks;
    asks.method = "before_run";
    asks.calls = {call};
    asks.action = Action::kFetch;
    asks.what = what;
    PlanEntry shows;
    shows.method = "after_run";
    shows.action = Action::kShow;
    scenario.hooks.push_back(
        {.hook = "probe", .name = name, .plan = {std::move(asks), std::move(shows)}, .listeners = {}, .args = {}});
  }
}

// A hook that counts its steps from the first session on, and a session that is lost after some of them, which were
// saved.
void AddResumedCount(Draws draws, Scenario& scenario) {
  if (scenario.session.shared_state) return;
  scenario.checkpoint.dir = true;
  scenario.checkpoint.filename.reset();
  scenario.model.global_step = true;
  HookSpec saver{.hook = "checkpoint_saver", .name = "", .plan = {}, .listeners = {}, .args = {}};
  saver.args["save_steps"] = draws.Between(1, 2);
  HookSpec stop{.hook = "stop_at_step", .name = "", .plan = {}, .listeners = {}, .args = {}};
  stop.args["num_steps"] = draws.Between(3, 6);
  scenario.hooks.push_back(std::move(saver));
  scenario.hooks.push_back(std::move(stop));
  Fault fault;
  fault.at = FaultPoint::kRun;
  fault.calls = {draws.Between(2, 4)};
  fault.code = draws.Chance(50) ? Code::kAborted : Code::kUnavailable;
  scenario.faults.push_back(std::move(fault));
  Statement loop = Plain(Op::kLoop);
  loop.max = draws.Between(4, 8);
  loop.body.push_back(Plain(Op::kRun));
  scenario.drive.insert(scenario.drive.begin(), std::move(loop));
}

// A loss that becomes NaN under a hook that stops softly, and one that saves: before it or behind it.
void AddDivergence(Draws draws, Scenario& scenario) {
  if (scenario.session.shared_state || !scenario.behaviour.switches.empty()) return;
  scenario.behaviour.name = "default";
  scenario.checkpoint.dir = true;
  scenario.checkpoint.filename.reset();
  scenario.model.global_step = true;
  scenario.model.nan_at = draws.Between(1, 3);
  HookSpec saver{.hook = "checkpoint_saver", .name = "", .plan = {}, .listeners = {}, .args = {}};
  saver.args["save_steps"] = draws.Between(1, 2);
  HookSpec nan{.hook = "nan_tensor", .name = "", .plan = {}, .listeners = {}, .args = {}};
  nan.args["fail_on_nan_loss"] = draws.Chance(20);
  if (draws.Chance(50)) std::swap(saver, nan);
  scenario.hooks.push_back(std::move(saver));
  scenario.hooks.push_back(std::move(nan));
}

// Hooks that watch a step which stands still: one counts steps, one saves every so many seconds.
void AddStillStep(Draws draws, Scenario& scenario) {
  scenario.model.global_step = true;
  scenario.model.steps_per_run = 0;
  scenario.model.run_secs = draws.Chance(50) ? 1 : 2;
  HookSpec counter{.hook = "step_counter", .name = "", .plan = {}, .listeners = {}, .args = {}};
  counter.args["every_n_steps"] = draws.Between(1, 3);
  HookSpec saver{.hook = "checkpoint_saver", .name = "", .plan = {}, .listeners = {}, .args = {}};
  saver.args["save_secs"] = draws.Between(1, 4);
  if (draws.Chance(60)) scenario.hooks.push_back(std::move(counter));
  if (scenario.hooks.empty() || scenario.hooks.back().hook != "step_counter" || draws.Chance(40))
    scenario.hooks.push_back(std::move(saver));
  Statement loop = Plain(Op::kLoop);
  loop.max = draws.Between(3, 9);
  loop.body.push_back(Plain(Op::kRun));
  scenario.drive.insert(scenario.drive.begin(), std::move(loop));
}

// What is evaluated at the end trains once more, and the input may be at its end.
void AddFinalEvaluation(Draws draws, Scenario& scenario) {
  scenario.model.global_step = true;
  scenario.model.nan_at = draws.Between(1, 20);
  scenario.model.batches = draws.Between(1, 4);
  HookSpec final_ops{.hook = "final_ops", .name = "", .plan = {}, .listeners = {}, .args = {}};
  final_ops.args["what"] = std::string("loss");
  scenario.hooks.push_back(std::move(final_ops));
  Statement loop = Plain(Op::kLoop);
  loop.max = draws.Between(1, 6);
  loop.body.push_back(Plain(Op::kRun));
  scenario.drive.insert(scenario.drive.begin(), std::move(loop));
}

// A hook that waits for a step that nobody makes, until the process is told to end: at one of its looks.
void AddVainWaiter(Draws draws, Scenario& scenario) {
  constexpr std::int64_t kNobodyMakes = 1'000'000;
  if (scenario.session.shared_state || !scenario.behaviour.switches.empty() || !MayBeToldToEnd(scenario)) return;
  scenario.behaviour.name = "default";  // TensorFlow waits for ever
  scenario.model.global_step = true;
  scenario.session.args["stop_on_sigterm"] = true;
  HookSpec waiter{.hook = "global_step_waiter", .name = "", .plan = {}, .listeners = {}, .args = {}};
  waiter.args["wait_until_step"] = kNobodyMakes;
  scenario.hooks.insert(scenario.hooks.begin(), std::move(waiter));
  Fault fault;
  fault.at = FaultPoint::kReadStep;
  fault.calls = {draws.Between(1, 12)};
  fault.sigterm = true;
  scenario.faults.push_back(std::move(fault));
}

bool MayBeToldToEnd(const Scenario& scenario) {
  return std::ranges::none_of(scenario.faults,
                              [](const Fault& fault) { return fault.at == FaultPoint::kSleep || fault.sigterm; });
}

}  // namespace vigil::properties
