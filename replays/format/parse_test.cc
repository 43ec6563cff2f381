#include "vigil/replays/format/parse.h"

#include <gtest/gtest.h>

#include "fmt/format.h"
#include "vigil/core/base/code.h"

namespace vigil::replays {
namespace {

struct Row {
  std::string text;
  std::string error;
};

std::string ErrorOf(const std::string& text) {
  const absl::StatusOr<Recording> recording = ParseRecording(text, "x.jsonl", 7);
  if (recording.ok()) return "none";
  EXPECT_EQ(CodeOf(recording.status()), Code::kInvalidArgument);
  return std::string(MessageOf(recording.status()));
}

void Expect(const std::vector<Row>& rows) {
  for (const Row& row : rows) EXPECT_EQ(ErrorOf(row.text), "x.jsonl:7: " + row.error) << row.text;
}

// A record around the part that a row is about.
std::string With(std::string_view fields) { return fmt::format(R"({{"id":"a","drive":[],{}}})", fields); }
std::string Drive(std::string_view statement) { return fmt::format(R"({{"id":"a","drive":[{}]}})", statement); }
std::string Hook(std::string_view hook) { return With(fmt::format(R"("hooks":[{}])", hook)); }
std::string Plan(std::string_view entry) {
  return Hook(fmt::format(R"({{"hook":"probe","name":"a","plan":[{}]}})", entry));
}
std::string Fault(std::string_view fault) { return With(fmt::format(R"("faults":[{}])", fault)); }
std::string Saver(std::string_view op) {
  return fmt::format(R"({{"id":"a","unit":"saver","args":{{}},"ops":[{}]}})", op);
}

TEST(ParseError, OfTheRecord) {
  Expect({
      {R"({"id":"a","drive":[]} x)", "not JSON at column 23: invalid literal"},
      {R"({"id":"a","id":"b","drive":[]})", "/id: duplicate key"},
      {"[]", "expected an object, got a list"},
      {R"({"drive":[]})", "missing field 'id'"},
      {R"({"id":"","drive":[]})", "/id: may not be empty"},
      {R"({"id":null,"drive":[]})", "/id: expected a string, got null"},
      {R"({"id":7,"drive":[]})", "/id: expected a string, got 7"},
      {R"({"id":"a\nb","drive":[]})", R"(/id: 'a\nb' has control characters)"},
      {R"({"id":")" + std::string(201, 'x') + R"(","drive":[]})",
       "/id: '" + std::string(60, 'x') + "...' is longer than 200 bytes"},
      {R"({"id":"a"})", "missing field 'drive'"},
      {R"({"id":"a","drive":null})", "/drive: expected a list, got null"},
      {With(R"("colour":"red")"),
       "/colour: unknown field; known here: id, title, format, seed, behaviour, limits, choices, unit, cluster, "
       "session, scope, model, scaffold, checkpoint, hooks, faults, drive, after, expect"},
      {With(R"("title":null)"), "/title: expected a string, got null"},
      {With(R"("scope":"without")"), "/scope: unknown value 'without'; known: with, bare"},
      {With(R"("format":3)"), "/format: 3 is newer than what this program reads (2)"},
      {With(R"("format":0)"), "/format: 0 is not in 1..1000000"},
      {With(R"("seed":-1)"), "/seed: -1 is not in 0..18446744073709551615"},
      {With(R"("seed":1.5)"), "/seed: expected an integer, got 1.5"},
      {With(R"("behaviour":"torch")"), "/behaviour: unknown value 'torch'; known: tensorflow, default"},
      {With(R"("behaviour":{"durable_saves":1})"), "/behaviour/durable_saves: expected true or false, got 1"},
      {With(R"("limits":{"events":0})"), "/limits/events: 0 is not in 1..10000000"},
      {With(R"("limits":{"virtual_s":-0.5})"), "/limits/virtual_s: -0.5 is not in 0..1000000000"},
      {With(R"("choices":{"a/b":["x",1]})"), "/choices/a~1b/1: expected a string, got 1"},
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1}},"plan":{}})", "/plan: expected a list, got an object"},
      {With(R"("limit_s":60)"),
       "/limit_s: unknown field; known here: id, title, format, seed, behaviour, limits, choices, unit, cluster, "
       "session, scope, model, scaffold, checkpoint, hooks, faults, drive, after, expect"},
      {With(R"("expect":{})"), "/expect: missing field 'events'"},
      {With(R"("expect":{"events":["x",1]})"), "/expect/events/1: expected a string, got 1"},
      {With(R"("expect":{"events":[],"final":{}})"), "/expect/final: missing field 'checkpoints'"},
      {With(R"("expect":{"violates":""})"), "/expect/violates: may not be empty"},
  });
}

