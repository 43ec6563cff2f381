#include "vigil/replays/format/print.h"

#include "vigil/core/base/code.h"
#include "vigil/replays/format/json_writer.h"
#include "vigil/replays/format/names.h"
#include "vigil/replays/format/print_parts.h"

namespace vigil::replays {
namespace {

// Numbers that were written with a fraction stay so: in an argument, 1 and 1.0 are told apart when printed, not when
// played.
struct ArgPrinter {
  JsonWriter& w;
  void operator()(std::monostate) const { w.Null(); }
  void operator()(bool value) const { w.Bool(value); }
  void operator()(std::int64_t value) const { w.Integer(value); }
  void operator()(double value) const { w.Double(value); }
  void operator()(const std::string& value) const { w.String(value); }
  void operator()(const std::vector<std::string>& values) const {
    w.Open('[');
    for (const std::string& value : values) w.String(value);
    w.Close(']');
  }
};

void PrintArgs(JsonWriter& w, const Args& args) {
  for (const auto& [name, value] : args) {
    w.Key(name);
    std::visit(ArgPrinter{w}, value);
  }
}

void PrintIf(JsonWriter& w, std::string_view key, const std::optional<std::int64_t>& value) {
  if (value.has_value()) w.Key(key).Integer(*value);
}
void PrintIf(JsonWriter& w, std::string_view key, const std::optional<Code>& code) {
  if (code.has_value()) w.Key(key).String(CodeName(*code));
}
void PrintIf(JsonWriter& w, std::string_view key, const std::optional<bool>& value) {
  if (value.has_value()) w.Key(key).Bool(*value);
}
void PrintIf(JsonWriter& w, std::string_view key, bool value) {
  if (value) w.Key(key).Bool(true);
}

// Only lists with something in them.
template <typename T, typename Print>
void PrintList(JsonWriter& w, std::string_view key, const std::vector<T>& items, Print&& print, bool always = false) {
  if (items.empty() && !always) return;
  w.Key(key).Open('[');
  for (const T& item : items) print(w, item);
  w.Close(']');
}
void PrintInteger(JsonWriter& w, std::int64_t value) { w.Integer(value); }
void PrintString(JsonWriter& w, const std::string& value) { w.String(value); }
void PrintCode(JsonWriter& w, Code code) { w.String(CodeName(code)); }

void PrintCalls(JsonWriter& w, const std::vector<std::int64_t>& calls) {
  w.Key("call");
  if (calls.empty()) {
    w.Null();
  } else if (calls.size() == 1) {
    w.Integer(calls[0]);
  } else {
    w.Open('[');
    for (const std::int64_t call : calls) w.Integer(call);
    w.Close(']');
  }
}

void PrintFetch(JsonWriter& w, const FetchSpec& fetch) {
  if (fetch.kind == FetchSpec::Kind::kName) {
    w.String(fetch.name);
    return;
  }
  const bool map = fetch.kind == FetchSpec::Kind::kMap;
  w.Open(map ? '{' : '[');
  for (std::size_t i = 0; i < fetch.items.size(); ++i) {
    if (map) w.Key(fetch.keys[i]);
    PrintFetch(w, fetch.items[i]);
  }
  w.Close(map ? '}' : ']');
}

void PrintRunOptions(JsonWriter& w, const RunOptions& options) {
  w.Key("options").Open('{');
  if (options.trace_level != TraceLevel::kNoTrace)
    w.Key("trace_level").String(NameOf(kTraceLevels, options.trace_level));
  if (options.timeout_in_ms != 0) w.Key("timeout_in_ms").Integer(options.timeout_in_ms);
  if (options.inter_op_thread_pool != 0) w.Key("inter_op_thread_pool").Integer(options.inter_op_thread_pool);
  PrintIf(w, "output_partition_graphs", options.output_partition_graphs);
  PrintIf(w, "report_tensor_allocations_upon_oom", options.report_tensor_allocations_upon_oom);
  PrintIf(w, "reset_disk_byte_usage", options.reset_disk_byte_usage);
  PrintList(w, "watches", options.debug_tensor_watch_opts, [](JsonWriter& v, const DebugTensorWatch& watch) {
    v.String(watch.node_name + ":" + std::to_string(watch.output_slot));
  });
  w.Close('}');
}

void PrintPlanEntry(JsonWriter& w, const PlanEntry& entry) {
  w.Open('{').Key("method").String(entry.method);
  PrintCalls(w, entry.calls);
  w.Key("do").String(NameOf(kActions, entry.action));
  if (entry.code != Code::kOk) w.Key("code").String(CodeName(entry.code));
  if (!entry.what.empty()) w.Key("what").String(entry.what);
  if (entry.nested.has_value()) {
    w.Key("what");
    PrintFetch(w, *entry.nested);
  }
  if (entry.options.has_value()) PrintRunOptions(w, *entry.options);
  if (entry.action == Action::kFeed || entry.action == Action::kStartThread) w.Key("value").Integer(entry.value);
  w.Close('}');
}

void PrintHook(JsonWriter& w, const HookSpec& hook) {
  w.Open('{').Key("hook").String(hook.hook);
  if (!hook.name.empty()) w.Key("name").String(hook.name);
  PrintArgs(w, hook.args);
  PrintList(w, "plan", hook.plan, PrintPlanEntry);
  PrintList(w, "listeners", hook.listeners, [](JsonWriter& v, const ListenerSpec& listener) {
    v.Open('{').Key("name").String(listener.name);
    PrintList(v, "plan", listener.plan, PrintPlanEntry);
    v.Close('}');
  });
  w.Close('}');
}

void PrintFault(JsonWriter& w, const Fault& fault) {
  w.Open('{').Key("at").String(NameOf(kFaultPoints, fault.at));
  PrintCalls(w, fault.calls);
  PrintIf(w, "code", fault.code);
  if (fault.lost_reply) w.Key("effect").String("lost_reply");
  if (fault.not_ready) w.Key("effect").String("not_ready");
  PrintIf(w, "advance_step", fault.advance_step);
  PrintIf(w, "chief_init", fault.chief_init);
  if (fault.sigterm) w.Key("sigterm").Bool(true);
  if (!fault.file.empty()) w.Key("file").String(fault.file);
  w.Close('}');
}

void PrintStatement(JsonWriter& w, const Statement& s) {
  w.Open('{').Key("op").String(NameOf(kOps, s.op));
  PrintIf(w, "on_call", s.on_call);
  PrintIf(w, "feed", s.feed);
  if (s.times != 1) w.Key("times").Integer(s.times);
  if (s.fetch_missing) w.Key("fetch").String("missing");
  if (s.fetch.has_value()) {
    w.Key("fetch");
    PrintFetch(w, *s.fetch);
  }
  if (s.options.has_value()) PrintRunOptions(w, *s.options);
  PrintIf(w, "metadata", s.metadata);
  if (s.op == Op::kLoop) w.Key("max").Integer(s.max);
  PrintIf(w, "code", s.code);
  if (s.op == Op::kStartLoop) w.Key("every_secs").Seconds(s.every_secs);
  const bool has_secs = s.op == Op::kAdvance || s.op == Op::kStartThread || (s.op == Op::kStartLoop && s.secs != 0);
  if (has_secs) w.Key("secs").Seconds(s.secs);
  if (s.max_wait_secs.has_value()) w.Key("max_wait_secs").Seconds(*s.max_wait_secs);
  PrintIf(w, "close_summary_writer", s.close_summary_writer);
  PrintIf(w, "ignore_live_threads", s.ignore_live_threads);
  if (!s.name.empty()) w.Key("name").String(s.name);
  PrintIf(w, "step", s.step);
  PrintIf(w, "catch", s.catch_error);
  const bool has_body = s.op == Op::kLoop || s.op == Op::kStep || s.op == Op::kGuarded;
  PrintList(w, "body", s.body, PrintStatement, has_body);
  w.Close('}');
}

// An object that is left out when nothing is printed into it.
template <typename Print>
void PrintObject(JsonWriter& w, std::string_view key, Print&& print) {
  JsonWriter inner;
  inner.Open('{');
  print(inner);
  inner.Close('}');
  if (inner.text() != "{}") w.Key(key).Raw(inner.text());
}

void PrintSession(JsonWriter& w, const SessionSpec& session) {
  if (session.kind != SessionKind::kMonitored) w.Key("kind").String(NameOf(kSessionKinds, session.kind));
  PrintArgs(w, session.args);
  PrintIf(w, "shared_state", session.shared_state);
  PrintList(w, "chief_only_hooks", session.chief_only_hooks, PrintHook);
}

void PrintModel(JsonWriter& w, const ModelSpec& model) {
  if (!model.global_step) w.Key("global_step").Bool(false);
  if (model.steps_per_run != 1) w.Key("steps_per_run").Integer(model.steps_per_run);
  PrintIf(w, "nan_at", model.nan_at);
  PrintIf(w, "batches", model.batches);
  if (model.queue_input) w.Key("input").String("queue");
  PrintIf(w, "local_variable", model.local_variable);
  PrintIf(w, "fed_variable", model.fed_variable);
  if (!model.device.empty()) w.Key("device").String(model.device);
  PrintIf(w, "summary", model.summary);
  if (model.run_secs != 0) w.Key("run_secs").Seconds(model.run_secs);
}

void PrintCheckpoint(JsonWriter& w, const CheckpointSpec& checkpoint) {
  PrintIf(w, "dir", checkpoint.dir);
  PrintIf(w, "filename", checkpoint.filename);
  PrintList(w, "preload", checkpoint.preload, PrintInteger);
  PrintIf(w, "preload_keep", checkpoint.preload_keep);
  if (checkpoint.damage != Damage::kNone) w.Key("damage").String(NameOf(kDamages, checkpoint.damage));
  PrintIf(w, "events", checkpoint.events);
}

void PrintUnitOp(JsonWriter& w, const UnitOp& op) {
  w.Open('{').Key("op").String(op.op);
  PrintArgs(w, op.args);
  if (op.op == "new_saver" || op.op == "new_manager") {
    w.Key("args").Open('{');
    PrintArgs(w, op.made_with);
    w.Close('}');
  }
  w.Close('}');
}

void PrintUnit(JsonWriter& w, const UnitSpec& unit) {
  w.Key("unit").String(unit.unit);
  if (!unit.hook.empty()) w.Key("hook").String(unit.hook);
  if (unit.unit != "coordinator") {
    w.Key("args").Open('{');
    PrintArgs(w, unit.args);
    w.Close('}');
  }
  if (unit.clean.has_value()) PrintList(w, "clean", *unit.clean, PrintCode, true);
  for (const auto& [name, value] : unit.flags) w.Key(name).Bool(value);
  PrintList(w, "ops", unit.ops, PrintUnitOp, unit.unit != "arguments");
}

void PrintBehaviour(JsonWriter& w, const BehaviourSpec& behaviour) {
  if (behaviour.name == "tensorflow") return;
  w.Key("behaviour");
  if (behaviour.name != "switches") {
    w.String(behaviour.name);
    return;
  }
  w.Open('{');
  for (const auto& [name, value] : behaviour.switches) w.Key(name).Bool(value);
  w.Close('}');
}

void PrintRun(JsonWriter& w, const Scenario& s) {
  PrintBehaviour(w, s.behaviour);
  PrintObject(w, "limits", [&](JsonWriter& v) {
    if (s.limits.events != Limits{}.events) v.Key("events").Integer(s.limits.events);
    if (s.limits.virtual_s != 0) v.Key("virtual_s").Seconds(s.limits.virtual_s);
  });
  PrintObject(w, "choices", [&](JsonWriter& v) {
    for (const auto& [point, labels] : s.choices) PrintList(v, point, labels, PrintString, true);
  });
}

void PrintSessionScenario(JsonWriter& w, const Scenario& s) {
  PrintObject(w, "session", [&](JsonWriter& v) { PrintSession(v, s.session); });
  if (!s.scope_with) w.Key("scope").String("bare");
  PrintObject(w, "model", [&](JsonWriter& v) { PrintModel(v, s.model); });
  PrintObject(w, "scaffold", [&](JsonWriter& v) {
    PrintIf(v, "init_fn", s.init_fn);
    PrintIf(v, "init_feed", s.init_feed);
  });
  PrintObject(w, "checkpoint", [&](JsonWriter& v) { PrintCheckpoint(v, s.checkpoint); });
  PrintList(w, "hooks", s.hooks, PrintHook);
  PrintList(w, "faults", s.faults, PrintFault);
  PrintList(w, "drive", s.drive, PrintStatement, true);
  PrintList(w, "after", s.after, PrintStatement);
}

void PrintExpectation(JsonWriter& w, const Expectation& expect) {
  if (expect.job != nullptr) return PrintJobExpectation(w, *expect.job);
  w.Open('{');
  if (!expect.violates.empty()) w.Key("violates").String(expect.violates);
  PrintList(w, "events", expect.events, PrintString, expect.violates.empty());
  if (expect.final.has_value()) {
    w.Key("final").Open('{');
    PrintList(w, "checkpoints", expect.final->checkpoints, PrintInteger, true);
    if (expect.final->latest.has_value()) w.Key("latest").String(*expect.final->latest);
    if (expect.final->all.has_value()) PrintList(w, "all", *expect.final->all, PrintString, true);
    PrintIf(w, "events_files", expect.final->events_files);
    w.Close('}');
  }
  PrintList(w, "messages", expect.messages, PrintString);
  w.Close('}');
}

}  // namespace

std::string PrintRecord(const Scenario& scenario, const Expectation* expect) {
  JsonWriter w;
  w.Open('{').Key("id").String(scenario.id);
  if (!scenario.title.empty()) w.Key("title").String(scenario.title);
  if (scenario.format != 1) w.Key("format").Integer(scenario.format);
  if (scenario.seed != 0) w.Key("seed").Natural(scenario.seed);
  if (scenario.unit.has_value()) {
    PrintUnit(w, *scenario.unit);
  } else if (scenario.job.has_value()) {
    PrintJob(w, *scenario.job);
  } else {
    PrintSessionScenario(w, scenario);
  }
  PrintRun(w, scenario);
  if (expect != nullptr) {
    w.Key("expect");
    PrintExpectation(w, *expect);
  }
  w.Close('}');
  return w.Take();
}

}  // namespace vigil::replays
