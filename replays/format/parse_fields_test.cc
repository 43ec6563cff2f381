// What the parser makes of records that are right: fields that the recordings of TensorFlow do not have, and defaults.
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/print.h"

namespace vigil::replays {
namespace {

Recording Parse(std::string_view text) {
  const absl::StatusOr<Recording> recording = ParseRecording(text, "x.jsonl", 7);
  EXPECT_TRUE(recording.ok()) << recording.status();
  return recording.ok() ? *recording : Recording();
}

TEST(Parse, ShortestRecord) {
  const Recording recording = Parse(R"({"id":"a","drive":[]})");
  Scenario expected;
  expected.id = "a";
  EXPECT_EQ(recording.scenario, expected);
  EXPECT_FALSE(recording.expect.has_value());
  EXPECT_EQ(recording.source, "x.jsonl");
  EXPECT_EQ(recording.record, 7);
}

TEST(Parse, FieldsOfTheSecondFormat) {
  const Scenario s =
      Parse(R"({"id":"a","format":2,"seed":18446744073709551615,"behaviour":{"durable_saves":true,"keep_limits":false},
      "limits":{"events":9,"virtual_s":2.5},"choices":{"w/main/run":["a","b"],"n/l":[]},"drive":[]})")
          .scenario;
  EXPECT_EQ(s.format, 2);
  EXPECT_EQ(s.seed, UINT64_MAX);
  EXPECT_EQ(s.behaviour.name, "switches");
  EXPECT_EQ(s.behaviour.switches,
            (std::map<std::string, bool, std::less<>>{{"durable_saves", true}, {"keep_limits", false}}));
  EXPECT_EQ(s.limits.events, 9);
  EXPECT_EQ(s.limits.virtual_s, 2.5);
  EXPECT_EQ(s.choices.at("w/main/run"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(s.choices.at("n/l").empty());
  EXPECT_EQ(Parse(R"({"id":"a","behaviour":"default","drive":[]})").scenario.behaviour.name, "default");
}

TEST(Parse, NullIsNotMissing) {
  const Scenario s = Parse(R"({"id":"a","drive":[],"hooks":[{"hook":"step_counter","every_n_steps":null}],
      "session":{"kind":"training","save_checkpoint_secs":null}})")
                         .scenario;
  EXPECT_EQ(s.hooks[0].args, (Args{{"every_n_steps", std::monostate()}}));
  EXPECT_EQ(s.session.args, (Args{{"save_checkpoint_secs", std::monostate()}}));
}

TEST(Parse, SecondsWithAndWithoutFraction) {
  EXPECT_EQ(Parse(R"({"id":"a","drive":[{"op":"advance","secs":1}]})").scenario,
            Parse(R"({"id":"a","drive":[{"op":"advance","secs":1.0}]})").scenario);
}

TEST(Parse, CallsAreOneOrManyOrAll) {
  const Scenario s = Parse(R"({"id":"a","drive":[],"hooks":[{"hook":"probe","name":"p","plan":[
      {"method":"end","call":2,"do":"read_step"},{"method":"end","call":[1,3],"do":"read_step"},
      {"method":"end","call":null,"do":"read_step"}]}]})")
                         .scenario;
  EXPECT_EQ(s.hooks[0].plan[0].calls, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(s.hooks[0].plan[1].calls, (std::vector<std::int64_t>{1, 3}));
  EXPECT_TRUE(s.hooks[0].plan[2].calls.empty());
}

TEST(Parse, ExpectsEventsOrAViolation) {
  const Recording events = Parse(R"({"id":"a","drive":[],"expect":{"events":["x"],"messages":["m"]}})");
  EXPECT_EQ(events.expect->events, (std::vector<std::string>{"x"}));
  EXPECT_FALSE(events.expect->final.has_value());
  const Recording rule = Parse(R"({"id":"a","drive":[],"expect":{"violates":"step.goes_back"}})");
  EXPECT_EQ(rule.expect->violates, "step.goes_back");
}

TEST(Print, IsCanonical) {
  const std::string canonical =
      R"({"id":"a","title":"t","format":2,"seed":7,"session":{"kind":"training","is_chief":false,"shared_state":true},)"
      R"("scope":"bare","model":{"batches":3,"run_secs":0.5},"hooks":[{"hook":"probe","name":"p","plan":[)"
      R"({"method":"before_run","call":null,"do":"feed","value":0}]}],"faults":[{"at":"run","call":[1,2],"code":"ABORTED",)"
      R"("effect":"lost_reply"}],"drive":[{"op":"loop","max":0,"body":[]},{"op":"raise","code":"OTHER","catch":true}],)"
      R"("behaviour":"default","limits":{"events":50},"choices":{"a/b":[]},"expect":{"violates":"rule"}})";
  const Recording recording = Parse(canonical);
  EXPECT_EQ(PrintRecord(recording.scenario, &*recording.expect), canonical);
}

TEST(Print, KeepsNumbersAsTheyWereGiven) {
  const std::string canonical =
      R"({"id":"a","unit":"timer","args":{"every_secs":1.0},"ops":[{"op":"advance","secs":1},{"op":"advance","secs":0.1}]})";
  EXPECT_EQ(PrintRecord(Parse(canonical).scenario), canonical);
}

TEST(Print, EscapesText) {
  Scenario scenario;
  scenario.id = "a";
  scenario.title = "line\nquote\"\x01";
  const std::string printed = PrintRecord(scenario);
  EXPECT_EQ(printed, R"({"id":"a","title":"line\nquote\"\u0001","drive":[]})");
  EXPECT_EQ(Parse(printed).scenario, scenario);
}

}  // namespace
}  // namespace vigil::replays