TEST(ParseError, OfSessionModelAndCheckpoint) {
  Expect({
      {With(R"("session":{"kind":"mono"})"),
       "/session/kind: unknown session kind 'mono'; known: monitored, singular, training, supervisor"},
      {With(R"("session":{"is_chief":true})"),
       "/session/is_chief: unknown field; known here: kind, stop_grace_period_secs, stop_on_sigterm"},
      {With(R"("session":{"kind":"training","is_chief":1})"), "/session/is_chief: expected true or false, got 1"},
      {With(R"("session":{"kind":"supervisor","logdir":null})"), "/session/logdir: expected true or false, got null"},
      {With(R"("session":{"kind":"training","save_checkpoint_steps":2.5})"),
       "/session/save_checkpoint_steps: expected an integer, got 2.5"},
      {With(R"("model":{"run_secs":NaN})"), "/model/run_secs: not JSON at column 42: invalid literal"},
      {With(R"("model":{"run_secs":-1})"), "/model/run_secs: -1 is not in 0..1000000"},
      {With(R"("model":{"batches":1000001})"), "/model/batches: 1000001 is not in 0..1000000"},
      {With(R"("model":{"input":"stack"})"), "/model/input: unknown value 'stack'; known: range, queue"},
      {With(R"("model":{"device":""})"), "/model/device: may not be empty"},
      {With(R"("scaffold":{"init_op":true})"), "/scaffold/init_op: unknown field; known here: init_fn, init_feed"},
      {With(R"("checkpoint":{"preload":[1,-2]})"), "/checkpoint/preload/1: -2 is not in 0..1000000000"},
      {With(R"("checkpoint":{"damage":"burnt"})"),
       "/checkpoint/damage: unknown damage 'burnt'; known: empty_state, garbage_state, missing_state, missing_index, "
       "missing_data"},
      {With(R"("checkpoint":{"damage":"missing_index"})"),
       "/checkpoint/damage: needs 'preload': there is no checkpoint to damage"},
  });
}

TEST(ParseError, OfHooks) {
  Expect({
      {Hook(R"({"name":"a"})"), "/hooks/0: missing field 'hook'"},
      {Hook("{}"), "/hooks/0: missing field 'hook'"},
      {Hook(R"({"hook":"prober"})"),
       "/hooks/0/hook: unknown hook 'prober'; known: probe, stop_at_step, checkpoint_saver, step_counter, "
       "summary_saver, "
       "logging_tensor, nan_tensor, final_ops, feed_fn, global_step_waiter, again, profiler"},
      {Hook(R"({"hook":"probe"})"), "/hooks/0: missing field 'name'"},
      {Hook(R"({"hook":"stop_at_step","last_step":2.5})"), "/hooks/0/last_step: expected an integer, got 2.5"},
      {Hook(R"({"hook":"stop_at_step","last_step":"2"})"), "/hooks/0/last_step: expected an integer, got '2'"},
      {Hook(R"({"hook":"stop_at_step","plan":[]})"),
       "/hooks/0/plan: unknown field; known here: hook, num_steps, last_step"},
      {Hook(R"({"hook":"logging_tensor","tensors":["step","loss"]})"),
       "/hooks/0/tensors/1: unknown value 'loss'; known: step, fed"},
      {Hook(R"({"hook":"logging_tensor","tensors":[]})"), "/hooks/0/tensors: a list of tensors may not be empty"},
      {Hook(R"({"hook":"final_ops"})"), "/hooks/0: missing field 'what'"},
      {Hook(
           R"({"hook":"checkpoint_saver","listeners":[{"name":"l","plan":[{"method":"end","call":[1],"do":"raise"}]}]})"),
       "/hooks/0/listeners/0/plan/0/call: expected an integer, got a list"},
      {Hook(
           R"({"hook":"checkpoint_saver","listeners":[{"name":"l","plan":[{"method":"end","call":1,"do":"raise"}]}]})"),
       "/hooks/0/listeners/0/plan/0: 'raise' needs 'code'"},
  });
}

