// Clusters as scenarios: every field is read, printed and checked.
#include <gtest/gtest.h>

#include <span>
#include <string>

#include "vigil/core/base/code.h"
#include "vigil/core/env/real/posix_files.h"
#include "vigil/replays/format/job_expectation.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/print.h"
#include "vigil/replays/traces/input.h"

namespace vigil::replays {
namespace {

absl::StatusOr<Recording> ParseJob(std::string_view text) { return ParseRecording(text, "test.json", 1); }

std::string WithPlan(std::string_view entry) {
  return R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":2,"worker":1}},"workload":{"name":"async_regression",)"
         R"("last_step":40},"plan":[)" +
         std::string(entry) + R"(],"limit_s":60})";
}

TEST(ParseJob, PrintsWhatItHasRead) {
  const char* const entries[] = {
      R"({"at_s":12.5,"crash":"ps:0","restart_after_s":2})",
      R"({"at_s":12.5,"crash":"worker:0","disk":"torn"})",
      R"({"at_s":12.5,"crash":"ps:1","restart_after_s":40,"silently":true})",
      R"({"at_s":12.5,"crash":"ps:1","restart_after_s":4,"disk":"torn","part_of":"rack"})",
      R"({"at_s":12.5,"crash":"ps:1","restart_after_s":4,"part_of":"rolling_restart"})",
      R"({"at_s":20,"silent":["worker:0","ps:1"],"one_way":true,"part_of":"partition","for_s":8})",
      R"({"at_s":5,"pause":"chief:0","for_s":5})",
      R"({"at_s":8,"start":"worker:0"})",
      R"({"at_s":20,"cut":["worker:0","ps:0"],"for_s":8})",
      R"({"at_s":20,"silent":["worker:0","ps:1"],"one_way":true})",
      R"({"at_s":1,"clock_jump":"chief:0","by_s":-30})",
      R"({"at_s":1,"clock_drift":"chief:0","for_s":3,"rate":1.5})",
      R"({"at_s":1,"slow_link":["chief:0","ps:0"],"for_s":3,"by_s":0.2})",
      R"({"at_s":1,"slow_node":"worker:0","for_s":3,"rate":8})",
      R"({"at_s":1,"overload":"ps:0","for_s":3,"at_once":2})",
      R"({"at_s":1,"crash":"ps:1","restart_after_s":4,"elsewhere_s":30})",
      R"({"at_s":1,"zombie":"chief:0","for_s":30,"restart_after_s":20})",
      R"({"at_s":1,"zombie":"worker:0","for_s":30,"restart_after_s":20,"silently":true,"elsewhere_s":2.5})",
      R"({"rpc":"RunStep","from":"worker:0","to":"ps:0","call":3,"effect":"lost_reply","code":"UNAVAILABLE"})",
      R"({"rpc":"","call":0,"effect":"delayed","code":"UNAVAILABLE","by_s":1})",
      R"({"rpc":"RunGraph","call":7,"effect":"damaged","code":"UNAVAILABLE"})",
      R"({"disk":"chief:0","op":"rename","call":2,"code":"NO_SPACE"})",
      R"({"disk":"chief:0","op":"list","call":0,"code":"STALE","by_s":30})",
      R"({"disk":"chief:0","op":"read","path":".index","call":1,"code":"BIT_ROT"})",
      R"({"disk":"chief:0","op":"","call":0,"code":"IO_ERROR","at_s":10,"for_s":30})",
      R"({"session":"chief:0","at":"save","call":2,"code":"ABORTED","lost_reply":true})",
  };
  for (const char* const entry : entries) {
    const std::string text = WithPlan(entry);
    const absl::StatusOr<Recording> read = ParseJob(text);
    ASSERT_TRUE(read.ok()) << MessageOf(read.status());
    EXPECT_EQ(PrintRecord(read->scenario), text);
  }
  const std::string all =
      R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1},"links":{"default":{"latency_ms":[1,5],"loss":0.01},)"
      R"("chief:0>ps:0":{"duplication":0.5,"reordering":0.25,"bytes_per_s":1000,"bytes_in_flight":300}}},"workload":{"name":"sync_regression",)"
      R"("last_step":7,"save_steps":5,"async_saves":true,"validate_steps":4,"visits_s":7,"diary_s":2,"init_fn":true,"sync":2,"filters":false,)"
      R"("master":"ps:0","timeout_ms":9,"disk_s":0.5,"cpu_s":0.001,"processors":2,"step_s":1,"boot_s":[0,1.5],)"
      R"("boots_s":[2.11,7.71],"session_s":[0.02,0.12],"sessions_s":[0.006,0.033],"signature_s":0.015,"signatures_s":[0.005,0.076],)"
      R"("session":{"max_wait_secs":4},"tasks":{"chief:0":{"last_step":3}}},"plan":[],"no_wait":true,"heal_s":60,"limit_s":3600})";
  const absl::StatusOr<Recording> read = ParseJob(all);
  ASSERT_TRUE(read.ok()) << MessageOf(read.status());
  EXPECT_EQ(PrintRecord(read->scenario), all);
}

using WithError = std::pair<std::string, std::string>;
void ExpectErrors(std::span<const WithError> cases) {
  for (const auto& [text, error] : cases) {
    const absl::StatusOr<Recording> read = ParseJob(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(MessageOf(read.status()), "test.json:1: " + error);
  }
}

TEST(ParseJob, ReadsAndPrintsABadBatch) {
  const std::string text =
      R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1,"worker":1}},"workload":{"name":"short_job",)"
      R"("last_step":7,"nan_batch":2},"plan":[],"limit_s":3600})";
  const absl::StatusOr<Recording> read = ParseJob(text);
  ASSERT_TRUE(read.ok()) << MessageOf(read.status());
  EXPECT_EQ(PrintRecord(read->scenario), text);
}

