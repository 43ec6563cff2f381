// Nested fetches, options, and the other fields that extended.jsonl brought: read, refused, printed and read again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/print.h"

namespace vigil::replays {
namespace {

using ::testing::HasSubstr;

std::string WithDrive(std::string_view drive) {
  return R"({"id": "x", "model": {"fed_variable": true}, "drive": [)" + std::string(drive) + "]}";
}

Scenario ReadScenario(const std::string& text) {
  const absl::StatusOr<Recording> recording = ParseRecording(text);
  EXPECT_TRUE(recording.ok()) << recording.status();
  return recording.ok() ? recording->scenario : Scenario();
}

std::string Refusal(const std::string& text) {
  const absl::StatusOr<Recording> recording = ParseRecording(text);
  return recording.ok() ? "" : std::string(MessageOf(recording.status()));
}

TEST(ParseRun, FetchesKeepTheirShapeAndOrder) {
  const Scenario scenario = ReadScenario(WithDrive(R"({"op": "run", "fetch": {"b": ["fed", []], "a": "train_op"}})"));
  ASSERT_EQ(scenario.drive.size(), 1u);
  ASSERT_TRUE(scenario.drive[0].fetch.has_value());
  const FetchSpec& fetch = *scenario.drive[0].fetch;
  EXPECT_EQ(fetch.kind, FetchSpec::Kind::kMap);
  EXPECT_THAT(fetch.keys, testing::ElementsAre("b", "a"));
  EXPECT_EQ(fetch.items[0].items[0].name, "fed");
  EXPECT_EQ(fetch.items[0].items[1].kind, FetchSpec::Kind::kList);
  EXPECT_EQ(fetch.items[1].name, "train_op");
}

TEST(ParseRun, WhatIsReadIsPrintedAndReadAgain) {
  const std::string hook = R"({"hook": "probe", "name": "a", "plan": [
      {"method": "before_run", "call": null, "do": "options", "options": {"trace_level": "full", "watches": ["a:b:1"]}},
      {"method": "before_run", "call": 1, "do": "fetch", "what": [{"x": "loss"}]},
      {"method": "after_run", "call": 2, "do": "show"}, {"method": "end", "call": 1, "do": "start_thread", "value": 30}]})";
  const Scenario scenario = ReadScenario(
      R"({"id": "x", "session": {"kind": "singular", "stop_grace_period_secs": 2.5}, "model": {"fed_variable": true},
          "scaffold": {"init_feed": -3}, "hooks": [)" +
      hook + R"(, {"hook": "profiler", "save_steps": 2}],
          "faults": [{"at": "enqueue", "call": 1, "code": "ABORTED"}],
          "drive": [{"op": "clock"}, {"op": "run", "metadata": true, "fetch": ["base"], "options": {"timeout_in_ms": 5,
            "inter_op_thread_pool": 1, "output_partition_graphs": true, "reset_disk_byte_usage": true,
            "report_tensor_allocations_upon_oom": true}}]})");
  EXPECT_EQ(scenario.init_feed, -3);
  EXPECT_EQ(scenario.hooks[0].plan[0].options->debug_tensor_watch_opts[0].node_name, "a:b");
  const Scenario again = ReadScenario(PrintRecord(scenario));
  EXPECT_EQ(again, scenario) << PrintRecord(scenario);
  const Scenario unit = ReadScenario(
      R"({"id": "u", "unit": "device_setter", "args": {"cluster": ["ps", "ps"], "ps_ops": []},
          "ops": [{"op": "node", "type": "NoOp", "device": "/gpu:0"}]})");
  EXPECT_EQ(ReadScenario(PrintRecord(unit)), unit);
}

TEST(ParseRun, RefusesWhatMeansNothing) {
  EXPECT_THAT(Refusal(WithDrive(R"({"op": "run", "fetch": ["fed", "nothing"]})")), HasSubstr("/drive/0/fetch/1"));
  EXPECT_THAT(Refusal(WithDrive(R"({"op": "run", "options": {"watches": ["fed"]}})")), HasSubstr("NODE:SLOT"));
  EXPECT_THAT(Refusal(WithDrive(R"({"op": "run", "options": {"watches": ["fed:x"]}})")), HasSubstr("NODE:SLOT"));
  EXPECT_THAT(Refusal(WithDrive(R"({"op": "run", "options": {"trace_level": "some"}})")),
              HasSubstr("unknown trace level"));
  EXPECT_THAT(Refusal(WithDrive(R"({"op": "run", "fetch": [[[[[[[[[["fed"]]]]]]]]]]})")), HasSubstr("nested deeper"));
  EXPECT_THAT(Refusal(R"({"id": "x", "scaffold": {"init_feed": 1}, "drive": []})"), HasSubstr("needs 'fed_variable'"));
  const auto plan = [](std::string_view entry) {
    return R"({"id": "x", "drive": [], "hooks": [{"hook": "probe", "name": "a", "plan": [)" + std::string(entry) +
           "]}]}";
  };
  EXPECT_THAT(Refusal(plan(R"({"method": "before_run", "call": 1, "do": "options"})")), HasSubstr("needs 'options'"));
  EXPECT_THAT(Refusal(plan(R"({"method": "before_run", "call": 1, "do": "show"})")), HasSubstr("cannot be done in"));
  EXPECT_THAT(Refusal(plan(R"({"method": "after_run", "call": 1, "do": "options", "options": {}})")),
              HasSubstr("cannot be done in"));
}

}  // namespace
}  // namespace vigil::replays
