#include "vigil/proxy/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

namespace vigil::proxy {
namespace {

TEST(PlanTest, ReadsWhatAFileSays) {
  const absl::StatusOr<Plan> plan = ParsePlan(R"([
    {"on": "train", "nth": 5, "times": 2, "fault": "error", "code": "ABORTED", "by": "body", "when": "after"},
    {"on": "save", "fault": "lost_reply"},
    {"on": "create_session", "fault": "delay", "for_s": 1.5}])");
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->size(), 3U);
  EXPECT_EQ((*plan)[0], (Fault{.on = CallKind::kTrain,
                               .nth = 5,
                               .times = 2,
                               .effect = Effect::kError,
                               .code = Code::kAborted,
                               .in_body = true,
                               .after = true}));
  EXPECT_EQ((*plan)[1], (Fault{.on = CallKind::kSave, .effect = Effect::kLostReply}));
  EXPECT_EQ((*plan)[2].lasts, std::chrono::milliseconds(1500));
  EXPECT_EQ(Describe((*plan)[0]), "train 5..6: error ABORTED after, by body");
  EXPECT_EQ(Describe((*plan)[2]), "create_session 1: delay 1.5 s");
  EXPECT_TRUE(ParsePlan("[]")->empty());
}

TEST(PlanTest, SaysWhatIsWrongAndWhere) {
  const std::pair<const char*, const char*> wrong[] = {
      {"", "unexpected end"},
      {"{}", "expected a list of faults, got an object"},
      {"[7]", "/0: expected an object, got 7"},
      {R"([{"on": "train"}, {"on": "trian"}])", "/1/on: unknown kind 'trian'; known: create_session, "},
      {R"([{"fault": "error"}])", "/0/on: it is missing"},
      {R"([{"on": "train", "fault": "explode"}])", "/0/fault: unknown fault 'explode'; known: error, lost_reply, "},
      {R"([{"on": "train", "nth": 0}])", "/0/nth: expected a whole number from 1 on, got 0"},
      {R"([{"on": "train", "times": 1.5}])", "/0/times: expected a whole number from 1 on, got 1.5"},
      {R"([{"on": "train", "code": "OK"}])", "/0/code: unknown code 'OK'"},
      {R"([{"on": "train", "code": "NAN_LOSS"}])", "/0/code: unknown code 'NAN_LOSS'"},
      {R"([{"on": "train", "by": "mail"}])", "/0/by: expected status or body, got 'mail'"},
      {R"([{"on": "create_session", "by": "body"}])", "/0/by: only the reply of a step has a place for an error"},
      {R"([{"on": "train", "fault": "reset", "code": "ABORTED"}])", "/0: code, by and when are of fault error alone"},
      {R"([{"on": "train", "fault": "delay"}])", "/0/for_s: it is of fault delay, which needs it"},
      {R"([{"on": "train", "fault": "delay", "for_s": -1}])", "/0/for_s: expected seconds, more than 0, got -1"},
      {R"([{"on": "train", "for_s": 1}])", "/0/for_s: it is of fault delay"},
      {R"([{"on": "train", "oops": 1}])", "/0/oops: unknown field; known: on, nth, "},
  };
  for (const auto& [json, what] : wrong) {
    const absl::StatusOr<Plan> plan = ParsePlan(json);
    EXPECT_EQ(CodeOf(plan.status()), Code::kInvalidArgument) << json;
    EXPECT_THAT(std::string(MessageOf(plan.status())), ::testing::HasSubstr(what)) << json;
  }
}

TEST(PlanTest, WhatIsDrawnCanBeWrittenAndReadAndHasEverything) {
  std::map<Effect, int> effects;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Plan plan = DrawPlan(seed);
    EXPECT_EQ(plan, DrawPlan(seed));
    const absl::StatusOr<Plan> again = ParsePlan(PrintPlan(plan));
    ASSERT_TRUE(again.ok()) << again.status() << PrintPlan(plan);
    EXPECT_EQ(*again, plan);
    for (const Fault& fault : plan) ++effects[fault.effect];
  }
  EXPECT_EQ(effects.size(), 4U);
  EXPECT_FALSE(effects.contains(Effect::kNever)) << "a campaign would stand still";
}

}  // namespace
}  // namespace vigil::proxy