TEST(ParseError, OfPlans) {
  Expect({
      {Plan(R"({"method":"end","call":1,"do":"explode"})"),
       "/hooks/0/plan/0/do: unknown action 'explode'; known: raise, request_stop, report, coordinator_stop, read_step, "
       "fetch, feed, options, show, start_thread"},
      {Plan(R"({"method":"stop","call":1,"do":"raise"})"),
       "/hooks/0/plan/0/method: unknown value 'stop'; known: begin, after_create_session, before_run, after_run, end"},
      {Plan(R"({"method":"end","do":"raise","code":"INTERNAL"})"), "/hooks/0/plan/0: missing field 'call'"},
      {Plan(R"({"method":"end","call":0,"do":"read_step"})"), "/hooks/0/plan/0/call: 0 is not in 1..1000000"},
      {Plan(R"({"method":"end","call":[],"do":"read_step"})"),
       "/hooks/0/plan/0/call: a list of calls may not be empty"},
      {Plan(R"({"method":"end","call":[1,"2"],"do":"read_step"})"),
       "/hooks/0/plan/0/call/1: expected an integer, got '2'"},
      {Plan(R"({"method":"end","call":1,"do":"raise"})"), "/hooks/0/plan/0: 'raise' needs 'code'"},
      {Plan(R"({"method":"end","call":1,"do":"read_step","code":"INTERNAL"})"),
       "/hooks/0/plan/0: 'read_step' takes no 'code'"},
      {Plan(R"({"method":"before_run","call":1,"do":"fetch"})"), "/hooks/0/plan/0: 'fetch' needs 'what'"},
      {Plan(R"({"method":"before_run","call":1,"do":"fetch","what":"lost"})"),
       "/hooks/0/plan/0/what: unknown value 'lost'; known: step, train, fed, loss, base, train_op, missing"},
      {Plan(R"({"method":"before_run","call":1,"do":"feed"})"), "/hooks/0/plan/0: 'feed' needs 'value'"},
      {Plan(R"({"method":"after_run","call":1,"do":"feed","value":1})"),
       "/hooks/0/plan/0: 'feed' cannot be done in after_run"},
      {Plan(R"({"method":"end","call":1,"do":"request_stop"})"),
       "/hooks/0/plan/0: 'request_stop' cannot be done in end"},
      {Plan(R"({"method":"begin","call":1,"do":"coordinator_stop"})"),
       "/hooks/0/plan/0: 'coordinator_stop' cannot be done in begin"},
  });
}

