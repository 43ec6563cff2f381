#include "vigil/replays/play/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fmt/format.h"
#include "vigil/replays/format/json.h"

namespace vigil::replays {
namespace {

// A session that was expected to log `expected` and logged `played`.
Result ResultOf(const std::string& id, std::vector<std::string> expected, std::vector<std::string> played) {
  Recording recording;
  recording.scenario.id = id;
  recording.scenario.title = "the story of " + id;
  recording.source = "some dir/x.jsonl";
  recording.record = 3;
  recording.expect.emplace().events = std::move(expected);
  PlainOutcome outcome;
  outcome.events = std::move(played);
  outcome.hash = 0xabc;
  return Judge(recording, std::move(outcome));
}

Result Unreadable() {
  Result result;
  result.source = "y.jsonl";
  result.record = 9;
  result.reason = "y.jsonl:9: /id: expected a string, got 7";
  return result;
}

struct PrintedReport {
  explicit PrintedReport(ReportOptions options = {})
      : reporter(
            options, [this](std::string_view text) { out += text; }, [this](std::string_view text) { err += text; }) {}
  std::string out;
  std::string err;
  Reporter reporter;
};

TEST(Report, SaysNothingOfWhatPassed) {
  PrintedReport o;
  o.reporter.Add(ResultOf("a", {"x"}, {"x"}));
  o.reporter.Finish(false);
  EXPECT_EQ(o.out, "1 passed, 0 failed\n");
  EXPECT_EQ(o.err, "");
}

TEST(Report, FailureEndsWithItsReplayLine) {
  PrintedReport o;
  o.reporter.Add(ResultOf("a", {"x"}, {"y"}));
  o.reporter.Finish(false);
  EXPECT_EQ(o.out,
            "FAILED a: the story of a\n"
            "  some dir/x.jsonl:3\n"
            "  event 1 differs\n"
            "  first difference: event 1 (1 expected, 1 played)\n"
            "  -    1  x\n"
            "  +    1  y\n"
            "  ./vigil replay 'some dir/x.jsonl' --only a\n"
            "\n"
            "0 passed, 1 failed\n");
}

TEST(Report, CountsWhatCannotBeReadApart) {
  PrintedReport o;
  o.reporter.Add(Unreadable());
  o.reporter.Add(ResultOf("a", {}, {}));
  o.reporter.Finish(true);
  EXPECT_EQ(o.err, "error: y.jsonl:9: /id: expected a string, got 7\n");
  EXPECT_EQ(o.out, "1 input could not be read\ninterrupted: this is what was found so far\n1 passed, 0 failed\n");
  EXPECT_EQ(o.reporter.unreadable(), 1u);
}

TEST(Report, SaysThatTheRestWasGivenUp) {
  PrintedReport o({.json = true});
  o.reporter.Add(ResultOf("a", {}, {}));
  o.reporter.Finish(false, true);
  EXPECT_EQ(o.out,
            "given up: too many of them crash, or do not end; the rest was not played\n"
            "1 passed, 0 failed\n");
  EXPECT_THAT(o.reporter.TakeJson(), testing::HasSubstr("\"interrupted\":false,\"given_up\":true,\"scenarios\":["));
}

TEST(Report, ManyFailuresBecomeShort) {
  PrintedReport o;
  for (std::size_t i = 0; i < kFullFailures + 2; ++i) o.reporter.Add(ResultOf(fmt::format("s{}", i), {"x"}, {}));
  o.reporter.Finish(false);
  EXPECT_TRUE(
      o.out.ends_with("Further failures in one line each:\n"
                      "FAILED s20 (some dir/x.jsonl:3): event 1 differs\n"
                      "FAILED s21 (some dir/x.jsonl:3): event 1 differs\n"
                      "0 passed, 22 failed\n"))
      << o.out;
}

TEST(Report, TracesEveryScenario) {
  PrintedReport o({.trace = true});
  o.reporter.Add(ResultOf("a", {"x", "y\x1b"}, {"x", "y\x1b"}));
  o.reporter.Finish(false);
  EXPECT_EQ(o.out, "== a (some dir/x.jsonl:3)\nx\ny\\x1b\n1 passed, 0 failed\n");
}

TEST(Report, HashesInOrder) {
  PrintedReport o({.hashes = true});
  o.reporter.Add(ResultOf("b", {}, {}));
  o.reporter.Add(Unreadable());
  o.reporter.Add(ResultOf("a", {"x"}, {}));
  EXPECT_EQ(o.reporter.TakeHashes(), "b 0000000000000abc\na 0000000000000abc\n");
}

TEST(Report, Json) {
  PrintedReport o({.json = true});
  o.reporter.Add(ResultOf("a", {}, {}));
  Result failed = ResultOf("b\"", {"x"}, {});
  failed.outcome.unused_choices = {"net/a>b/latency"};
  o.reporter.Add(failed);
  o.reporter.Add(Unreadable());
  o.reporter.Finish(false);
  const std::string json = o.reporter.TakeJson();
  EXPECT_EQ(
      json,
      R"({"passed":1,"failed":1,"unreadable":1,"interrupted":false,"scenarios":[)"
      "\n"
      R"({"id":"a","file":"some dir/x.jsonl","record":3,"status":"passed","verdict":"played","hash":"0000000000000abc"},)"
      "\n"
      R"({"id":"b\"","file":"some dir/x.jsonl","record":3,"status":"failed","verdict":"played","hash":"0000000000000abc",)"
      R"("reason":"event 1 differs","first_difference":{"event":1,"expected":"x","played":null},)"
      R"("unused_choices":["net/a>b/latency"]},)"
      "\n"
      R"({"id":null,"file":"y.jsonl","record":9,"status":"unreadable","reason":"y.jsonl:9: /id: expected a string, got 7"})"
      "\n]}\n");
  JsonDocument document;
  EXPECT_TRUE(document.Parse(json).ok());
}

TEST(Report, JsonOfNothing) {
  PrintedReport o({.json = true});
  o.reporter.Finish(false);
  EXPECT_EQ(o.reporter.TakeJson(),
            "{\"passed\":0,\"failed\":0,\"unreadable\":0,\"interrupted\":false,\"scenarios\":[\n]}\n");
}

TEST(ReplayLine, SaysHowItWasPlayed) {
  Result result;
  result.source = "x.json";
  result.id = "it";
  EXPECT_EQ(ReplayLine(result, {.plant = "a.bug", .seeds = "--seed 7"}),
            "VIGIL_PRESET=dev ./vigil replay x.json --only it --plant a.bug");
  result.by_seeds = true;
  EXPECT_EQ(ReplayLine(result, {.plant = "a.bug", .seeds = "--seed 7"}),
            "VIGIL_PRESET=dev ./vigil replay x.json --only it --seed 7 --plant a.bug");
  EXPECT_EQ(ReplayLine(result), "./vigil replay x.json --only it");
}

TEST(ReplayLine, IsSafeToPaste) {
  Result result;
  result.id = "it's";
  result.source = "-odd.json";
  EXPECT_EQ(ReplayLine(result), "./vigil replay ./-odd.json --only 'it'\\''s'");
  result.source = "-";
  EXPECT_EQ(ReplayLine(result), "./vigil replay - --only 'it'\\''s'");
}

Recording Violation(const std::string& rule) {
  Recording recording;
  recording.scenario.id = "a";
  recording.expect.emplace().violates = rule;
  return recording;
}

TEST(Judge, NeedsSomethingToCompare) {
  const Result result = Judge(Recording(), PlainOutcome());
  EXPECT_EQ(result.status, Status::kFailed);
  EXPECT_EQ(result.reason, "nothing to compare: the record has no 'expect'");
}

TEST(Judge, WhatDidNotEndFails) {
  Recording recording;
  recording.expect.emplace();
  PlainOutcome outcome;
  outcome.verdict = Verdict::kDeadlock;
  outcome.reason = "main waits for join";
  EXPECT_EQ(Judge(recording, outcome).reason, "deadlock: main waits for join");
  outcome.verdict = Verdict::kRunaway;
  outcome.reason = "";
  EXPECT_EQ(Judge(recording, outcome).reason, "runaway");
  EXPECT_EQ(Judge(recording, outcome).status, Status::kFailed);
}

TEST(Judge, WhatCannotBePlayedIsNotCompared) {
  Recording recording;
  recording.expect.emplace().events = {"x"};
  PlainOutcome outcome;
  outcome.verdict = Verdict::kNotSetUp;
  outcome.reason = "no such file";
  const Result result = Judge(recording, outcome);
  EXPECT_EQ(result.reason, "not set up: no such file");
  EXPECT_EQ(result.difference.report, "");
}

TEST(Judge, ASavedFailureFailsAsLongAsARuleIsViolated) {
  PlainOutcome outcome;
  EXPECT_EQ(Judge(Violation("r1"), outcome).reason, "saved for violating r1, but no rules were checked");
  outcome.violated = {"r2", "r1"};
  outcome.explanation = "  r1: a promise\n";
  const Result result = Judge(Violation("r1"), outcome);
  EXPECT_EQ(result.reason, "violates r1");
  EXPECT_THAT(FailureText(result), ::testing::HasSubstr("  violates r1\n  r1: a promise\n"));
  outcome.violated = {"r2", "r3"};
  EXPECT_EQ(Judge(Violation("r1"), outcome).reason, "violates r2, r3 (was saved for r1)");
  outcome.violated.emplace();
  EXPECT_EQ(Judge(Violation("r1"), outcome).status, Status::kPassed);
}

}  // namespace
}  // namespace vigil::replays
