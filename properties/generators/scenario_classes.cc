#include "vigil/properties/generators/scenario_classes.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/replays/format/args.h"
#include "vigil/replays/format/names.h"

namespace vigil::properties {
namespace {

class Classes {
 public:
  std::set<std::string> Take() { return std::move(names_); }
  void Add(std::string_view kind, std::string_view name) { names_.insert(std::string(kind) + " " + std::string(name)); }
  void AddIf(bool holds, std::string_view name) {
    if (holds) names_.emplace(name);
  }

  void AddHook(const replays::HookSpec& hook) {
    Add("hook", hook.hook);
    AddIf(!hook.listeners.empty(), "listener");
    for (const replays::PlanEntry& entry : hook.plan) AddEntry(entry);
    for (const replays::ListenerSpec& listener : hook.listeners) AddIf(!listener.plan.empty(), "listener that acts");
  }
  // What a hook meets in this scenario.
  void AddHookAmong(const replays::Scenario& scenario, const replays::HookSpec& hook) {
    const bool watches = hook.hook == "step_counter" || hook.args.contains("save_secs");
    AddIf(watches && scenario.model.steps_per_run == 0, "hook that watches a step which stands still");
    const bool evaluates = hook.hook == "final_ops" && replays::StringArg(hook.args, "what") == "loss";
    AddIf(evaluates && scenario.model.nan_at.has_value() && scenario.model.batches.has_value(),
          "final evaluation of what trains on an input that ends");
    const bool signalled = std::ranges::any_of(scenario.faults, &replays::Fault::sigterm);
    const bool waits = hook.hook == "global_step_waiter" && replays::IntegerArg(hook.args, "wait_until_step") > 0;
    AddIf(waits && signalled, "hook that waits for a step, and a signal");
    AddIf(replays::ListArg(hook.args, "tensors").size() > 1, "hook that logs several tensors");
  }
  void AddEntry(const replays::PlanEntry& entry) {
    Add("action", replays::NameOf(replays::kActions, entry.action));
    Add("in", entry.method);
  }
  void AddFault(const replays::Fault& fault) {
    Add("fault", replays::NameOf(replays::kFaultPoints, fault.at));
    AddIf(fault.lost_reply, "lost reply");
    AddIf(fault.advance_step.has_value(), "step advanced by others");
    AddIf(fault.chief_init.has_value(), "chief that comes later");
    AddIf(fault.sigterm, "signal");
  }
  void AddStatements(const std::vector<replays::Statement>& statements) {
    for (const replays::Statement& statement : statements) {
      Add("statement", replays::NameOf(replays::kOps, statement.op));
      AddIf(statement.catch_error, "caught");
      AddIf(statement.options.has_value(), "options of a run");
      AddIf(statement.fetch.has_value(), "nested fetch");
      AddIf(statement.metadata, "metadata");
      AddIf(statement.feed.has_value(), "feed");
      AddStatements(statement.body);
    }
  }
  void AddModel(const replays::ModelSpec& model) {
    AddIf(!model.global_step, "no global step");
    AddIf(model.nan_at.has_value(), "nan");
    AddIf(model.batches.has_value(), "input that ends");
    AddIf(model.queue_input, "queue");
    AddIf(model.local_variable, "local variable");
    AddIf(model.fed_variable, "fed variable");
    AddIf(!model.device.empty(), "device");
    AddIf(model.summary, "summary");
  }
  void AddCheckpoint(const replays::CheckpointSpec& checkpoint) {
    AddIf(checkpoint.dir, "checkpoint directory");
    AddIf(checkpoint.filename.has_value(), "checkpoint file");
    AddIf(!checkpoint.preload.empty(), "earlier checkpoints");
    AddIf(checkpoint.preload_keep.has_value(), "earlier checkpoints, fewer kept");
    AddIf(checkpoint.damage != replays::Damage::kNone, "damage");
    AddIf(checkpoint.events, "earlier events file");
  }

 private:
  std::set<std::string> names_;
};

}  // namespace

std::set<std::string> ClassesOf(const replays::Scenario& scenario) {
  Classes classes;
  classes.Add("behaviour", scenario.behaviour.name);
  classes.Add("session", replays::NameOf(replays::kSessionKinds, scenario.session.kind));
  classes.AddIf(scenario.session.shared_state, "worker");
  classes.AddIf(!scenario.session.chief_only_hooks.empty(), "hook of the chief only");
  for (const auto& [name, value] : scenario.session.args) classes.Add("argument", name);
  classes.AddIf(!scenario.scope_with, "bare scope");
  if (scenario.session.kind == replays::SessionKind::kSupervisor) {
    classes.AddIf(!scenario.scope_with, "supervisor by hand");
    classes.AddIf(scenario.model.queue_input, "queue of a supervisor");
    const auto struck = std::ranges::count(scenario.faults, replays::FaultPoint::kRawRun, &replays::Fault::at);
    classes.AddIf(struck > 0, "fault in a run of a supervisor's caller");
  }
  classes.AddIf(scenario.init_fn, "init_fn");
  classes.AddIf(scenario.init_feed.has_value(), "init feed");
  classes.AddIf(scenario.faults.empty(), "no faults");
  classes.AddModel(scenario.model);
  classes.AddCheckpoint(scenario.checkpoint);
  for (const replays::HookSpec& hook : scenario.hooks) classes.AddHook(hook);
  for (const replays::HookSpec& hook : scenario.hooks) classes.AddHookAmong(scenario, hook);
  for (const replays::Fault& fault : scenario.faults) classes.AddFault(fault);
  classes.AddStatements(scenario.drive);
  classes.AddStatements(scenario.after);
  return classes.Take();
}

}  // namespace vigil::properties