TEST(ParseError, OfFaults) {
  Expect({
      {Fault(R"({"at":"walk","call":1,"code":"ABORTED"})"),
       "/faults/0/at: unknown fault point 'walk'; known: create, restore, init, init_fn, ready_for_local_init, "
       "local_init, ready, "
       "queue_runners, run, read_step, raw_run, save, summary, final_ops, close, sleep, write, enqueue"},
      {Fault(R"({"at":"run","call":null,"code":"ABORTED"})"),
       "/faults/0/call: expected a number or a list of numbers, got null"},
      {Fault(R"({"at":"run","call":1,"code":"OK"})"),
       "/faults/0/code: unknown code 'OK'; known: CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, "
       "ALREADY_EXISTS, PERMISSION_DENIED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, "
       "UNIMPLEMENTED, "
       "INTERNAL, UNAVAILABLE, DATA_LOSS, UNAUTHENTICATED, STOP_ITERATION, OTHER, USAGE, NAN_LOSS"},
      {Fault(R"({"at":"write","call":1,"code":"ABORTED"})"), "/faults/0: 'write' needs 'file' and 'code'"},
      {Fault(R"({"at":"write","call":1,"file":"x"})"), "/faults/0: 'write' needs 'file' and 'code'"},
      {Fault(R"({"at":"write","call":1,"file":"x","code":"ABORTED","advance_step":1})"),
       "/faults/0: 'write' takes 'file' and 'code' only"},
      {Fault(R"({"at":"run","call":1,"file":"x","code":"ABORTED"})"), "/faults/0: 'file' is for 'write' only"},
      {Fault(R"({"at":"run","call":1})"),
       "/faults/0: does nothing: give 'code', 'advance_step', 'chief_init' or 'sigterm'"},
      {Fault(R"({"at":"run","call":1,"effect":"lost_reply","advance_step":1})"), "/faults/0: 'effect' needs 'code'"},
      {Fault(R"({"at":"run","call":1,"chief_init":1})"), "/faults/0: 'chief_init' needs 'shared_state' of the session"},
      {Fault(R"({"at":"run","call":1,"sigterm":true})"), "/faults: 'sigterm' needs 'stop_on_sigterm' of the session"},
      {Fault(R"({"at":"run","call":[1,2],"sigterm":true})"), "/faults/0: 'sigterm' comes once: give one 'call'"},
      {Fault(R"({"at":"enqueue","call":1,"sigterm":true})"), "/faults/0: 'sigterm' is for calls of the caller's task"},
      {With(
           R"("session":{"stop_on_sigterm":true},"faults":[{"at":"run","call":1,"sigterm":true},{"at":"run","call":2,"sigterm":true}])"),
       "/faults: 'sigterm' comes once: a second one would end the process"},
      {With(R"("session":{"stop_on_sigterm":true},"faults":[{"at":"sleep","call":1,"advance_step":1}])"),
       "/faults: 'sleep' meets no wait of a session with 'stop_on_sigterm': such waits are no sleeps"},
  });
}

TEST(ParseError, OfStatements) {
  std::string deep = R"({"op":"run"})";
  for (int i = 0; i < kMaxBodyDepth; ++i) deep = fmt::format(R"({{"op":"loop","max":1,"body":[{}]}})", deep);
  EXPECT_EQ(ErrorOf(Drive(deep)), "none");
  std::string pointer = "/drive";
  for (int i = 0; i <= kMaxBodyDepth; ++i) pointer += "/0/body";
  Expect({
      {Drive(fmt::format(R"({{"op":"loop","max":1,"body":[{}]}})", deep)),
       pointer + ": bodies are nested deeper than 8"},
      {Drive(R"({"op":"jump"})"),
       "/drive/0/op: unknown statement 'jump'; known: run, loop, should_stop, close, raise, advance, clock, step, "
       "raw_run, "
       "run_with_hooks, request_stop, prepare, guarded, stop, start_services, service, summary_computed, start_thread, "
       "start_loop"},
      {Drive(R"({"max":1,"body":[]})"), "/drive/0: missing field 'op'"},
      {Drive(R"({"op":"prepare"})"),
       "/drive/0/op: 'prepare' is no statement of a session; known there: run, loop, should_stop, close, raise, "
       "advance, clock, step"},
      {Drive(R"({"op":"step","body":[{"op":"run"}]})"),
       "/drive/0/body/0/op: 'run' is no statement of a step; known there: raise, raw_run, run_with_hooks, "
       "request_stop"},
      {Drive(R"({"op":"loop","max":-1,"body":[]})"), "/drive/0/max: -1 is not in 0..1000000"},
      {Drive(R"({"op":"loop","max":1.0,"body":[]})"), "/drive/0/max: expected an integer, got 1.0"},
      {Drive(R"({"op":"loop","max":18446744073709551615,"body":[]})"),
       "/drive/0/max: 18446744073709551615 is not in 0..1000000"},
      {Drive(R"({"op":"loop","max":3})"), "/drive/0: missing field 'body'"},
      {Drive(R"({"op":"run","body":[]})"),
       "/drive/0/body: unknown field; known here: op, catch, times, fetch, feed, options, metadata"},
      {Drive(R"({"op":"run","catch":1})"), "/drive/0/catch: expected true or false, got 1"},
      {Drive(R"({"op":"run","fetch":"found"})"),
       "/drive/0/fetch: unknown value 'found'; known: step, train, fed, loss, base, train_op, missing"},
      {Drive(R"({"op":"raise"})"), "/drive/0: missing field 'code'"},
      {Drive(R"({"op":"advance","secs":"3"})"), "/drive/0/secs: expected a number, got '3'"},
      {Drive(R"({"op":"advance","secs":1e7})"), "/drive/0/secs: 10000000.0 is not in 0..1000000"},
      {With(R"("after":[{"op":"raw_run"}])"),
       "/after/0/op: 'raw_run' is no statement of a session; known there: run, loop, should_stop, close, raise, "
       "advance, clock, step"},
  });
}

