#include "vigil/properties/verify/cases.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "vigil/properties/generators/draws.h"
#include "vigil/properties/generators/scenarios.h"
#include "vigil/properties/verify/findings.h"
#include "vigil/replays/stage/builtin_hooks.h"

namespace vigil {
namespace {

using replays::Action;
using replays::Fault;
using replays::FaultPoint;
using replays::HookSpec;
using replays::Op;
using replays::PlanEntry;
using replays::Scenario;
using replays::SessionKind;
using replays::Statement;

constexpr std::string_view kTensorFlow = "tensorflow";
constexpr std::int64_t kRuns = 10;
constexpr std::int64_t kMostEvents = 3000;
constexpr double kMostSeconds = 12 * 3600;
constexpr std::int64_t kNanStep = 6;
constexpr std::int64_t kBatches = 6;
constexpr Code kCodes[] = {Code::kAborted, Code::kUnavailable, Code::kOutOfRange, Code::kInternal};

enum class Company { kAlone, kProbes, kBuiltIn };

HookSpec Probe(std::string name, std::vector<PlanEntry> plan = {}) {
  HookSpec hook;
  hook.hook = "probe";
  hook.name = std::move(name);
  hook.plan = std::move(plan);
  return hook;
}
HookSpec BuiltIn(std::string name, replays::Args args) {
  HookSpec hook;
  hook.hook = std::move(name);
  hook.args = std::move(args);
  return hook;
}
HookSpec Subject() {
  HookSpec hook;
  hook.hook = std::string(replays::kForeignHook);
  return hook;
}

std::vector<HookSpec> ListOf(Company company) {
  switch (company) {
    case Company::kAlone:
      return {Subject()};
    case Company::kProbes:
      return {Probe("a"), Subject(), Probe("b")};
    case Company::kBuiltIn:
      return {BuiltIn("checkpoint_saver", {{"save_steps", std::int64_t{1}}}), Subject(),
              BuiltIn("step_counter", {{"every_n_steps", std::int64_t{2}}}), Probe("b")};
  }
  return {};
}

std::string_view NameOf(Company company) {
  return company == Company::kAlone ? "alone" : company == Company::kProbes ? "probes" : "builtin";
}
std::string_view NameOf(SessionKind kind) { return kind == SessionKind::kSingular ? "singular" : "monitored"; }

// A loop of runs in a session of that kind. Of the built-in hooks one saves each step: nothing is lost in a recovery.
Scenario Base(SessionKind kind, Company company, std::string_view behaviour = "default") {
  Scenario scenario;
  scenario.session.kind = kind;
  scenario.behaviour.name = behaviour;
  scenario.hooks = ListOf(company);
  scenario.checkpoint.dir = company == Company::kBuiltIn;
  Statement run;
  run.op = Op::kRun;
  Statement loop;
  loop.op = Op::kLoop;
  loop.max = kRuns;
  loop.body = {run};
  scenario.drive = {loop};
  scenario.limits.events = kMostEvents;
  scenario.limits.virtual_s = kMostSeconds;
  return scenario;
}

Fault At(FaultPoint at, std::int64_t call, Code code) {
  Fault fault;
  fault.at = at;
  fault.calls = {call};
  fault.code = code;
  return fault;
}

PlanEntry Does(std::string method, std::int64_t call, Action action, Code code = Code::kOk) {
  PlanEntry entry;
  entry.method = std::move(method);
  entry.calls = {call};
  entry.action = action;
  entry.code = code;
  return entry;
}

class Cases {
 public:
  std::vector<HookCase> All() {
    Calm();
    Relations();
    SecondLives();
    Faults();
    OtherHooks();
    for (HookCase& c : cases_) c.scenario.id = c.name;
    return std::move(cases_);
  }

 private:
  HookCase& Add(std::string name, Scenario scenario) {
    cases_.push_back({.name = std::move(name), .scenario = std::move(scenario)});
    return cases_.back();
  }
  void AddRelated(std::string name, Scenario scenario, HookRelation relation, std::string like,
                  std::string_view promise) {
    HookCase& added = Add(std::move(name), std::move(scenario));
    added.relation = relation;
    added.like = std::move(like);
    added.promise = promise;
  }

  void Calm() {
    for (const Company company : {Company::kAlone, Company::kProbes, Company::kBuiltIn}) {
      for (const SessionKind kind : {SessionKind::kMonitored, SessionKind::kSingular}) {
        const std::string rest = fmt::format("{}.{}", NameOf(kind), NameOf(company));
        Add("calm." + rest, Base(kind, company));
        Add("calm_tensorflow." + rest, Base(kind, company, kTensorFlow));
        Scenario scenario = Base(kind, company);
        scenario.model.nan_at = kNanStep;
        Add("nan." + rest, scenario);
        scenario = Base(kind, company);
        scenario.model.batches = kBatches;
        Add("input_ends." + rest, scenario);
        scenario = Base(kind, company);
        scenario.drive[0].body[0].feed = 7;
        Add("caller_feeds." + rest, scenario);
        scenario = Base(kind, company);
        scenario.drive[0].max = 2;
        Add("short." + rest, scenario);
        // Leaving the scope calls End a second time: there is no session any more.
        Statement close;
        close.op = Op::kClose;
        scenario.drive.push_back(close);
        Add("closed_inside." + rest, scenario);
      }
    }
  }