TEST(ParseJob, NotEveryWorkloadHasAnInitFnOrDiverges) {
  const WithError cases[] = {
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1}},"workload":{"name":"sync_regression","nan_batch":2}})",
       "/workload/nan_batch: only `async_regression` and `short_job` go on without their chief: name one of them"},
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1}},"workload":{"name":"supervisor","init_fn":true}})",
       "/workload/init_fn: only a workload with a monitored session has one: leave it out, or name another workload"},
  };
  ExpectErrors(cases);
}

TEST(ParseJob, MeasuredTimesCanBeToldApart) {
  const WithError cases[] = {
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1}},"workload":{"boots_s":[3,2]}})",
       "/workload/boots_s: expected times that increase, in whole milliseconds"},
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1}},"workload":{"signatures_s":[0.0151,0.0159]}})",
       "/workload/signatures_s: expected times that increase, in whole milliseconds"},
  };
  ExpectErrors(cases);
}

TEST(ParseJob, NamesWhatIsWrong) {
  const WithError cases[] = {
      {R"({"id":"a","cluster":{}})", "/cluster: missing field 'tasks'"},
      {R"({"id":"a","cluster":{"tasks":{"ps":1}}})", "/cluster/tasks: there is no chief"},
      {R"({"id":"a","cluster":{"tasks":{"chief":1}}})", "/cluster/tasks: there is no ps"},
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1,"boss":1}}})",
       "/cluster/tasks/boss: unknown job; known: chief, worker, ps, evaluator"},
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1},"links":{"chief:0":{}}}})",
       "/cluster/links/chief:0: expected 'default' or 'FROM>TO'"},
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1},"links":{"default":{"latency_ms":[5,1]}}}})",
       "/cluster/links/default/latency_ms: the most is less than the least"},
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1}},"drive":[]})",
       "/drive: unknown field; known here: id, title, format, seed, behaviour, limits, choices, unit, cluster, "
       "workload, "
       "plan, no_wait, heal_s, limit_s, expect"},
      {WithPlan(R"({"at_s":1,"crash":"ps:2"})"),
       "/plan/0/crash: unknown task 'ps:2'; known: chief:0, ps:0, ps:1, worker:0"},
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1}},"workload":{"name":"supervisor","sync":2}})",
       "/workload/sync: 2, but only `sync_regression` has replicas to aggregate: leave 'sync' or 'name' out"},
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1}},"workload":{"name":"supervisor","master":"chief:0"}})",
       "/workload/master: 'chief:0' is no parameter server: only these are there as long as the job lasts, name one"},
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1}},"workload":{"name":"supervisor","master":"ps:1"}})",
       "/workload/master: unknown task 'ps:1'; known: chief:0, ps:0"},
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1}},"workload":{"clients":true}})",
       "/workload/clients: who has no server needs a 'master': say which parameter server's"},
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1}},"workload":{"sync":1,"clients":true,"master":"ps:0"}})",
       "/workload/clients: the queues and the step of a replica are on its own server: leave it out, or name another "
       "workload"},
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1}},"workload":{"tasks":{"ps:0":{"last_step":3}}}})",
       "/workload/tasks/ps:0: a parameter server has no last step: name tasks that train"},
      {WithPlan(R"({"disk":"chief:0","op":"list","code":"GONE"})"),
       "/plan/0/op: a directory is no file: say which operation on a file, as 'read'"},
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1}},"workload":{"processors":2}})",
       "/workload/processors: without 'cpu_s' nothing takes time: say how much, or leave it out"},
      {WithPlan(R"({"at_s":1,"overload":"ps:0","at_once":0})"), "/plan/0/at_once: 0 is not in 1..1000000"},
      {WithPlan(R"({"at_s":1})"),
       "/plan/0: nothing happens; known: rpc, disk, session, crash, pause, start, cut, silent, clock_jump, "
       "clock_drift, "
       "slow_link, slow_node, overload, zombie"},
      {WithPlan(R"({"crash":"ps:0"})"),
       "/plan/0: missing field 'at_s', or in its place one of at_sent, at_delivered, at_file_op"},
      {WithPlan(R"({"at_s":1,"pause":"ps:0"})"), "/plan/0: missing field 'for_s'"},
      {WithPlan(R"({"at_s":1,"zombie":"chief:0","for_s":5})"), "/plan/0: missing field 'restart_after_s'"},
      {WithPlan(R"({"at_s":1,"zombie":"ps:0","for_s":5,"restart_after_s":5})"),
       "/plan/0/zombie: ps:0, but a parameter server is its variables: two of one would be two models, and no judge "
       "knows which is right; say a task that trains"},
      {WithPlan(R"({"at_s":1,"crash":"ps:0","elsewhere_s":5})"),
       "/plan/0/elsewhere_s: 5, but it never starts again: say when with 'restart_after_s'"},
      {WithPlan(R"({"at_s":1,"cut":["ps:0"]})"), "/plan/0/cut: expected a list of two tasks"},
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1,"worker":129}}})",
       "/cluster/tasks/worker: 129 is not in 0..128"},
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":64,"worker":64}}})",
       "/cluster/tasks: these are 129 tasks; a cluster has at most 128 in all"},
      {WithPlan(R"({"rpc":"Runstep"})"),
       "/plan/0/rpc: unknown method 'Runstep'; known: CreateSession, ExtendSession, RunStep, MakeCallable, "
       "RunCallable, "
       "ReleaseCallable, CloseSession, Reset, "
       "ListDevices, KeepSession, GetStatus, RegisterGraph, DeregisterGraph, RunGraph, RecvTensor, CleanupGraph, "
       "CleanupAll"},
      {WithPlan(R"({"disk":"ps:0","op":"write","code":"SLOW"})"),
       "/plan/0/op: unknown op 'write'; known: open, append, read, sync, close, rename, remove, stat, list, "
       "make_directory"},
      {R"({"id":"a","cluster":{"tasks":{"chief":2,"ps":1}}})",
       "/cluster/tasks/chief: 2 chiefs, but a cluster has one: make the others workers"},
      {WithPlan(R"({"rpc":"RunStep","effect":"vanishes"})"),
       "/plan/0/effect: unknown effect 'vanishes'; known: error, lost_request, lost_reply, never_answered, duplicated, "
       "delayed, damaged, reset"},
  };
  ExpectErrors(cases);
}