TEST(ParseError, OfUnits) {
  Expect({
      {R"({"id":"a","unit":"tumer"})",
       "/unit: unknown value 'tumer'; known: timer, coordinator, saver, checkpoint_manager, arguments, device_setter, "
       "looper"},
      {R"({"id":"a","unit":"timer","ops":[]})", "missing field 'args'"},
      {R"({"id":"a","unit":"timer","args":{"every":1},"ops":[]})",
       "/args/every: unknown field; known here: every_secs, every_steps"},
      {R"({"id":"a","unit":"timer","args":{},"ops":[{"op":"save"}]})",
       "/ops/0/op: unknown operation 'save'; known: advance, should_trigger, update, reset"},
      {R"({"id":"a","unit":"timer","args":{},"ops":[{"op":""}]})",
       "/ops/0/op: unknown operation ''; known: advance, should_trigger, update, reset"},
      {R"({"id":"a","unit":"coordinator","ops":[],"clean":["OK?"]})",
       "/clean/0: unknown code 'OK?'; known: CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, "
       "ALREADY_EXISTS, PERMISSION_DENIED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, "
       "UNIMPLEMENTED, "
       "INTERNAL, UNAVAILABLE, DATA_LOSS, UNAUTHENTICATED, STOP_ITERATION, OTHER, USAGE, NAN_LOSS"},
      {R"({"id":"a","unit":"arguments","hook":"probe","args":{}})",
       "/hook: unknown hook 'probe'; known: stop_at_step, checkpoint_saver, step_counter, summary_saver, "
       "logging_tensor, "
       "profiler, timer"},
      {Saver(R"({"op":"save"})"), "/ops/0: missing field 'step'"},
      {Saver(R"({"op":"new_saver","args":{"max":1}})"),
       "/ops/0/args/max: unknown field; known here: max_to_keep, keep_checkpoint_every_n_hours, pad_step_number, "
       "save_relative_paths, sharded"},
      {Saver(R"({"op":"damage","what":"missing_index"})"), "/ops/0/what: 'missing_index' needs 'step'"},
      {R"({"id":"a","unit":"saver","args":{},"ops":[],"drive":[]})",
       "/drive: unknown field; known here: id, title, format, seed, behaviour, limits, choices, unit, args, ops, "
       "expect"},
  });
}

TEST(ParseError, OfBehaviourSwitches) {
  EXPECT_TRUE(ErrorOf(With(R"("behaviour":{"recovery":true})"))
                  .starts_with("x.jsonl:7: /behaviour/recovery: unknown field; known here: bounded_recovery, "));
}

TEST(ParseError, ShortensWhatItQuotes) {
  const std::string key(1'000'000, 'k');
  EXPECT_EQ(ErrorOf(With("\"" + key + "\":1")).substr(0, 350).find("...: unknown field"), 11 + 300);
  EXPECT_EQ(ErrorOf(With("\"" + key + "\":x")).substr(0, 350).find("...: not JSON at column 1000025"), 11 + 300);
}

TEST(ParseError, EscapesWhatItQuotes) {
  const auto recording = ParseRecording("{\"id\":\"a\",\"drive\":[],\"\\u001b[2J\":1}", "x\x1b.jsonl", 3);
  ASSERT_FALSE(recording.ok());
  EXPECT_TRUE(MessageOf(recording.status()).starts_with("x\\x1b.jsonl:3: /\\x1b[2J: unknown field;"))
      << MessageOf(recording.status());
}

}  // namespace
}  // namespace vigil::replays
