#include "vigil/replays/real/task_talk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"

namespace vigil::replays {
namespace {

TaskWord Moment() {
  sim::JobMoment moment;
  moment.at = {std::chrono::seconds(7)};
  moment.task = "chief:0";
  moment.life = 2;
  moment.kind = sim::JobMoment::Kind::kRunReturned;
  moment.step = 41;
  moment.ledger = {1, 2};
  moment.queue = std::make_shared<const sim::QueueOp>(
      sim::QueueOp{.what = sim::QueueOp::What::kTake, .queue = "tokens", .elements = {3, 4}, .size = 9});
  return {.moment = moment, .facts = std::nullopt};
}

TaskWord Facts() {
  sim::TaskFacts facts;
  facts.outcome = "UNAVAILABLE";
  facts.run_failed = {Code::kAborted, Code::kUnavailable};
  facts.opened_after = std::chrono::milliseconds(31);
  return {.moment = std::nullopt, .facts = facts};
}

TEST(TaskTalkTest, OrdersComeAsTheyWereGiven) {
  TaskOrders orders{.scenario = "{}",
                    .task = "ps:1",
                    .number = 3,
                    .cluster = {{"ps", {"a:1", "b:2"}}},
                    .target = "grpc://a:1",
                    .checkpoint_dir = "/c",
                    .boot = std::chrono::seconds(2),
                    .plant = "a.bug"};
  orders.facts.lives = 5;
  const absl::StatusOr<TaskOrders> same = UnpackOrders(PackOrders(orders));
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->task, "ps:1");
  EXPECT_EQ(same->number, 3);
  EXPECT_EQ(same->cluster, orders.cluster);
  EXPECT_EQ(same->target, "grpc://a:1");
  EXPECT_EQ(same->checkpoint_dir, "/c");
  EXPECT_EQ(same->boot, std::chrono::seconds(2));
  EXPECT_EQ(same->plant, "a.bug");
  EXPECT_EQ(same->facts.lives, 5);
}

TEST(TaskTalkTest, WordsAreWholeOrNotThere) {
  const std::string bytes = PackWord(Moment()) + PackWord(Facts());
  WordReader reader;
  std::vector<TaskWord> words;
  for (const char byte : bytes.substr(0, bytes.size() - 1)) {
    reader.Add({&byte, 1});
    absl::StatusOr<std::optional<TaskWord>> word = reader.Next();
    ASSERT_TRUE(word.ok()) << word.status();
    if (word->has_value()) words.push_back(**std::move(word));
  }
  ASSERT_EQ(words.size(), 1U);  // its writer was killed within the second
  const sim::JobMoment& moment = *words[0].moment;
  EXPECT_EQ(moment.at, Time{std::chrono::seconds(7)});
  EXPECT_EQ(moment.task, "chief:0");
  EXPECT_EQ(moment.step, 41);
  EXPECT_EQ(moment.ledger, (std::vector<float>{1, 2}));
  EXPECT_EQ(moment.queue->elements, (std::vector<std::int64_t>{3, 4}));

  reader.Add(bytes.substr(bytes.size() - 1));
  const absl::StatusOr<std::optional<TaskWord>> last = reader.Next();
  ASSERT_TRUE(last.ok() && last->has_value());
  EXPECT_FALSE((*last)->moment.has_value());
  EXPECT_EQ((*last)->facts->outcome, "UNAVAILABLE");
  EXPECT_EQ((*last)->facts->run_failed, (std::vector<Code>{Code::kAborted, Code::kUnavailable}));
  EXPECT_EQ((*last)->facts->opened_after, std::chrono::milliseconds(31));
}

TEST(TaskTalkTest, WhatIsNoTalkIsRefused) {
  EXPECT_EQ(CodeOf(UnpackOrders("").status()), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(UnpackOrders("usage: something else\n").status()), Code::kInvalidArgument);
  const std::string orders = PackOrders({.scenario = "{}"});
  EXPECT_EQ(CodeOf(UnpackOrders(orders.substr(0, orders.size() - 1)).status()), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(UnpackOrders(orders + "x").status()), Code::kInvalidArgument);
  WordReader reader;
  reader.Add("Segmentation fault\n");
  EXPECT_EQ(CodeOf(reader.Next().status()), Code::kInvalidArgument);
}

}  // namespace
}  // namespace vigil::replays