TEST(ParseJob, WhatWouldHaveNoEffectIsWrong) {
  const WithError cases[] = {
      {WithPlan(R"({"disk":"ps:0","op":"sync","code":"SLOW"})"),
       "/plan/0/by_s: missing, but SLOW needs a time: how many seconds it takes, more than 0"},
      {WithPlan(R"({"disk":"ps:0","op":"sync","code":"SLOW","by_s":0})"),
       "/plan/0/by_s: 0, but SLOW needs a time: how many seconds it takes, more than 0"},
      {WithPlan(R"({"disk":"ps:0","op":"sync","code":"IO_ERROR","by_s":2})"),
       "/plan/0/by_s: IO_ERROR takes no time of its own, only SLOW does: leave 'by_s' out"},
      {WithPlan(R"({"rpc":"RunStep","effect":"delayed"})"),
       "/plan/0/by_s: missing, but delayed needs a time: how many seconds it takes, more than 0"},
      {WithPlan(R"({"rpc":"RunStep","effect":"lost_reply","by_s":1})"),
       "/plan/0/by_s: lost_reply takes no time of its own, only delayed does: leave 'by_s' out"},
      {WithPlan(R"({"at_s":1,"slow_link":["chief:0","ps:0"],"by_s":0})"),
       "/plan/0/by_s: 0, but slow_link needs a time: how many seconds it takes, more than 0"},
      {WithPlan(R"({"at_s":1,"slow_link":["chief:0","ps:0"]})"),
       "/plan/0/by_s: missing, but slow_link needs a time: "
       "how many seconds it takes, more than 0"},
      {WithPlan(R"({"at_s":1,"clock_drift":"chief:0","rate":0})"),
       "/plan/0/rate: 0, but a clock runs: say how many times as fast, more than 0 and at most 1000 (to stand still: "
       "pause)"},
  };
  ExpectErrors(cases);
}

