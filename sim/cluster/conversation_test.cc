#include "vigil/sim/cluster/conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "vigil/core/base/code.h"
#include "vigil/sim/cluster/testing.h"

namespace vigil::sim {
namespace {

using testing::ElementsAre;
using testing::Key;
using testing::Pair;

JobSpec SmallConversation() {
  JobSpec spec = SmallJob(WorkloadKind::kConversation);
  spec.tasks["ps"] = 2;
  spec.workload.last_step = 100;
  return spec;
}

// How often each code was heard; and what was wrong.
std::map<Code, int> CodesIn(const JobHistory& history) {
  std::map<Code, int> codes;
  for (const JobMoment& moment : history) {
    if (moment.kind != JobMoment::Kind::kAnswered) continue;
    // Who is impatient gives up.
    const bool gives_up = moment.answer->limit > Duration(0) && moment.code == Code::kDeadlineExceeded;
    if (!gives_up) ++codes[moment.code];
    EXPECT_EQ(moment.answer->wrong, "") << moment.task;
  }
  return codes;
}

TEST(Conversation, WhereNothingIsWrongTheClusterAnswersAsOneProcessDoes) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const PlayedJob played = PlayJobOf(SmallConversation(), seed);
    EXPECT_EQ(EndsOf(played.facts), "chief:0 clean, worker:0 clean, no checkpoint");
    EXPECT_THAT(CodesIn(played.history), ElementsAre(Pair(Code::kOk, testing::Ge(200)))) << "seed " << seed;
  }
}

TEST(Conversation, AtTheMasterOfAnotherTaskToo) {
  JobSpec spec = SmallConversation();
  spec.workload.master = "ps:0";
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const PlayedJob played = PlayJobOf(spec, seed);
    EXPECT_EQ(EndsOf(played.facts), "chief:0 clean, worker:0 clean, no checkpoint");
    EXPECT_THAT(CodesIn(played.history), ElementsAre(Pair(Code::kOk, testing::Ge(200)))) << "seed " << seed;
  }
}

TEST(Conversation, WhoIsToldToStopAsksNoMore) {
  JobSpec spec = SmallConversation();
  TimedFault stop = CrashOf("worker:0", std::chrono::seconds(20));
  stop.in_order = true;
  spec.plan.timed = {stop};
  const PlayedJob played = PlayJobOf(spec);
  EXPECT_EQ(EndsOf(played.facts), "chief:0 clean, worker:0 clean, no checkpoint");
  std::map<std::string, int> asks;
  for (const JobMoment& moment : played.history) asks[moment.task] += moment.kind == JobMoment::Kind::kAnswered ? 1 : 0;
  EXPECT_GT(asks["chief:0"], 3 * asks["worker:0"]);
  EXPECT_GT(asks["worker:0"], 5);
}

TEST(Conversation, WhatBreaksASessionIsHeardAndTheClientGoesOn) {
  JobSpec spec = SmallConversation();
  for (int i = 1; i < 6; ++i) {
    spec.plan.timed.push_back(CrashOf("ps:0", std::chrono::seconds(20 * i), std::chrono::seconds(3)));
    spec.plan.timed.push_back(CrashOf("ps:1", std::chrono::seconds(20 * i + 10), std::chrono::seconds(3)));
  }
  const PlayedJob played = PlayJobOf(spec);
  EXPECT_EQ(EndsOf(played.facts), "chief:0 clean, worker:0 clean, no checkpoint");
  const std::map<Code, int> codes = CodesIn(played.history);
  EXPECT_THAT(codes, ElementsAre(Pair(Code::kOk, testing::Ge(150)), Key(Code::kFailedPrecondition),
                                 Pair(Code::kUnavailable, testing::Ge(10))));
}

}  // namespace
}  // namespace vigil::sim
