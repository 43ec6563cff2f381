#include "vigil/properties/model/model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "vigil/core/base/code.h"

namespace vigil::properties::model {
namespace {

using replays::Scenario;

TEST(ModelTest, NamesWhatItDoesNotModel) {
  Scenario scenario;
  scenario.session.kind = replays::SessionKind::kSupervisor;
  scenario.session.args = {{"logdir", true}, {"save_model_secs", std::int64_t{600}}};
  const auto predicted = Predict(scenario);
  ASSERT_FALSE(predicted.ok());
  EXPECT_EQ(CodeOf(predicted.status()), Code::kUnimplemented);
  EXPECT_EQ(MessageOf(predicted.status()), "session.save_model_secs");
}

TEST(ModelTest, NamesWhatTurnsUpOnTheWay) {
  Scenario scenario;
  scenario.model.global_step = false;
  scenario.hooks = {
      {.hook = "probe", .name = "a", .plan = {{.method = "before_run", .action = replays::Action::kReadStep}}}};
  scenario.drive = {{.op = replays::Op::kRun}};
  const auto predicted = Predict(scenario);
  ASSERT_FALSE(predicted.ok());
  EXPECT_EQ(MessageOf(predicted.status()), "a read of the global step with model.global_step false");
}

std::string RefusalOf(const Scenario& scenario) {
  const auto predicted = Predict(scenario);
  return predicted.ok() ? "" : std::string(MessageOf(predicted.status()));
}

TEST(ModelTest, WhatIsInAQueueThatWasStoppedEarlyIsRefusedOnceARunAsks) {
  Scenario scenario;
  scenario.session.kind = replays::SessionKind::kSupervisor;
  scenario.model.batches = 2;
  scenario.model.queue_input = true;
  scenario.drive = {{.op = replays::Op::kRequestStop}};
  EXPECT_EQ(RefusalOf(scenario), "");
  scenario.drive.push_back({.op = replays::Op::kRun});
  EXPECT_EQ(RefusalOf(scenario), "model.input queue that is stopped before a run has waited for it");
  scenario.drive = {{.op = replays::Op::kRun}, {.op = replays::Op::kRequestStop}, {.op = replays::Op::kRun}};
  EXPECT_EQ(RefusalOf(scenario), "");
}

TEST(ModelTest, AReportOfAQueuesThreadIsHeardOnceARunHasWaitedForTheEnd) {
  Scenario scenario;
  scenario.session.kind = replays::SessionKind::kSupervisor;
  scenario.model.batches = 1;
  scenario.model.queue_input = true;
  scenario.faults = {{.at = replays::FaultPoint::kEnqueue, .calls = {2}, .code = Code::kInternal}};
  scenario.drive = {{.op = replays::Op::kRun}, {.op = replays::Op::kShouldStop}};
  EXPECT_EQ(RefusalOf(scenario), "faults.at enqueue whose report no run has waited for");
  scenario.drive = {{.op = replays::Op::kRun, .catch_error = true, .times = 2}, {.op = replays::Op::kShouldStop}};
  EXPECT_EQ(RefusalOf(scenario), "");
}

TEST(ModelTest, TimeIsInDoubtAfterAThreadEndedDuringAJoin) {
  Scenario scenario;
  scenario.session.kind = replays::SessionKind::kSupervisor;
  scenario.session.args = {{"stop_grace_secs", std::int64_t{5}}};
  scenario.drive = {{.op = replays::Op::kStartThread, .secs = 3}};
  EXPECT_EQ(RefusalOf(scenario), "");
  scenario.after = {{.op = replays::Op::kClock}};
  EXPECT_EQ(RefusalOf(scenario), "start_thread that ends while somebody waits for it");
  scenario.drive.front().secs = 7;  // all of the grace period is waited for
  EXPECT_EQ(RefusalOf(scenario), "");
}

// What users get: pauses that double, a jitter by the seed's chance, a step function that sees the new session.
TEST(ModelTest, SpeaksOfTheDefaultBehaviour) {
  Scenario scenario;
  scenario.behaviour.name = "default";
  scenario.faults = {{.at = replays::FaultPoint::kRun, .calls = {2, 3}, .code = Code::kAborted},
                     {.at = replays::FaultPoint::kCreate, .calls = {2}, .code = Code::kUnavailable}};
  scenario.drive = {{.op = replays::Op::kRun, .times = 2}, {.op = replays::Op::kClock}};
  const auto predicted = Predict(scenario);
  ASSERT_TRUE(predicted.ok()) << predicted.status();
  std::vector<std::string> pauses;
  for (const std::string& line : predicted->lines) {
    if (line.starts_with("sleep") || line.starts_with("driver clock")) pauses.push_back(line);
  }
  EXPECT_EQ(pauses,
            (std::vector<std::string>{"sleep 1.20682", "sleep 2.15542", "sleep 4.33156", "driver clock 7.69379"}));
}

TEST(ModelTest, ASaverThatKeepsAllNamesItsNewestCheckpointAlone) {
  Scenario scenario;
  scenario.checkpoint.preload = {3, 0, 7};
  scenario.checkpoint.preload_keep = 0;
  const auto predicted = Predict(scenario);
  ASSERT_TRUE(predicted.ok()) << predicted.status();
  EXPECT_EQ(predicted->final.checkpoints, (std::vector<std::int64_t>{0, 3, 7}));
  EXPECT_EQ(predicted->final.latest, "model.ckpt-7");
  EXPECT_EQ(predicted->final.all, (std::vector<std::string>{"model.ckpt-7"}));
}

TEST(ModelTest, TheClockTellsOfTheWaitForTheChief) {
  Scenario scenario;
  scenario.session.kind = replays::SessionKind::kTraining;
  scenario.session.args = {{"is_chief", false}};
  scenario.session.shared_state = true;
  scenario.faults = {{.at = replays::FaultPoint::kCreate, .calls = {2}, .chief_init = 0}};
  scenario.drive = {{.op = replays::Op::kClock}};
  const auto predicted = Predict(scenario);
  ASSERT_TRUE(predicted.ok()) << predicted.status();
  EXPECT_EQ(std::ranges::count(predicted->lines, "driver clock 30"), 1);
}

TEST(ModelTest, ATensorThatIsNamedTwiceIsLoggedOnce) {
  Scenario scenario;
  scenario.hooks = {{.hook = "logging_tensor",
                     .args = {{"every_n_iter", std::int64_t{1}}, {"tensors", std::vector<std::string>{"fed", "fed"}}}}};
  scenario.drive = {{.op = replays::Op::kRun}};
  const auto predicted = Predict(scenario);
  ASSERT_TRUE(predicted.ok()) << predicted.status();
  EXPECT_EQ(std::ranges::count(predicted->lines, "log INFO fed = 0"), 1);
}

// 1000 and 0.3 make a sum whose difference to 1000 is less than 0.3.
TEST(ModelTest, APeriodHasPassedWhereTheSumOfSecondsIsLessByARounding) {
  Scenario scenario;
  scenario.behaviour.name = "default";
  scenario.model.steps_per_run = 0;
  scenario.model.run_secs = 0.3;
  scenario.hooks = {{.hook = "checkpoint_saver", .args = {{"save_secs", 0.3}}}};
  scenario.drive = {{.op = replays::Op::kRun, .times = 2}};
  const auto predicted = Predict(scenario);
  ASSERT_TRUE(predicted.ok()) << predicted.status();
  EXPECT_EQ(std::ranges::count(predicted->lines,
                               "log WARNING Nothing is saved into DIR as the global step has stood at 0 since the last "
                               "checkpoint"),
            2);
}

TEST(ModelTest, EndsAtTheLimitOfLines) {
  Scenario scenario;
  scenario.hooks = {{.hook = "probe",
                     .name = "a",
                     .plan = {{.method = "before_run", .action = replays::Action::kRaise, .code = Code::kAborted}}}};
  scenario.drive = {{.op = replays::Op::kRun}};
  const auto predicted = Predict(scenario);
  ASSERT_TRUE(predicted.ok());
  EXPECT_TRUE(predicted->runaway);
  EXPECT_EQ(predicted->lines.size(), 601U);
}

}  // namespace
}  // namespace vigil::properties::model