TEST(ParseJob, AnEntryOfAPlanDoesOneThing) {
  const WithError cases[] = {
      {WithPlan(R"({"at_s":1,"crash":"ps:0","pause":"ps:0"})"),
       "/plan/0/pause: 'ps:0', but an entry of a plan does one thing, and this one has 'crash': write two entries"},
      {WithPlan(R"({"rpc":"RunGraph","session":5,"disk":[]})"),
       "/plan/0/session: 5, but an entry of a plan does one thing, and this one has 'rpc': write two entries"},
      {WithPlan(R"({"disk":"ps:0","op":"sync","code":"IO_ERROR","session":"chief:0","at":"run"})"),
       "/plan/0/session: 'chief:0', but an entry of a plan does one thing, and this one has 'disk': write two entries"},
      {WithPlan(R"({"at_s":1,"crash":"ps:0","disk":"torn","op":"sync"})"),
       "/plan/0/crash: 'ps:0', but an entry of a plan does one thing, and this one has 'disk': write two entries"},
      {WithPlan(R"({"at_s":1,"pause":"ps:0","for_s":3,"disk":"nonsense"})"),
       "/plan/0/disk: 'nonsense', but 'pause' does nothing to a disk, only 'crash' does: leave 'disk' out"},
      {WithPlan(R"({"at_s":1,"cut":["chief:0","ps:0"],"disk":7})"),
       "/plan/0/disk: 7, but 'cut' does nothing to a disk, only 'crash' does: leave 'disk' out"},
      {WithPlan(R"({"rpc":"RunGraph","disk":[]})"),
       "/plan/0/disk: a list, but 'rpc' does nothing to a disk, only 'crash' does: leave 'disk' out"},
      {WithPlan(R"({"session":"chief:0","at":"run","disk":7})"),
       "/plan/0/disk: 7, but 'session' does nothing to a disk, only 'crash' does: leave 'disk' out"},
      {WithPlan(R"({"disk":"ps:0","code":"IO_ERROR"})"),
       "/plan/0/disk: 'ps:0', but nothing happens to it: say at which operation on a file with 'op'"},
      {WithPlan("7"), "/plan/0: expected an object, got 7"},
  };
  ExpectErrors(cases);
}

TEST(ParseJob, AClusterExpectsWhatRealOnesDidOrARule) {
  const std::pair<std::string, std::string> cases[] = {
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1}},"expect":{"events":[]}})",
       "/expect: of a cluster 'tasks' (what real ones did) or 'violates' (of a saved failure) is expected"},
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1}},"expect":{"tasks":{}}})",
       "/expect: 'tasks' lacks 'chief:0'"},
      {R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1}},"expect":{"violates":"x","events":[]}})",
       "/expect/events: unknown field; known here: violates"},
  };
  for (const auto& [text, error] : cases) {
    const absl::StatusOr<Recording> read = ParseJob(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(MessageOf(read.status()), "test.json:1: " + error);
  }
}

TEST(ParseJob, ReadsEveryRecordingOfARealClusterAndPrintsIt) {
  PosixFiles files;
  int read = 0;
  const ChunkSource no_input = [] { return std::string(); };
  ReadRecords(files, no_input, {std::string(VIGIL_SOURCE_DIR) + "/replays/cluster/cluster.jsonl"}, [&](RawRecord raw) {
    EXPECT_TRUE(raw.error.ok()) << MessageOf(raw.error);
    const absl::StatusOr<Recording> first = ParseJob(raw.text);
    EXPECT_TRUE(first.ok()) << MessageOf(first.status());
    if (!first.ok() || !first->expect.has_value() || first->expect->job == nullptr) return false;
    const absl::StatusOr<Recording> again = ParseJob(PrintRecord(first->scenario, &*first->expect));
    EXPECT_TRUE(again.ok()) << MessageOf(again.status());
    if (!again.ok()) return false;
    EXPECT_EQ(first->scenario, again->scenario);
    EXPECT_EQ(*first->expect->job, *again->expect->job);
    ++read;
    return true;
  });
  EXPECT_EQ(read, 34);
}

}  // namespace
}  // namespace vigil::replays
