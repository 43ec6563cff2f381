#include "vigil/properties/generators/varieties.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/behaviour.h"
#include "vigil/properties/generators/stories.h"
#include "vigil/properties/model/refusal.h"
#include "vigil/replays/format/services.h"

namespace vigil::properties {
namespace {

using replays::Action;
using replays::Args;
using replays::ArgValue;
using replays::Fault;
using replays::FaultPoint;
using replays::FetchSpec;
using replays::HookSpec;
using replays::ListenerSpec;
using replays::Op;
using replays::PlanEntry;
using replays::Scenario;
using replays::SessionKind;
using replays::Statement;

constexpr Code kAnyCodes[] = {Code::kAborted,    Code::kUnavailable, Code::kOutOfRange,
                              Code::kOutOfRange, Code::kInternal,    Code::kOther};

// Of supervisors, whose scope treats the last one in a way of its own.
constexpr Code kSupervisorCodes[] = {Code::kAborted,  Code::kUnavailable, Code::kOutOfRange,   Code::kOutOfRange,
                                     Code::kInternal, Code::kOther,       Code::kStopIteration};

ArgValue Number(Draws& draws, std::int64_t first, std::int64_t last) { return draws.Between(first, last); }

// The periods of a hook: steps or seconds.
Args Period(Draws& draws, const char* steps, const char* secs) {
  return {{draws.Chance(60) ? steps : secs, Number(draws, 1, 4)}};
}

ListenerSpec DrawListener(Draws draws, std::string name) {
  ListenerSpec listener{.name = std::move(name), .plan = {}};
  if (!draws.Chance(40)) return listener;
  PlanEntry entry;
  entry.method = draws.Chance(50) ? "before_save" : "after_save";
  entry.calls = {draws.Between(1, 3)};
  entry.action = entry.method == "after_save" && draws.Chance(60) ? Action::kRequestStop : Action::kRaise;
  if (entry.action == Action::kRaise) entry.code = draws.Pick(kAnyCodes);
  listener.plan.push_back(std::move(entry));
  return listener;
}

HookSpec DrawBuiltin(Draws draws, Scenario& scenario) {
  constexpr std::string_view kNames[] = {"stop_at_step", "checkpoint_saver", "checkpoint_saver", "summary_saver",
                                         "step_counter", "logging_tensor",   "nan_tensor",       "feed_fn",
                                         "final_ops",    "profiler",         "summary_saver",    "global_step_waiter"};
  HookSpec hook;
  hook.hook = draws.Pick(kNames);
  if (hook.hook == "stop_at_step") hook.args = {{draws.Chance(50) ? "last_step" : "num_steps", Number(draws, 1, 6)}};
  if (hook.hook == "summary_saver" || hook.hook == "profiler") hook.args = Period(draws, "save_steps", "save_secs");
  if (hook.hook == "checkpoint_saver") {
    hook.args = Period(draws, "save_steps", "save_secs");
    const std::int64_t listeners = draws.Between(0, 2);
    for (std::int64_t i = 0; i < listeners; ++i)
      hook.listeners.push_back(
          DrawListener(draws.Split("listener", static_cast<std::uint64_t>(i)), i == 0 ? "l" : "m"));
  }
  if (hook.hook == "step_counter") {
    hook.args = Period(draws, "every_n_steps", "every_n_secs");
    if (hook.args.contains("every_n_secs")) hook.args.emplace("every_n_steps", ArgValue());
  }
  if (hook.hook == "logging_tensor") {
    hook.args = Period(draws, "every_n_iter", "every_n_secs");
    std::vector<std::string> tensors = {draws.Chance(50) ? "step" : "fed"};
    if (draws.Split("one more").Chance(40)) tensors.emplace_back(tensors[0] == "step" ? "fed" : "step");
    hook.args["tensors"] = std::move(tensors);
    if (draws.Chance(50)) hook.args["at_end"] = true;
  }
  if (hook.hook == "nan_tensor") {
    hook.args["fail_on_nan_loss"] = draws.Chance(50);
    if (draws.Chance(60)) scenario.model.nan_at = draws.Between(1, 5);
  }
  if (hook.hook == "global_step_waiter") hook.args["wait_until_step"] = Number(draws, -1, 0);
  if (hook.hook == "feed_fn") hook.args["value"] = Number(draws, 1, 9);
  if (hook.hook == "final_ops") hook.args["what"] = std::string(draws.Chance(50) ? "fed" : "loss");
  if (hook.hook == "summary_saver") scenario.model.summary = scenario.model.summary || draws.Chance(85);
  return hook;
}

void AddBuiltins(Draws draws, Scenario& scenario) {
  const std::int64_t count = draws.Between(1, 3);
  for (std::int64_t i = 0; i < count; ++i) {
    HookSpec hook = DrawBuiltin(draws.Split("hook", static_cast<std::uint64_t>(i)), scenario);
    const std::uint64_t at = draws.Below(scenario.hooks.size() + 1);
    scenario.hooks.insert(scenario.hooks.begin() + static_cast<std::ptrdiff_t>(at), std::move(hook));
  }
  constexpr FaultPoint kPoints[] = {FaultPoint::kSave, FaultPoint::kFinalOps, FaultPoint::kSave, FaultPoint::kReadStep,
                                    FaultPoint::kWrite};
  if (!draws.Chance(30)) return;
  Fault fault;
  fault.at = draws.Pick(kPoints);
  fault.calls = {draws.Between(1, 3)};
  fault.code = fault.at == FaultPoint::kWrite ? Code::kResourceExhausted : draws.Pick(kAnyCodes);
  if (fault.at == FaultPoint::kWrite) fault.file = "events";
  scenario.faults.push_back(std::move(fault));
}

// Another process, the chief, makes the model ready when this one creates, or sleeps, for the n-th time.
void AwaitChief(Draws draws, Scenario& scenario) {
  scenario.session.shared_state = true;
  scenario.session.args["is_chief"] = false;
  scenario.checkpoint = {};
  scenario.init_fn = false;
  Fault fault;
  fault.at = draws.Chance(60) ? FaultPoint::kCreate : FaultPoint::kSleep;
  fault.calls = {draws.Between(1, 3)};
  fault.chief_init = draws.Between(0, 6);
  scenario.faults.push_back(std::move(fault));
}

void MakeTraining(Draws draws, Scenario& scenario) {
  scenario.session.kind = SessionKind::kTraining;
  Args& args = scenario.session.args;
  if (draws.Chance(30)) {
    if (draws.Chance(40)) args["max_wait_secs"] = Number(draws, 1, 100);
    return AwaitChief(draws.Split("chief"), scenario);
  }
  scenario.checkpoint.filename.reset();
  scenario.checkpoint.dir = scenario.checkpoint.dir || draws.Chance(60);
  scenario.model.summary = draws.Chance(70);
  if (draws.Chance(60)) args[draws.Chance(70) ? "save_checkpoint_steps" : "save_checkpoint_secs"] = Number(draws, 1, 4);
  if (draws.Chance(40)) args[draws.Chance(70) ? "save_summaries_steps" : "save_summaries_secs"] = Number(draws, 1, 3);
  if (draws.Chance(30)) args["log_step_count_steps"] = Number(draws, 1, 3);
  if (draws.Chance(25)) {
    HookSpec probe;
    probe.hook = "probe";
    probe.name = "chief";
    scenario.session.chief_only_hooks.push_back(std::move(probe));
  }
}

Statement SupervisorStatement(Draws draws) {
  constexpr Op kOps[] = {Op::kRun,   Op::kRun,        Op::kRun,         Op::kShouldStop, Op::kAdvance,
                         Op::kRaise, Op::kService,    Op::kRequestStop, Op::kGuarded,    Op::kSummaryComputed,
                         Op::kClock, Op::kStartThread};
  Statement statement;
  statement.op = draws.Pick(kOps);
  constexpr Op kSilent[] = {Op::kAdvance, Op::kShouldStop, Op::kClock, Op::kStartThread};
  statement.catch_error = std::ranges::find(kSilent, statement.op) == std::end(kSilent) && draws.Chance(40);
  if (statement.op == Op::kStartThread) statement.secs = static_cast<double>(draws.Between(1, 30));
  if (statement.op == Op::kAdvance) statement.secs = static_cast<double>(draws.Between(1, 40));
  if (statement.op == Op::kRaise) statement.code = draws.Pick(kSupervisorCodes);
  if (statement.op == Op::kRequestStop && draws.Chance(60)) statement.code = draws.Pick(kSupervisorCodes);
  if (statement.op == Op::kService) statement.name = draws.Pick(replays::kServiceNames);
  if (statement.op == Op::kSummaryComputed && draws.Chance(50)) statement.step = draws.Between(1, 9);
  if (statement.op == Op::kGuarded) {
    Statement inner;
    inner.op = draws.Chance(50) ? Op::kRun : Op::kRaise;
    if (inner.op == Op::kRaise) inner.code = draws.Pick(kSupervisorCodes);
    statement.body.push_back(inner);
  }
  return statement;
}

// Up to three sessions without a scope, one after the other, each with a share of what the scope had.
void DriveByHand(Draws draws, Scenario& scenario) {
  const std::vector<Statement> body = std::exchange(scenario.drive, {});
  scenario.scope_with = false;
  const std::int64_t sessions = draws.Between(1, 3);
  for (std::int64_t i = 0; i < sessions; ++i) {
    Statement prepare;
    prepare.op = Op::kPrepare;
    prepare.catch_error = draws.Chance(30);
    if (draws.Chance(50)) prepare.max_wait_secs = static_cast<double>(draws.Between(1, 70));
    scenario.drive.push_back(std::move(prepare));
    for (auto at = static_cast<std::size_t>(i); at < body.size(); at += 2) scenario.drive.push_back(body[at]);
    if (draws.Chance(80)) {
      Statement stop;
      stop.op = Op::kStop;
      stop.catch_error = draws.Chance(60);
      if (draws.Chance(30)) stop.close_summary_writer = false;
      if (draws.Chance(30)) stop.ignore_live_threads = true;
      scenario.drive.push_back(std::move(stop));
    }
    if (draws.Chance(70)) {
      Statement close;
      close.op = Op::kClose;
      close.catch_error = draws.Chance(50);
      scenario.drive.push_back(std::move(close));
    }
  }
}

// There are no runs with hooks under a supervisor: its caller's are struck instead.
void StrikeItsCallersRuns(Scenario& scenario) {
  for (Fault& fault : scenario.faults)
    if (fault.at == FaultPoint::kRun && !fault.advance_step.has_value()) fault.at = FaultPoint::kRawRun;
}

void MakeSupervisor(Draws draws, Scenario& scenario) {
  scenario.session.kind = SessionKind::kSupervisor;
  scenario.scope_with = true;
  scenario.hooks.clear();
  scenario.after.clear();
  scenario.drive.clear();
  StrikeItsCallersRuns(scenario);
  const bool logdir = draws.Chance(70);
  scenario.checkpoint.dir = false;
  scenario.checkpoint.filename.reset();
  if (logdir) scenario.session.args["logdir"] = true;
  if (draws.Chance(30)) scenario.session.args["recovery_wait_secs"] = Number(draws, 1, 60);
  if (draws.Chance(20)) scenario.session.args["stop_grace_secs"] = Number(draws, 0, 30);
  if (logdir && draws.Chance(20)) scenario.session.args["save_model_secs"] = Number(draws, 1, 40);
  if (logdir && draws.Chance(20)) scenario.session.args["save_summaries_secs"] = Number(draws, 1, 40);
  scenario.model.summary = draws.Chance(50);
  scenario.model.queue_input = false;
  if (draws.Chance(30)) {
    AwaitChief(draws.Split("chief"), scenario);
    scenario.model.device = "/job:localhost/task:0";
  }
  Statement loop;
  loop.op = Op::kLoop;
  loop.max = draws.Between(1, 5);
  const std::int64_t length = draws.Between(1, 3);
  for (std::int64_t i = 0; i < length; ++i)
    loop.body.push_back(SupervisorStatement(draws.Split("body", static_cast<std::uint64_t>(i))));
  scenario.drive.push_back(std::move(loop));
  const std::int64_t more = draws.Between(0, 3);
  for (std::int64_t i = 0; i < more; ++i)
    scenario.drive.push_back(SupervisorStatement(draws.Split("more", static_cast<std::uint64_t>(i))));
  if (draws.Chance(15)) {
    Statement stop;
    stop.op = Op::kStop;
    stop.catch_error = true;
    if (draws.Chance(50)) stop.close_summary_writer = draws.Chance(50);
    if (draws.Chance(50)) stop.ignore_live_threads = true;
    Statement prepare;
    prepare.op = Op::kPrepare;
    prepare.catch_error = draws.Chance(50);
    if (draws.Chance(50)) prepare.max_wait_secs = 70;
    scenario.drive.push_back(std::move(stop));
    scenario.drive.push_back(std::move(prepare));
    if (logdir && draws.Chance(40)) {
      Statement services;
      services.op = Op::kStartServices;
      services.catch_error = true;
      scenario.drive.push_back(std::move(services));
    }
  }
  if (draws.Chance(20)) {
    Fault fault;
    fault.at = draws.Chance(50) ? FaultPoint::kSummary : FaultPoint::kSave;
    fault.calls = {draws.Between(1, 2)};
    fault.code = draws.Pick(kAnyCodes);
    scenario.faults.push_back(std::move(fault));
  }
  if (draws.Chance(50)) {
    Statement asks;
    asks.op = Op::kShouldStop;
    scenario.after.push_back(std::move(asks));
  }
  if (draws.Chance(30)) DriveByHand(draws.Split("by hand"), scenario);
  scenario.model.queue_input = scenario.model.batches.has_value() && draws.Chance(30);
}

RunOptions DrawOptions(Draws draws) {
  constexpr TraceLevel kLevels[] = {TraceLevel::kNoTrace, TraceLevel::kSoftwareTrace, TraceLevel::kFullTrace};
  RunOptions options;
  options.trace_level = draws.Pick(kLevels);
  if (draws.Chance(30)) options.timeout_in_ms = draws.Between(1, 9) * 100'000;
  options.report_tensor_allocations_upon_oom = draws.Chance(20);
  options.output_partition_graphs = draws.Chance(15);
  options.reset_disk_byte_usage = draws.Chance(15);
  if (draws.Chance(15)) options.inter_op_thread_pool = static_cast<std::int32_t>(draws.Between(1, 2));
  if (draws.Chance(20)) options.debug_tensor_watch_opts.push_back({.node_name = draws.Chance(50) ? "fed" : "loss"});
  return options;
}

FetchSpec Name(const char* name) { return {.kind = FetchSpec::Kind::kName, .name = name}; }

FetchSpec DrawFetch(Draws draws) {
  FetchSpec list{.kind = FetchSpec::Kind::kList, .items = {Name("step"), Name("train")}};
  if (draws.Chance(40)) return list;
  return {.kind = FetchSpec::Kind::kMap, .keys = {"a", "b"}, .items = {Name("train"), std::move(list)}};
}

// What runs are asked for besides, and what hooks ask for and show.
void AddRequests(Draws draws, Scenario& scenario) {
  std::uint64_t n = 0;
  for (Statement& statement : scenario.drive) {
    if (statement.op != Op::kRun || statement.fetch_missing) continue;
    Draws own = draws.Split("run", n++);
    if (own.Chance(50)) statement.options = DrawOptions(own.Split("options"));
    if (own.Chance(50)) statement.fetch = DrawFetch(own.Split("fetch"));
    statement.metadata = own.Chance(50);
  }
  for (HookSpec& hook : scenario.hooks) {
    if (hook.hook != "probe" || !draws.Chance(60)) continue;
    PlanEntry shows;
    shows.method = "after_run";
    shows.action = Action::kShow;
    hook.plan.push_back(shows);
    PlanEntry asks;
    asks.method = "before_run";
    asks.action = Action::kOptions;
    asks.options = DrawOptions(draws.Split("options", n++));
    if (draws.Chance(50)) hook.plan.push_back(std::move(asks));
  }
}

void AddStuckTask(Draws draws, Scenario& scenario) {
  constexpr std::int64_t kGrace[] = {0, 1, 5, 30};
  scenario.session.args["stop_grace_period_secs"] = draws.Pick(kGrace);
  for (HookSpec& hook : scenario.hooks) {
    if (hook.hook != "probe") continue;
    PlanEntry entry;
    entry.method = "after_create_session";
    entry.calls = {draws.Between(1, 2)};
    entry.action = Action::kStartThread;
    entry.value = draws.Between(1, 40);
    hook.plan.push_back(std::move(entry));
    return;
  }
}

void AddModel(Draws draws, Scenario& scenario) {
  if (draws.Chance(50)) {
    scenario.model.fed_variable = true;
    if (draws.Chance(80)) scenario.init_feed = draws.Between(1, 9);
  }
  if (draws.Chance(30)) scenario.model.nan_at = draws.Between(1, 5);
  if (draws.Chance(30)) scenario.model.device = "/job:localhost/task:0";
  if (!scenario.checkpoint.preload.empty() && draws.Chance(50)) scenario.checkpoint.preload_keep = draws.Between(1, 3);
  scenario.checkpoint.events = draws.Chance(30);
  if (scenario.model.queue_input && draws.Chance(60)) {
    Fault fault;
    fault.at = FaultPoint::kEnqueue;
    fault.calls = {draws.Between(1, 3)};
    fault.code = draws.Pick(kAnyCodes);
    scenario.faults.push_back(std::move(fault));
  }
}

// A fault where nothing is called never fires: half of these get what they need.
void GiveFaultsTheirPlace(Draws draws, Scenario& scenario) {
  if (scenario.session.shared_state) return;
  for (const Fault& fault : scenario.faults) {
    if (!draws.Chance(50)) continue;
    if (fault.at == FaultPoint::kInitFn) scenario.init_fn = true;
    if (fault.at != FaultPoint::kQueueRunners) continue;
    if (!scenario.model.batches.has_value()) scenario.model.batches = draws.Between(0, 6);
    scenario.model.queue_input = true;
  }
}

// A model that says "not ready" where it should be.
void AddUnreadiness(Draws draws, Scenario& scenario) {
  Fault fault;
  fault.at = draws.Chance(60) ? FaultPoint::kReady : FaultPoint::kReadyForLocalInit;
  fault.calls = {draws.Between(1, 3)};
  if (draws.Chance(20)) fault.calls.push_back(fault.calls[0] + 1);
  fault.code = Code::kFailedPrecondition;
  fault.not_ready = true;
  scenario.faults.push_back(std::move(fault));
}

// A few switches of ours on top of TensorFlow's behaviour.
void DrawSwitches(Draws draws, Scenario& scenario) {
  const std::span<const BehaviourSwitch> all = BehaviourSwitches();
  scenario.behaviour.name = "switches";
  const std::int64_t count = draws.Between(1, 3);
  for (std::int64_t i = 0; i < count; ++i) {
    const bool on = draws.Chance(80);  // not among the arguments: which comes first is the compiler's choice
    scenario.behaviour.switches.emplace(all[draws.Below(all.size())].name, on);
  }
}

void AddMost(const Draws& draws, Scenario& scenario) {
  Draws kinds = draws.Split("varieties");
  if (kinds.Chance(25)) {
    scenario.behaviour.name = "default";
  } else if (kinds.Chance(5)) {
    DrawSwitches(draws.Split("switches"), scenario);
  }
  const std::uint64_t kind = kinds.Below(100);
  if (kind < 12) MakeTraining(draws.Split("training"), scenario);
  if (kind >= 12 && kind < 22) return MakeSupervisor(draws.Split("supervisor"), scenario);
  GiveFaultsTheirPlace(draws.Split("places"), scenario);
  if (kinds.Chance(16)) AddStopStory(draws.Split("story"), scenario);
  if (kinds.Chance(25)) AddBuiltins(draws.Split("builtins"), scenario);
  if (kinds.Chance(12)) AddRequests(draws.Split("requests"), scenario);
  if (kinds.Chance(8)) AddStuckTask(draws.Split("stuck"), scenario);
  if (kinds.Chance(15)) AddModel(draws.Split("model besides"), scenario);
  Draws further = draws.Split("further varieties");
  if (further.Chance(4)) AddUnreadiness(draws.Split("unreadiness"), scenario);
  if (further.Chance(3)) AddWaiter(draws.Split("waiter"), scenario);
  if (further.Chance(3)) AddFeedConflict(draws.Split("feed conflict"), scenario);
  if (further.Chance(3)) AddOwnFetches(draws.Split("own fetches"), scenario);
  if (further.Chance(3)) AddResumedCount(draws.Split("resumed count"), scenario);
  if (further.Chance(2)) AddDivergence(draws.Split("divergence"), scenario);
  Draws rarer = draws.Split("rarer varieties");
  if (rarer.Chance(2)) AddStillStep(draws.Split("still step"), scenario);
  if (rarer.Chance(2)) AddFinalEvaluation(draws.Split("final evaluation"), scenario);
  if (rarer.Chance(2)) AddVainWaiter(draws.Split("vain waiter"), scenario);
}

// The process is told to end, at a call of the session.
void AddSignal(Draws draws, Scenario& scenario) {
  constexpr FaultPoint kPoints[] = {FaultPoint::kRun,  FaultPoint::kRun,     FaultPoint::kRun,   FaultPoint::kCreate,
                                    FaultPoint::kInit, FaultPoint::kRestore, FaultPoint::kReady, FaultPoint::kReadStep,
                                    FaultPoint::kSave, FaultPoint::kRawRun,  FaultPoint::kClose};
  if (!MayBeToldToEnd(scenario)) return;
  scenario.session.args["stop_on_sigterm"] = true;
  Fault fault;
  const bool supervisor = scenario.session.kind == SessionKind::kSupervisor;
  fault.at = supervisor && draws.Chance(60) ? FaultPoint::kRawRun : draws.Pick(kPoints);
  fault.calls = {draws.Between(1, 4)};
  fault.sigterm = true;
  // The pause of a recovery is what it ends.
  if (draws.Chance(60)) fault.code = draws.Chance(50) ? Code::kAborted : Code::kUnavailable;
  scenario.faults.push_back(std::move(fault));
}

void SaveBeside(Draws draws, Scenario& scenario) {
  for (std::vector<HookSpec>* hooks : {&scenario.hooks, &scenario.session.chief_only_hooks}) {
    for (HookSpec& hook : *hooks) {
      if (hook.hook == "checkpoint_saver" && draws.Chance(60)) hook.args["async_saves"] = true;
    }
  }
  const bool trains = scenario.session.kind == SessionKind::kTraining && scenario.checkpoint.dir;
  if (trains && draws.Chance(60)) scenario.session.args["async_saves"] = true;
  if (scenario.session.kind == SessionKind::kSupervisor || scenario.session.shared_state || !draws.Chance(60)) return;
  HookSpec saver{.hook = "checkpoint_saver", .name = "", .plan = {}, .listeners = {}, .args = {}};
  saver.args["save_steps"] = Number(draws, 1, 3);
  saver.args["async_saves"] = true;
  scenario.hooks.push_back(std::move(saver));
  Draws more = draws.Split("more than can be written");
  if (!more.Chance(60)) return;
  Statement run;
  run.op = Op::kRun;
  run.times = more.Between(4, 9);
  scenario.drive.insert(scenario.drive.begin(), std::move(run));
}

// By TensorFlow a recovery that could not start queue runners leaves a session whose queue nobody fills. A hook that
// trains on it in its end waits for ever.
void AvoidAnEndThatWaitsForNobody(Scenario& scenario) {
  const auto is_at_queue_runners = [](const Fault& fault) { return fault.at == FaultPoint::kQueueRunners; };
  const auto runs_at_the_end = [](const HookSpec& hook) { return hook.hook == "final_ops"; };
  if (!scenario.model.queue_input || std::ranges::none_of(scenario.faults, is_at_queue_runners)) return;
  const bool waits = std::ranges::any_of(scenario.hooks, runs_at_the_end) ||
                     std::ranges::any_of(scenario.session.chief_only_hooks, runs_at_the_end);
  if (!waits) return;
  scenario.behaviour.name = "default";
  scenario.behaviour.switches.clear();
}

}  // namespace

void AddVarieties(const Draws& draws, Scenario& scenario) {
  AddMost(draws, scenario);
  AvoidAnEndThatWaitsForNobody(scenario);
  Draws beside = draws.Split("beside the model");
  const bool supervisor = scenario.session.kind == SessionKind::kSupervisor;
  // The model does not say what tasks of their own do: such things go where it is silent anyway.
  const bool silent = !model::WhatIsNotModelled(scenario).empty();
  if (silent) SaveBeside(draws.Split("saves beside"), scenario);
  if (supervisor ? silent && beside.Chance(30) : beside.Chance(8)) AddSignal(draws.Split("signal"), scenario);
}

}  // namespace vigil::properties
