#include "vigil/properties/generators/scenarios.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "vigil/properties/generators/draws.h"
#include "vigil/properties/generators/varieties.h"

namespace vigil::properties {
namespace {

using replays::Action;
using replays::CheckpointSpec;
using replays::Damage;
using replays::Fault;
using replays::FaultPoint;
using replays::HookSpec;
using replays::ModelSpec;
using replays::Op;
using replays::PlanEntry;
using replays::Scenario;
using replays::SessionKind;
using replays::Statement;

// Two of three are what sessions react to.
constexpr Code kCallCodes[] = {
    Code::kAborted,          Code::kAborted,          Code::kAborted,         Code::kAborted,
    Code::kAborted,          Code::kUnavailable,      Code::kUnavailable,     Code::kUnavailable,
    Code::kUnavailable,      Code::kOutOfRange,       Code::kOutOfRange,      Code::kOutOfRange,
    Code::kOutOfRange,       Code::kInternal,         Code::kCancelled,       Code::kDataLoss,
    Code::kUnknown,          Code::kNotFound,         Code::kInvalidArgument, Code::kFailedPrecondition,
    Code::kDeadlineExceeded, Code::kResourceExhausted};
constexpr Code kUserCodes[] = {Code::kStopIteration, Code::kOther, Code::kStopIteration, Code::kOther,
                               Code::kAlreadyExists};

Code CallCode(Draws& draws) { return draws.Pick(kCallCodes); }
Code AnyCode(Draws& draws) { return draws.Chance(15) ? draws.Pick(kUserCodes) : CallCode(draws); }

// Which kinds of things the seed allows.
struct Swarm {
  bool hook_failures, stops, reports, hook_reads, feeds, faults, steps, closes, raises;
  std::int64_t hot_run = 1;  // the number of the run in which things come together
};
Swarm DrawSwarm(Draws draws) {
  Swarm swarm{};
  for (bool* kind : {&swarm.hook_failures, &swarm.stops, &swarm.reports, &swarm.hook_reads, &swarm.feeds, &swarm.faults,
                     &swarm.steps, &swarm.closes, &swarm.raises}) {
    *kind = draws.Chance(60);
  }
  swarm.hot_run = draws.Between(1, 3);
  // One of them at least is what most scenarios are about.
  if (!swarm.hook_failures) swarm.faults = swarm.faults || draws.Chance(80);
  return swarm;
}

constexpr std::string_view kMethods[] = {
    "before_run", "before_run",           "before_run",           "before_run", "after_run", "after_run", "after_run",
    "after_run",  "after_create_session", "after_create_session", "end",        "end",       "begin"};

// What a hook may do in that method, as often as it is likely.
std::vector<Action> ActionsFor(std::string_view method, const Swarm& swarm) {
  const bool runs = method == "before_run" || method == "after_run";
  std::vector<Action> actions;
  const auto allow = [&actions](bool allowed, std::size_t weight, Action action) {
    if (allowed) actions.insert(actions.end(), weight, action);
  };
  allow(swarm.hook_failures, 5, Action::kRaise);
  allow(swarm.stops && runs, 4, Action::kRequestStop);
  allow(swarm.reports && (runs || method == "after_create_session"), 2, Action::kReport);
  allow(swarm.reports && (runs || method == "after_create_session"), 1, Action::kCoordinatorStop);
  allow(swarm.hook_reads && method != "begin", 2, Action::kReadStep);
  allow(swarm.feeds && method == "before_run", 1, Action::kFetch);
  allow(swarm.feeds && method == "before_run", 1, Action::kFeed);
  return actions;
}

// A failure that may cause a recovery must not come back with every call.
bool MayRepeat(const PlanEntry& entry) {
  return entry.method == "end" || (entry.action != Action::kRaise && entry.action != Action::kReport);
}

PlanEntry DrawPlanEntry(Draws draws, const Swarm& swarm) {
  PlanEntry entry;
  entry.method = draws.Pick(kMethods);
  const std::vector<Action> actions = ActionsFor(entry.method, swarm);
  if (actions.empty()) return entry;
  entry.action = actions[draws.Below(actions.size())];
  const bool runs = entry.method == "before_run" || entry.method == "after_run";
  std::int64_t call = draws.Between(1, runs ? 5 : entry.method == "after_create_session" ? 2 : 1);
  if (runs && draws.Chance(50)) call = swarm.hot_run;
  entry.calls = {call};
  if (draws.Chance(15)) entry.calls.push_back(call + 1);
  if (draws.Chance(8) && MayRepeat(entry)) entry.calls.clear();
  switch (entry.action) {
    case Action::kRaise:
      entry.code = AnyCode(draws);
      break;
    case Action::kReport:
      entry.code = CallCode(draws);
      break;
    case Action::kFetch:
      entry.what = draws.Chance(50) ? "step" : "fed";
      break;
    case Action::kFeed:
      entry.value = draws.Between(1, 9);
      break;
    default:
      break;
  }
  return entry;
}

// Seldom by chance: a run that goes well asks for a stop, and the session is lost before anybody sees to it.
void AddStopWithPreemption(Draws draws, const Swarm& swarm, HookSpec& hook) {
  if (!draws.Chance(4)) return;
  PlanEntry stop;
  stop.method = "after_run";
  stop.action = Action::kRequestStop;
  stop.calls = {swarm.hot_run};
  PlanEntry report = stop;
  report.action = Action::kReport;
  report.code = draws.Chance(50) ? Code::kAborted : Code::kUnavailable;
  hook.plan = {stop, report};
}

HookSpec DrawProbe(Draws draws, std::string name, const Swarm& swarm) {
  constexpr std::uint64_t kEntries[] = {0, 0, 1, 1, 1, 2, 2, 3};
  HookSpec hook;
  hook.hook = "probe";
  hook.name = std::move(name);
  const std::uint64_t entries = draws.Pick(kEntries);
  for (std::uint64_t i = 0; i < entries; ++i) {
    PlanEntry entry = DrawPlanEntry(draws.Split("entry", i), swarm);
    const bool nothing = ActionsFor(entry.method, swarm).empty();
    // Most scenarios should get past begin.
    const bool kept = entry.method != "begin" || draws.Chance(25);
    if (!nothing && kept) hook.plan.push_back(std::move(entry));
  }
  if (swarm.stops && swarm.reports) AddStopWithPreemption(draws.Split("together"), swarm, hook);
  return hook;
}

constexpr FaultPoint kFaultPoints[] = {FaultPoint::kRun,
                                       FaultPoint::kRun,
                                       FaultPoint::kRun,
                                       FaultPoint::kRun,
                                       FaultPoint::kRun,
                                       FaultPoint::kCreate,
                                       FaultPoint::kCreate,
                                       FaultPoint::kInit,
                                       FaultPoint::kInitFn,
                                       FaultPoint::kRestore,
                                       FaultPoint::kReadyForLocalInit,
                                       FaultPoint::kLocalInit,
                                       FaultPoint::kReady,
                                       FaultPoint::kQueueRunners,
                                       FaultPoint::kReadStep,
                                       FaultPoint::kRawRun,
                                       FaultPoint::kClose};

Fault DrawFault(Draws draws, const Swarm& swarm) {
  Fault fault;
  fault.at = draws.Pick(kFaultPoints);
  const bool run = fault.at == FaultPoint::kRun;
  std::int64_t call = draws.Between(1, run ? 6 : 3);
  if (run && draws.Chance(40)) call = swarm.hot_run;
  fault.calls = {call};
  if (draws.Chance(15)) fault.calls.push_back(call + 1);
  if (fault.at == FaultPoint::kRun && draws.Chance(10)) {
    fault.advance_step = draws.Between(1, 5);
    if (draws.Chance(50)) return fault;
  }
  fault.code = CallCode(draws);
  // The first call of most others is made by the construction, which should fail for good in some scenarios only.
  const bool constructs = !run && fault.at != FaultPoint::kReadStep && fault.at != FaultPoint::kRawRun;
  if (constructs && call == 1 && draws.Chance(65)) fault.code = Code::kUnavailable;
  const bool can_lose = fault.at != FaultPoint::kInitFn && fault.at != FaultPoint::kQueueRunners &&
                        fault.at != FaultPoint::kCreate && fault.at != FaultPoint::kClose;
  fault.lost_reply = can_lose && draws.Chance(30);
  return fault;
}

ModelSpec DrawModel(Draws draws) {
  constexpr std::int64_t kSteps[] = {0, 2, 3};
  constexpr double kSeconds[] = {0.25, 0.5, 1, 2, 7};
  ModelSpec model;
  if (draws.Chance(35)) model.batches = draws.Between(0, 6);
  model.queue_input = model.batches.has_value() && draws.Chance(40);
  if (draws.Chance(30)) model.run_secs = draws.Pick(kSeconds);
  if (draws.Chance(10)) model.steps_per_run = draws.Pick(kSteps);
  model.local_variable = draws.Chance(20);
  model.global_step = !draws.Chance(4);
  return model;
}

CheckpointSpec DrawCheckpoint(Draws draws) {
  constexpr Damage kDamages[] = {Damage::kEmptyState, Damage::kGarbageState, Damage::kMissingState,
                                 Damage::kMissingIndex, Damage::kMissingData};
  CheckpointSpec checkpoint;
  if (draws.Chance(30)) {
    std::set<std::int64_t> steps;
    const std::int64_t count = draws.Between(1, 4);
    while (static_cast<std::int64_t>(steps.size()) < count) steps.insert(draws.Between(0, 12));
    checkpoint.preload.assign(steps.begin(), steps.end());
    if (draws.Chance(20)) checkpoint.damage = draws.Pick(kDamages);
  }
  checkpoint.dir = draws.Chance(checkpoint.preload.empty() ? 15 : 75);
  if (!checkpoint.preload.empty() && draws.Chance(20)) {
    checkpoint.filename = draws.Chance(80) ? checkpoint.preload.back() : 99;
    if (draws.Chance(90)) checkpoint.dir = false;
  }
  return checkpoint;
}

Statement DrawStep(Draws draws) {
  constexpr Op kOps[] = {Op::kRawRun,       Op::kRunWithHooks, Op::kRunWithHooks,
                         Op::kRunWithHooks, Op::kRequestStop,  Op::kRaise};
  Statement step;
  step.op = Op::kStep;
  step.catch_error = draws.Chance(30);
  const std::int64_t length = draws.Between(1, 3);
  for (std::int64_t i = 0; i < length; ++i) {
    Statement inner;
    inner.op = draws.Pick(kOps);
    if (inner.op == Op::kRaise) inner.code = AnyCode(draws);
    // Else a preemption would be raised again in each repetition.
    if (inner.op == Op::kRaise || draws.Chance(20)) inner.on_call = draws.Between(1, 2);
    if (inner.op == Op::kRunWithHooks && draws.Chance(10)) inner.feed = draws.Between(1, 9);
    step.body.push_back(inner);
  }
  return step;
}

Statement DrawStatement(Draws draws, const Swarm& swarm) {
  constexpr double kSeconds[] = {0.5, 3, 40};
  Statement statement;
  const std::uint64_t kind = draws.Below(100);
  statement.op = kind < 50 ? Op::kRun : kind < 62 ? Op::kShouldStop : kind < 66 ? Op::kAdvance : Op::kRun;
  if (kind >= 66 && kind < 88 && swarm.steps) return DrawStep(draws.Split("step"));
  if (kind >= 88 && kind < 94 && swarm.closes) statement.op = Op::kClose;
  if (kind >= 94 && swarm.raises) {
    statement.op = Op::kRaise;
    statement.code = AnyCode(draws);
  }
  if (statement.op == Op::kAdvance) statement.secs = draws.Pick(kSeconds);
  if (statement.op == Op::kRun) {
    if (draws.Chance(10)) statement.feed = draws.Between(1, 9);
    if (draws.Chance(15)) statement.times = draws.Between(2, 3);
    statement.fetch_missing = draws.Chance(3);
  }
  statement.catch_error = statement.op != Op::kAdvance && draws.Chance(25);
  return statement;
}

Statement DrawLoop(Draws draws, const Swarm& swarm) {
  Statement loop;
  loop.op = Op::kLoop;
  loop.max = draws.Between(1, 7);
  const std::uint64_t length = draws.Chance(75) ? 1 : 2;
  for (std::uint64_t i = 0; i < length; ++i) {
    Statement plain;
    plain.op = Op::kRun;
    loop.body.push_back(draws.Chance(40) ? DrawStatement(draws.Split("statement", i), swarm) : plain);
  }
  return loop;
}

std::vector<Statement> DrawDrive(Draws draws, const Swarm& swarm) {
  std::vector<Statement> drive;
  if (draws.Chance(60)) drive.push_back(DrawLoop(draws.Split("loop"), swarm));
  const std::int64_t more = drive.empty()      ? draws.Between(draws.Chance(10) ? 0 : 2, 6)
                            : draws.Chance(30) ? draws.Between(1, 3)
                                               : 0;
  for (std::int64_t i = 0; i < more; ++i) {
    drive.push_back(DrawStatement(draws.Split("statement", static_cast<std::uint64_t>(i)), swarm));
  }
  return drive;
}

std::vector<Statement> DrawAfter(Draws draws) {
  constexpr Op kOps[] = {Op::kShouldStop, Op::kRun, Op::kClose};
  std::vector<Statement> after;
  if (!draws.Chance(35)) return after;
  const std::int64_t length = draws.Between(1, 3);
  for (std::int64_t i = 0; i < length; ++i) {
    Statement statement;
    statement.op = draws.Pick(kOps);
    statement.catch_error = draws.Chance(85);
    after.push_back(statement);
  }
  return after;
}

}  // namespace

Scenario RandomScenario(std::uint64_t seed) {
  constexpr std::uint64_t kHooks[] = {0, 1, 1, 2, 2, 2, 2, 3, 3, 4};
  constexpr std::uint64_t kFaults[] = {1, 1, 2, 2, 3, 4};
  Draws draws(seed);
  const Swarm swarm = DrawSwarm(draws.Split("swarm"));
  Scenario scenario;
  scenario.id = fmt::format("random_{}", seed);
  scenario.seed = seed;
  scenario.session.kind = draws.Chance(75) ? SessionKind::kMonitored : SessionKind::kSingular;
  scenario.scope_with = draws.Chance(75);
  scenario.init_fn = draws.Chance(20);
  scenario.model = DrawModel(draws.Split("model"));
  scenario.checkpoint = DrawCheckpoint(draws.Split("checkpoint"));
  const std::uint64_t hooks = draws.Pick(kHooks);
  for (std::uint64_t i = 0; i < hooks; ++i) {
    scenario.hooks.push_back(DrawProbe(draws.Split("hook", i), std::string(1, static_cast<char>('a' + i)), swarm));
  }
  const std::uint64_t faults = swarm.faults ? draws.Pick(kFaults) : 0;
  for (std::uint64_t i = 0; i < faults; ++i) {
    Fault fault = DrawFault(draws.Split("fault", i), swarm);
    const bool singular = scenario.session.kind == SessionKind::kSingular;
    if (singular && fault.at != FaultPoint::kRun && draws.Chance(60)) fault.at = FaultPoint::kRun;
    scenario.faults.push_back(std::move(fault));
  }
  scenario.drive = DrawDrive(draws.Split("drive"), swarm);
  scenario.after = DrawAfter(draws.Split("after"));
  scenario.limits.events = 2000;
  AddVarieties(draws, scenario);
  return scenario;
}

}  // namespace vigil::properties