  // What a fault-free play has to do with one in which nothing is lost.
  void Relations() {
    for (const SessionKind kind : {SessionKind::kMonitored, SessionKind::kSingular}) {
      for (std::int64_t k = 1; k <= 5; ++k) {
        Scenario scenario = Base(kind, Company::kProbes);
        scenario.drive[0].max = kRuns + 1;
        scenario.drive[0].body[0].catch_error = true;
        scenario.faults = {At(FaultPoint::kRun, k, Code::kInternal)};
        AddRelated(fmt::format("run_repeated_{}.{}", k, NameOf(kind)), std::move(scenario), HookRelation::kSame,
                   fmt::format("calm.{}.probes", NameOf(kind)), promise::kRepeat);
      }
    }
    for (std::int64_t k = 1; k <= 5; ++k) {
      Scenario jump = Base(SessionKind::kMonitored, Company::kProbes);
      jump.drive[0].max = kRuns * 2;
      jump.faults = {At(FaultPoint::kRun, k, Code::kOk)};
      jump.faults[0].code = std::nullopt;
      jump.faults[0].advance_step = 7;
      AddRelated(fmt::format("steps_jump_{}", k), std::move(jump), HookRelation::kStillStops, "calm.monitored.probes",
                 promise::kSkippedSteps);
    }
    for (std::int64_t k = 1; k <= kRuns - 1; ++k) StopLost(k);
    for (std::int64_t k = 2; k <= 5; ++k) Recovers(k);
  }

  // Whatever run k was for, its after_run fails in a later hook. By TensorFlow's behaviour a recovery forgets stops.
  void StopLost(std::int64_t k) {
    Scenario scenario = Base(SessionKind::kMonitored, Company::kBuiltIn, kTensorFlow);
    scenario.drive[0].max = kRuns * 2;
    scenario.hooks.back() = Probe("b", {Does("after_run", k, Action::kRaise, Code::kAborted)});
    AddRelated(fmt::format("stop_swallowed_{}", k), std::move(scenario), HookRelation::kStillStops,
               "calm_tensorflow.monitored.builtin", promise::kStopLost);
  }

  // By TensorFlow's behaviour, which recovers in no time: what goes by the clock goes on as if nothing had been.
  void Recovers(std::int64_t k) {
    Scenario between = Base(SessionKind::kMonitored, Company::kBuiltIn, kTensorFlow);
    between.hooks.back() = Probe("b", {Does("after_run", k, Action::kReport, Code::kAborted)});
    AddRelated(fmt::format("recovery_after_run_{}", k), std::move(between), HookRelation::kSame,
               "calm_tensorflow.monitored.builtin", promise::kRecovery);
    Scenario in_run = Base(SessionKind::kMonitored, Company::kBuiltIn, kTensorFlow);
    in_run.faults = {At(FaultPoint::kRun, k, Code::kAborted)};
    AddRelated(fmt::format("recovery_in_run_{}", k), std::move(in_run), HookRelation::kSame,
               "calm_tensorflow.monitored.builtin", promise::kRecovery);
    cases_.back().implied_by = promise::kRepeat;
    Scenario lossy = Base(SessionKind::kMonitored, Company::kProbes);
    lossy.drive[0].max = kRuns * 2;
    lossy.faults = {At(FaultPoint::kRun, k, Code::kAborted)};
    AddRelated(fmt::format("recovery_from_nothing_{}", k), std::move(lossy), HookRelation::kStillStops,
               "calm.monitored.probes", promise::kRecovery);
  }

  // The same hook in a second session of the caller, however the first one ended.
  void SecondLives() {
    for (const SessionKind kind : {SessionKind::kMonitored, SessionKind::kSingular}) {
      const std::string like = fmt::format("calm.{}.probes", NameOf(kind));
      AddRelated(fmt::format("second_session.{}", NameOf(kind)), Base(kind, Company::kProbes), HookRelation::kSame,
                 like, promise::kState);
      cases_.back().lives = 2;
      for (std::int64_t k = 1; k <= 4; ++k) {
        Scenario scenario = Base(kind, Company::kProbes);
        scenario.faults = {At(FaultPoint::kRun, k, Code::kInternal)};
        AddRelated(fmt::format("second_session_after_error_{}.{}", k, NameOf(kind)), std::move(scenario),
                   HookRelation::kSame, like, promise::kState);
        cases_.back().lives = 2;
      }
    }
  }

