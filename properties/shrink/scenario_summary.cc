#include "vigil/properties/shrink/scenario_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "vigil/core/base/time.h"
#include "vigil/replays/format/job_names.h"
#include "vigil/replays/format/names.h"
#include "vigil/replays/stage/run_parts.h"

namespace vigil::properties {
namespace {

using replays::NameOf;
using replays::Scenario;
using sim::TimedFault;

std::string Calls(const std::vector<std::int64_t>& calls) {
  return calls.empty() ? "always" : fmt::format("{}", fmt::join(calls, ","));
}

std::string FetchText(const replays::FetchSpec& fetch) {
  using Kind = replays::FetchSpec::Kind;
  if (fetch.kind == Kind::kName) return fetch.name;
  std::vector<std::string> items;
  for (std::size_t i = 0; i < fetch.items.size(); ++i) {
    const std::string item = FetchText(fetch.items[i]);
    items.push_back(fetch.kind == Kind::kMap ? fmt::format("{}: {}", fetch.keys[i], item) : item);
  }
  return fetch.kind == Kind::kMap ? fmt::format("{{{}}}", fmt::join(items, ", "))
                                  : fmt::format("[{}]", fmt::join(items, ", "));
}

std::string EntryText(const replays::PlanEntry& entry) {
  using replays::Action;
  std::string text =
      fmt::format("{} {}: {}", entry.method, Calls(entry.calls), NameOf(replays::kActions, entry.action));
  if (entry.code != Code::kOk) text += fmt::format(" {}", CodeName(entry.code));
  if (entry.action == Action::kFetch) text += " " + (entry.nested.has_value() ? FetchText(*entry.nested) : entry.what);
  if (entry.action == Action::kFeed) text += fmt::format(" {}", entry.value);
  if (entry.action == Action::kStartThread) text += fmt::format(" deaf for {} s", entry.value);
  if (entry.options.has_value()) text += fmt::format(" {}", replays::OptionsText(*entry.options));
  return text;
}

std::string HookText(const replays::HookSpec& hook) {
  std::string text = hook.name.empty() ? hook.hook : fmt::format("{} {}", hook.hook, hook.name);
  std::vector<std::string> plan;
  for (const replays::PlanEntry& entry : hook.plan) plan.push_back(EntryText(entry));
  for (const replays::ListenerSpec& listener : hook.listeners) {
    plan.push_back(listener.name.empty() ? "a listener" : "listener " + listener.name);
    for (const replays::PlanEntry& entry : listener.plan) plan.push_back(EntryText(entry));
  }
  return plan.empty() ? text : fmt::format("{} ({})", text, fmt::join(plan, ", "));
}

std::string FaultText(const replays::Fault& fault) {
  std::string text = fmt::format("{} {}", NameOf(replays::kFaultPoints, fault.at), Calls(fault.calls));
  if (fault.code.has_value())
    text += fmt::format(" {} with {}", fault.calls.size() > 1 ? "fail" : "fails", CodeName(*fault.code));
  if (fault.lost_reply) text += " after it took effect";
  if (fault.not_ready) text += ": the model is not ready";
  if (fault.advance_step.has_value()) text += fmt::format(", the step goes on by {}", *fault.advance_step);
  if (fault.sigterm) text += ", SIGTERM comes";
  if (fault.chief_init.has_value()) text += fmt::format(", the chief initialises step {}", *fault.chief_init);
  return text;
}

std::string StatementsText(const std::vector<replays::Statement>& statements);

std::string StatementText(const replays::Statement& statement) {
  std::string text(NameOf(replays::kOps, statement.op));
  if (statement.times != 1) text += fmt::format(" x{}", statement.times);
  if (statement.max != 0) text += fmt::format(" up to {}", statement.max);
  if (statement.code.has_value()) text += fmt::format(" {}", CodeName(*statement.code));
  if (!statement.name.empty()) text += " " + statement.name;
  if (statement.secs != 0) text += fmt::format(" {:g} s", statement.secs);
  if (statement.every_secs != 0) text += fmt::format(" every {:g} s", statement.every_secs);
  if (statement.max_wait_secs.has_value()) text += fmt::format(" for at most {:g} s", *statement.max_wait_secs);
  if (statement.step.has_value()) text += fmt::format(" of step {}", *statement.step);
  if (statement.fetch_missing) text += " fetching what is in no graph";
  if (statement.fetch.has_value()) text += " fetching " + FetchText(*statement.fetch);
  if (statement.feed.has_value()) text += fmt::format(" feeding {}", *statement.feed);
  if (statement.options.has_value()) text += fmt::format(" with {}", replays::OptionsText(*statement.options));
  if (statement.metadata) text += " asking for metadata";
  if (statement.on_call.has_value()) text += fmt::format(" in call {}", *statement.on_call);
  if (statement.close_summary_writer == false) text += " leaving the writer open";
  if (statement.ignore_live_threads == true) text += " ignoring live threads";
  if (statement.catch_error) text += " (caught)";
  if (!statement.body.empty()) text += fmt::format(" {{{}}}", StatementsText(statement.body));
  return text;
}

std::string StatementsText(const std::vector<replays::Statement>& statements) {
  std::vector<std::string> texts;
  for (const replays::Statement& statement : statements) texts.push_back(StatementText(statement));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string SessionSummary(const Scenario& scenario) {
  std::vector<std::string> hooks;
  for (const auto* const list : {&scenario.hooks, &scenario.session.chief_only_hooks}) {
    for (const replays::HookSpec& hook : *list) hooks.push_back(HookText(hook));
  }
  std::string story = fmt::format("a {} session", NameOf(replays::kSessionKinds, scenario.session.kind));
  std::vector<std::string> arguments;
  for (const auto& [name, value] : scenario.session.args) arguments.push_back(name);
  if (!arguments.empty()) story += fmt::format(" ({})", fmt::join(arguments, ", "));
  if (!hooks.empty()) story += fmt::format(" with {}", fmt::join(hooks, ", "));
  if (!scenario.scope_with) story += "; without a scope";
  if (!scenario.checkpoint.preload.empty())
    story += fmt::format("; checkpoints of step {}", fmt::join(scenario.checkpoint.preload, ", "));
  for (const replays::Fault& fault : scenario.faults) story += "; " + FaultText(fault);
  if (!scenario.drive.empty()) story += "; the caller: " + StatementsText(scenario.drive);
  if (!scenario.after.empty()) story += "; after the end: " + StatementsText(scenario.after);
  return story;
}

std::string ForSo(const TimedFault& fault) {
  return fault.lasts.has_value() ? fmt::format(" for {:g} s", ToSeconds(*fault.lasts)) : " for ever";
}

std::string When(const TimedFault& fault) {
  if (!fault.point.has_value()) return fmt::format("at {:g} s", ToSeconds(fault.at));
  switch (fault.point->kind) {
    case sim::FaultPoint::Kind::kSent:
      return fmt::format("when message {} is sent", fault.point->n);
    case sim::FaultPoint::Kind::kDelivered:
      return fmt::format("when message {} has arrived", fault.point->n);
    case sim::FaultPoint::Kind::kFileOp:
      return fmt::format("before operation {} on a file", fault.point->n);
  }
  return "";
}

std::string Elsewhere(const TimedFault& fault) {
  if (!fault.elsewhere.has_value()) return "";
  return fmt::format(" on another machine, known after {:g} s", ToSeconds(*fault.elsewhere));
}

std::string What(const TimedFault& fault) {
  using Kind = TimedFault::Kind;
  const std::string pair = fault.task + (fault.one_way ? " to " : " and ") + fault.peer;
  switch (fault.kind) {
    case Kind::kCrash: {
      std::string text = fault.task + (fault.in_order   ? " is told to stop"
                                       : fault.silently ? " dies silently"
                                                        : " crashes");
      if (fault.disk != sim::DiskLoss::kNothing)
        text += fmt::format(" (disk: {})", NameOf(replays::kDiskLosses, fault.disk));
      return text +
             (fault.restart_after.has_value() ? fmt::format(", back after {:g} s", ToSeconds(*fault.restart_after))
                                              : ", stays away") +
             Elsewhere(fault);
    }
    case Kind::kPause:
      return fault.task + " stands still" + ForSo(fault);
    case Kind::kStart:
      return fault.task + " starts";
    case Kind::kCut:
      return pair + " are cut off" + ForSo(fault);
    case Kind::kSilent:
      return pair + " hear nothing" + ForSo(fault);
    case Kind::kClockJump:
      return fmt::format("the clock of {} jumps by {:g} s", fault.task, ToSeconds(fault.by));
    case Kind::kClockDrift:
      return fmt::format("the clock of {} runs {:g} times as fast", fault.task, fault.rate) + ForSo(fault);
    case Kind::kSlowNode:
      return fmt::format("{} is {:g} times as slow", fault.task, fault.rate) + ForSo(fault);
    case Kind::kOverload:
      return fmt::format("{} handles {} requests at a time", fault.task, fault.at_once) + ForSo(fault);
    case Kind::kZombie:
      return fmt::format("{} {}{}, a new one comes after {:g} s", fault.task,
                         fault.silently ? "hears nothing" : "stands still", ForSo(fault),
                         ToSeconds(fault.restart_after.value_or(Duration(0)))) +
             Elsewhere(fault) + ", and both go on";
    case Kind::kSlowLink:
      return fmt::format("{} are {:g} s slower", pair, ToSeconds(fault.by)) + ForSo(fault);
  }
  return "";
}

std::string PartOf(const TimedFault& fault) {
  if (fault.part_of == TimedFault::Whole::kAlone) return "";
  const std::string_view of_links = NameOf(replays::kWholesOfLinks, fault.part_of);
  return fmt::format(" ({})", of_links.empty() ? NameOf(replays::kWholesOfCrashes, fault.part_of) : of_links);
}

// Which of the calls that match: 0 = every one.
std::string CallNumber(std::int64_t call) { return call == 0 ? "each call" : fmt::format("call {}", call); }

// "" = it does nothing to its messages.
std::string LinkText(const sim::LinkSpec& link) {
  std::vector<std::string> faults;
  if (link.loss > 0) faults.push_back(fmt::format("loses {:g} %", 100 * link.loss));
  if (link.duplication > 0) faults.push_back(fmt::format("repeats {:g} %", 100 * link.duplication));
  if (link.reordering > 0) faults.push_back(fmt::format("reorders {:g} %", 100 * link.reordering));
  if (link.bytes_per_s > 0) faults.push_back(fmt::format("carries {:g} bytes/s", link.bytes_per_s));
  if (link.bytes_in_flight > 0) faults.push_back(fmt::format("carries {} bytes at a time", link.bytes_in_flight));
  return faults.empty() ? "" : fmt::format("{} of its messages", fmt::join(faults, ", "));
}

std::string Who(std::string_view task) { return task.empty() ? "any task" : std::string(task); }

std::string JobSummary(const sim::JobSpec& job) {
  std::vector<std::string> tasks;
  for (const auto& [name, count] : job.tasks) {
    if (count > 0) tasks.push_back(count == 1 ? name : fmt::format("{} {}", count, name));
  }
  std::string story = fmt::format("{} train {} to step {}", fmt::join(tasks, ", "),
                                  sim::WorkloadName(job.workload.kind), job.workload.last_step);
  for (const TimedFault& fault : job.plan.timed)
    story += fmt::format("; {} {}{}", When(fault), What(fault), PartOf(fault));
  for (const sim::RpcFault& fault : job.plan.rpcs) {
    story +=
        fmt::format("; {} from {} to {}, {}: {}", fault.method.empty() ? "any request" : fault.method, Who(fault.from),
                    Who(fault.to), CallNumber(fault.call), NameOf(replays::kRpcEffects, fault.effect));
    if (fault.effect == sim::RpcFault::Effect::kError) story += fmt::format(" {}", CodeName(fault.code));
    if (fault.effect == sim::RpcFault::Effect::kDelayed) story += fmt::format(" by {:g} s", ToSeconds(fault.by));
  }
  for (const sim::DiskFault& fault : job.plan.disks) {
    story += fmt::format("; {} of {}'s files, {}: {}", fault.op.empty() ? "any operation" : fault.op, Who(fault.task),
                         CallNumber(fault.call), NameOf(replays::kDiskEffects, fault.effect));
    if (fault.at.has_value()) story += fmt::format(" from {:g} s on", ToSeconds(*fault.at));
    if (fault.lasts.has_value()) story += fmt::format(" for {:g} s", ToSeconds(*fault.lasts));
  }
  for (const sim::SessionCallFault& fault : job.plan.session_calls) {
    story += fmt::format("; {} of {}, {}: fails with {}{}", CallKindName(fault.at), fault.task, CallNumber(fault.call),
                         CodeName(fault.code), fault.lost_reply ? " after it took effect" : "");
  }
  if (const std::string link = LinkText(job.plan.default_link); !link.empty())
    story += fmt::format("; every link {}", link);
  for (const auto& [ends, spec] : job.plan.links) {
    if (const std::string link = LinkText(spec); !link.empty()) story += fmt::format("; the link {} {}", ends, link);
  }
  return story;
}

}  // namespace

std::string ScenarioSummary(const Scenario& scenario) {
  return scenario.job.has_value() ? JobSummary(*scenario.job) : SessionSummary(scenario);
}

}  // namespace vigil::properties
