#include "vigil/core/base/code.h"
#include "vigil/replays/format/job_names.h"
#include "vigil/replays/format/print_parts.h"

namespace vigil::replays {
namespace {

void PrintDuration(JsonWriter& w, std::string_view key, Duration value) { w.Key(key).Seconds(ToSeconds(value)); }

void PrintLink(JsonWriter& w, const sim::LinkSpec& link) {
  const sim::LinkSpec missing;
  w.Open('{');
  if (link.least_latency != missing.least_latency || link.most_latency != missing.most_latency) {
    w.Key("latency_ms").Open('[');
    w.Seconds(ToSeconds(link.least_latency) * 1e3).Seconds(ToSeconds(link.most_latency) * 1e3).Close(']');
  }
  if (link.loss != 0) w.Key("loss").Seconds(link.loss);
  if (link.duplication != 0) w.Key("duplication").Seconds(link.duplication);
  if (link.reordering != 0) w.Key("reordering").Seconds(link.reordering);
  if (link.bytes_per_s != 0) w.Key("bytes_per_s").Seconds(link.bytes_per_s);
  w.Close('}');
}

void PrintCluster(JsonWriter& w, const sim::JobSpec& job) {
  w.Key("cluster").Open('{').Key("tasks").Open('{');
  for (const auto& [name, count] : job.tasks) w.Key(name).Integer(count);
  w.Close('}');
  const bool plain = job.plan.default_link == sim::LinkSpec();
  if (!plain || !job.plan.links.empty()) {
    w.Key("links").Open('{');
    if (!plain) PrintLink(w.Key("default"), job.plan.default_link);
    for (const auto& [name, link] : job.plan.links) PrintLink(w.Key(name), link);
    w.Close('}');
  }
  w.Close('}');
}

void PrintWorkload(JsonWriter& w, const sim::WorkloadSpec& workload) {
  const sim::WorkloadSpec missing;
  w.Key("workload").Open('{').Key("name").String(sim::WorkloadName(workload.kind));
  w.Key("last_step").Integer(workload.last_step);
  if (workload.save_steps != missing.save_steps) w.Key("save_steps").Integer(workload.save_steps);
  if (workload.async_saves) w.Key("async_saves").Bool(true);
  if (workload.validate_steps != missing.validate_steps) w.Key("validate_steps").Integer(workload.validate_steps);
  if (workload.sync != 0) w.Key("sync").Integer(workload.sync);
  if (!workload.filters) w.Key("filters").Bool(false);
  if (workload.timeout_ms != 0) w.Key("timeout_ms").Integer(workload.timeout_ms);
  if (workload.step != missing.step) PrintDuration(w, "step_s", workload.step);
  if (workload.least_boot != missing.least_boot || workload.most_boot != missing.most_boot) {
    w.Key("boot_s").Open('[');
    w.Seconds(ToSeconds(workload.least_boot)).Seconds(ToSeconds(workload.most_boot)).Close(']');
  }
  if (workload.max_wait_s.has_value()) {
    w.Key("session").Open('{').Key("max_wait_secs").Seconds(*workload.max_wait_s).Close('}');
  }
  if (!workload.last_steps.empty()) {
    w.Key("tasks").Open('{');
    for (const auto& [task, step] : workload.last_steps)
      w.Key(task).Open('{').Key("last_step").Integer(step).Close('}');
    w.Close('}');
  }
  w.Close('}');
}

void PrintTimed(JsonWriter& w, const sim::TimedFault& fault) {
  using Kind = sim::TimedFault::Kind;
  PrintDuration(w.Open('{'), "at_s", fault.at);
  w.Key(NameOf(kTimedFaults, fault.kind));
  if (IsBetweenTasks(fault.kind)) {
    w.Open('[').String(fault.task).String(fault.peer).Close(']');
    if (fault.one_way) w.Key("one_way").Bool(true);
  } else {
    w.String(fault.task);
  }
  if (fault.lasts.has_value()) PrintDuration(w, "for_s", *fault.lasts);
  if (fault.restart_after.has_value()) PrintDuration(w, "restart_after_s", *fault.restart_after);
  if (fault.disk != sim::DiskLoss::kNothing) w.Key("disk").String(NameOf(kDiskLosses, fault.disk));
  if (fault.kind == Kind::kClockJump || fault.kind == Kind::kSlowLink) PrintDuration(w, "by_s", fault.by);
  if (fault.kind == Kind::kClockDrift) w.Key("rate").Seconds(fault.rate);
  w.Close('}');
}

void PrintRpc(JsonWriter& w, const sim::RpcFault& fault) {
  w.Open('{').Key("rpc").String(fault.method);
  if (!fault.from.empty()) w.Key("from").String(fault.from);
  if (!fault.to.empty()) w.Key("to").String(fault.to);
  w.Key("call").Integer(fault.call).Key("effect").String(NameOf(kRpcEffects, fault.effect));
  w.Key("code").String(CodeName(fault.code));
  if (fault.by != Duration(0)) PrintDuration(w, "by_s", fault.by);
  w.Close('}');
}

void PrintDisk(JsonWriter& w, const sim::DiskFault& fault) {
  w.Open('{').Key("disk").String(fault.task).Key("op").String(fault.op);
  if (!fault.path.empty()) w.Key("path").String(fault.path);
  w.Key("call").Integer(fault.call).Key("code").String(NameOf(kDiskEffects, fault.effect));
  if (fault.by != Duration(0)) PrintDuration(w, "by_s", fault.by);
  w.Close('}');
}

void PrintSessionCall(JsonWriter& w, const sim::SessionCallFault& fault) {
  w.Open('{').Key("session").String(fault.task).Key("at").String(CallKindName(fault.at));
  w.Key("call").Integer(fault.call).Key("code").String(CodeName(fault.code));
  if (fault.lost_reply) w.Key("lost_reply").Bool(true);
  w.Close('}');
}

void PrintSpan(JsonWriter& w, std::string_view key, const Span<std::int64_t>& span) {
  w.Key(key).Open('[').Integer(span.least).Integer(span.most).Close(']');
}
void PrintSpan(JsonWriter& w, std::string_view key, const Span<double>& span) {
  w.Key(key).Open('[').Seconds(span.least).Seconds(span.most).Close(']');
}
template <typename T>
void PrintSpan(JsonWriter& w, std::string_view key, const std::optional<Span<T>>& span) {
  if (span.has_value()) PrintSpan(w, key, *span);
}

void PrintStrings(JsonWriter& w, std::string_view key, const std::vector<std::string>& values) {
  w.Key(key).Open('[');
  for (const std::string& value : values) w.String(value);
  w.Close(']');
}
void PrintCodes(JsonWriter& w, std::string_view key, const std::vector<Code>& codes) {
  w.Key(key).Open('[');
  for (const Code code : codes) w.String(CodeName(code));
  w.Close(']');
}

void PrintTask(JsonWriter& w, const TaskExpectation& task) {
  w.Open('{');
  PrintStrings(w, "outcome", task.outcome);
  PrintSpan(w, "sessions", task.sessions);
  PrintCodes(w, "run_failed", task.run_failed);
  PrintSpan(w, "run_failed_times", task.run_failed_times);
  PrintCodes(w, "create_failed", task.create_failed);
  PrintSpan(w, "create_failed_times", task.create_failed_times);
  PrintSpan(w, "step_back_silent_times", task.step_back_silent_times);
  PrintSpan(w, "step_back_silent", task.step_back_silent);
  PrintSpan(w, "step_back_recovered_times", task.step_back_recovered_times);
  PrintSpan(w, "step_back_recovered", task.step_back_recovered);
  PrintSpan(w, "longest_run_s", task.longest_run_s);
  PrintSpan(w, "opened_after_s", task.opened_after_s);
  PrintSpan(w, "last_step", task.last_step);
  PrintSpan(w, "hook_end", task.hook_end);
  if (!task.texts.empty()) PrintStrings(w, "texts", task.texts);
  w.Close('}');
}

}  // namespace

void PrintJob(JsonWriter& w, const sim::JobSpec& job) {
  PrintCluster(w, job);
  PrintWorkload(w, job.workload);
  w.Key("plan").Open('[');
  for (const sim::TimedFault& fault : job.plan.timed) PrintTimed(w, fault);
  for (const sim::RpcFault& fault : job.plan.rpcs) PrintRpc(w, fault);
  for (const sim::DiskFault& fault : job.plan.disks) PrintDisk(w, fault);
  for (const sim::SessionCallFault& fault : job.plan.session_calls) PrintSessionCall(w, fault);
  w.Close(']');
  if (job.no_wait) w.Key("no_wait").Bool(true);
  if (job.heal_after.has_value()) PrintDuration(w, "heal_s", *job.heal_after);
  PrintDuration(w, "limit_s", job.limit);
}

void PrintPlanEntry(JsonWriter& w, const sim::FaultPlan& plan, sim::InertFault::List list, std::size_t index) {
  switch (list) {
    case sim::InertFault::List::kTimed:
      return PrintTimed(w, plan.timed[index]);
    case sim::InertFault::List::kRpcs:
      return PrintRpc(w, plan.rpcs[index]);
    case sim::InertFault::List::kDisks:
      return PrintDisk(w, plan.disks[index]);
    case sim::InertFault::List::kSessionCalls:
      return PrintSessionCall(w, plan.session_calls[index]);
  }
}

void PrintJobExpectation(JsonWriter& w, const JobExpectation& expect) {
  w.Open('{').Key("tasks").Open('{');
  for (const auto& [name, task] : expect.tasks) PrintTask(w.Key(name), task);
  w.Close('}');
  if (expect.newest_checkpoint.has_value()) {
    PrintSpan(w, "newest_checkpoint", *expect.newest_checkpoint);
  } else {
    w.Key("newest_checkpoint").Null();
  }
  w.Key("repeats").Integer(expect.repeats).Close('}');
}

}  // namespace vigil::replays