  void Faults() {
    constexpr std::pair<FaultPoint, std::string_view> kPoints[] = {
        {FaultPoint::kRun, "run"},     {FaultPoint::kCreate, "create"}, {FaultPoint::kInit, "init"},
        {FaultPoint::kReady, "ready"}, {FaultPoint::kClose, "close"},
    };
    for (const SessionKind kind : {SessionKind::kMonitored, SessionKind::kSingular}) {
      for (const auto& [point, point_name] : kPoints) {
        const std::int64_t calls = point == FaultPoint::kRun ? 5 : 1;
        for (std::int64_t k = 1; k <= calls; ++k) {
          for (const Code code : kCodes) {
            Scenario scenario = Base(kind, Company::kProbes);
            scenario.faults = {At(point, k, code)};
            Add(fmt::format("fault.{}_{}.{}.{}", point_name, k, CodeName(code), NameOf(kind)), std::move(scenario));
          }
        }
      }
    }
    for (const Code code : kCodes) {
      // A recovery whose new session cannot be made. OUT_OF_RANGE: the end is clean, and there is no session.
      Scenario scenario = Base(SessionKind::kMonitored, Company::kProbes);
      scenario.faults = {At(FaultPoint::kRun, 3, Code::kAborted), At(FaultPoint::kCreate, 2, code)};
      Add(fmt::format("recovery_fails.{}", CodeName(code)), std::move(scenario));
    }
    for (std::int64_t k = 1; k <= 3; ++k) {
      Scenario scenario = Base(SessionKind::kMonitored, Company::kProbes);
      scenario.faults = {At(FaultPoint::kRun, k, Code::kAborted), At(FaultPoint::kRun, k + 2, Code::kUnavailable)};
      Add(fmt::format("two_recoveries_{}", k), std::move(scenario));
    }
  }

  void OtherHooks() {
    constexpr std::string_view kMethods[] = {"after_create_session", "before_run", "after_run", "end"};
    for (const SessionKind kind : {SessionKind::kMonitored, SessionKind::kSingular}) {
      for (const std::string_view method : kMethods) {
        for (const Code code : kCodes) {
          Scenario scenario = Base(kind, Company::kProbes);
          const std::int64_t call = method == "before_run" || method == "after_run" ? 3 : 1;
          scenario.hooks.back() = Probe("b", {Does(std::string(method), call, Action::kRaise, code)});
          Add(fmt::format("other_hook_fails.{}.{}.{}", method, CodeName(code), NameOf(kind)), std::move(scenario));
        }
      }
      for (const std::string_view method : {"before_run", "after_run"}) {
        for (std::int64_t k = 1; k <= 3; ++k) {
          Scenario scenario = Base(kind, Company::kProbes);
          scenario.hooks.back() = Probe("b", {Does(std::string(method), k, Action::kRequestStop)});
          Add(fmt::format("other_hook_stops.{}_{}.{}", method, k, NameOf(kind)), std::move(scenario));
        }
      }
    }
  }

  std::vector<HookCase> cases_;
};

}  // namespace

const std::vector<HookCase>& EnumeratedCases() {
  static const std::vector<HookCase> cases = Cases().All();
  return cases;
}

HookCase RandomCase(std::uint64_t seed) {
  HookCase drawn{.name = fmt::format("random_{}", seed), .scenario = properties::RandomScenario(seed)};
  // A supervisor has no hooks: another scenario takes its place.
  properties::Draws others = properties::Draws(seed).Split("no supervisor");
  while (drawn.scenario.session.kind == SessionKind::kSupervisor)
    drawn.scenario = properties::RandomScenario(others.Below(~std::uint64_t{0}));
  drawn.scenario.id = drawn.name;
  properties::Draws draws = properties::Draws(seed).Split("subject");
  std::vector<HookSpec>& hooks = drawn.scenario.hooks;
  // Nobody is to blame for a disk, or for sharing a writer with another built-in hook.
  std::erase_if(drawn.scenario.faults, [](const replays::Fault& fault) { return fault.at == FaultPoint::kWrite; });
  std::erase_if(hooks, [](const HookSpec& hook) { return hook.hook != "probe"; });
  hooks.insert(hooks.begin() + static_cast<std::ptrdiff_t>(draws.Below(hooks.size() + 1)), Subject());
  drawn.scenario.model.global_step = true;  // the promises are about steps
  if (draws.Chance(75)) drawn.scenario.behaviour.name = "default";
  drawn.scenario.limits.events = kMostEvents;
  drawn.scenario.limits.virtual_s = kMostSeconds;
  return drawn;
}

}  // namespace vigil
