// Jobs by processes: what goes wrong with a process is told, what they cannot play is refused, and a small job loses
// its server and comes to its end all the same.
#include "vigil/replays/real/real_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "vigil/core/base/code.h"
#include "vigil/replays/format/parse.h"

namespace vigil::replays {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

Scenario Read(const std::string& text) {
  const absl::StatusOr<Recording> recording = ParseRecording(text);
  EXPECT_TRUE(recording.ok()) << recording.status();
  return recording->scenario;
}

// Its tasks start at once: nothing of TensorFlow is imported.
Scenario SmallJob(const std::string& plan, const std::string& more = "", int workers = 1) {
  return Read(R"({"id": "small", "cluster": {"tasks": {"ps": 1, "chief": 1, "worker": )" + std::to_string(workers) +
              R"(}}, "plan": [)" + plan +
              R"(], "limit_s": 60, "workload": {"last_step": 120, "step_s": 0.01, "boot_s": [0, 0])" + more + "}}");
}

class RealJobTest : public ::testing::Test {
 protected:
  RealJobTest() {
    std::string path = (fs::temp_directory_path() / "vigil-real-job-XXXXXX").string();
    EXPECT_NE(mkdtemp(path.data()), nullptr);
    folder_ = path;
  }
  ~RealJobTest() override { fs::remove_all(folder_); }
  // A program that does nothing but that.
  std::string Script(const std::string& commands) const {
    const fs::path path = fs::path(folder_) / "task";
    std::ofstream(path) << "#!/bin/sh\n" << commands << "\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  absl::StatusOr<RealJobRun> Play(const Scenario& scenario, const std::string& program) const {
    return PlayRealJob(scenario, {.program = program, .folder = folder_});
  }

  std::string folder_;
};

TEST_F(RealJobTest, WhatOnlyASimulatedWorldCanDoIsSaid) {
  EXPECT_EQ(WhyNotReal(*SmallJob(R"({"at_s": 1, "crash": "ps:0", "restart_after_s": 1})").job), "");
  EXPECT_EQ(WhyNotReal(*SmallJob(R"({"at_s": 1, "silent": ["chief:0", "ps:0"], "for_s": 1})").job), "");
  const std::pair<const char*, const char*> cannot[] = {
      {R"({"at_s": 1, "crash": "ps:0", "disk": "torn"})", "a power cut"},
      {R"({"at_s": 1, "clock_jump": "ps:0", "by_s": 5})", "clock_jump"},
      {R"({"at_s": 1, "cut": ["chief:0", "ps:0"], "for_s": 1, "one_way": true})", "a cut one way"},
      {R"({"rpc": "RunStep", "effect": "lost_reply"})", "faults of single requests"},
  };
  for (const auto& [plan, why] : cannot) EXPECT_EQ(WhyNotReal(*SmallJob(plan).job), why) << plan;
  EXPECT_EQ(WhyNotReal(*SmallJob("", R"(, "disk_s": 0.001)").job), "the time of disks and processors");
}

TEST_F(RealJobTest, AProgramThatIsNotThereIsNamed) {
  const absl::StatusOr<RealJobRun> run = Play(SmallJob(""), folder_ + "/none");
  EXPECT_EQ(CodeOf(run.status()), Code::kInternal);
  EXPECT_THAT(std::string(MessageOf(run.status())), HasSubstr("exited with 127"));
  EXPECT_THAT(std::string(MessageOf(run.status())), HasSubstr("/none: No such file or directory"));
}

TEST_F(RealJobTest, AProcessThatDiesIsAnErrorWithItsLastWords) {
  const absl::StatusOr<RealJobRun> run =
      Play(SmallJob(""), Script("cat >/dev/null; echo out of luck >&2; kill -11 $$"));
  EXPECT_EQ(CodeOf(run.status()), Code::kInternal);
  EXPECT_THAT(std::string(MessageOf(run.status())), HasSubstr("died of signal 11; its last words: out of luck"));
}

TEST_F(RealJobTest, AProgramOfAnotherKindIsRefused) {
  const absl::StatusOr<RealJobRun> run =
      Play(SmallJob(""), Script("cat >/dev/null; echo hello, world; exec sleep 100"));
  EXPECT_EQ(CodeOf(run.status()), Code::kInvalidArgument);
}

TEST_F(RealJobTest, AQuietJobEndsCleanlyAndAtItsLastStep) {
  const absl::StatusOr<RealJobRun> run = Play(SmallJob(""), VIGIL_TASK_PROGRAM);
  ASSERT_TRUE(run.ok()) << run.status();
  for (const char* const task : {"chief:0", "worker:0"}) {
    const sim::TaskFacts& facts = run->facts.tasks.find(task)->second;
    EXPECT_EQ(facts.outcome, "clean") << task << facts.text;
    EXPECT_EQ(facts.sessions, 1) << task;
    EXPECT_EQ(facts.hook_end, 1) << task;
    EXPECT_THAT(facts.run_failed, IsEmpty()) << task;
  }
  EXPECT_GE(run->facts.newest_checkpoint.value_or(0), 120);
  EXPECT_LE(run->facts.newest_checkpoint.value_or(0), 122);
}

// (A worker may sleep for 30 s then.)
TEST_F(RealJobTest, AServerThatIsKilledCostsTheChiefASession) {
  const absl::StatusOr<RealJobRun> run =
      Play(SmallJob(R"({"at_s": 0.3, "crash": "ps:0", "restart_after_s": 0.3})", "", 0), VIGIL_TASK_PROGRAM);
  ASSERT_TRUE(run.ok()) << run.status();
  const sim::TaskFacts& chief = run->facts.tasks.find("chief:0")->second;
  EXPECT_EQ(chief.outcome, "clean") << chief.text;
  EXPECT_EQ(chief.sessions, 2);
  EXPECT_THAT(chief.run_failed, ElementsAre(Code::kUnavailable));
  EXPECT_EQ(chief.step_back_silent.size(), 0U);
  ASSERT_EQ(run->facts.faults.size(), 1U);
  EXPECT_EQ(run->facts.faults[0].kind, "crash_restart");
  EXPECT_EQ(run->facts.faults[0].fired, 1);
}

TEST_F(RealJobTest, WhoIsKilledAgainIsBackWhenAllHeals) {
  Scenario scenario = SmallJob(R"({"at_s": 0.3, "crash": "chief:0", "restart_after_s": 0.2},)"
                               R"({"at_s": 1.5, "crash": "chief:0", "restart_after_s": 100})",
                               "", 0);
  scenario.job->workload.last_step = 400;
  scenario.job->heal_after = std::chrono::seconds(2);
  const absl::StatusOr<RealJobRun> run = Play(scenario, VIGIL_TASK_PROGRAM);
  ASSERT_TRUE(run.ok()) << run.status();
  const sim::TaskFacts& chief = run->facts.tasks.find("chief:0")->second;
  EXPECT_EQ(chief.outcome, "clean") << chief.text;
  EXPECT_EQ(chief.lives, 3);
}

TEST_F(RealJobTest, AfterItsEndNothingStrikesIt) {
  const absl::StatusOr<RealJobRun> run =
      Play(SmallJob(R"({"at_s": 50, "crash": "ps:0", "restart_after_s": 1})", "", 0), VIGIL_TASK_PROGRAM);
  ASSERT_TRUE(run.ok()) << run.status();
  ASSERT_EQ(run->facts.faults.size(), 1U);
  EXPECT_EQ(run->facts.faults[0].planned, 1);
  EXPECT_EQ(run->facts.faults[0].fired, 0);
  EXPECT_LT(run->facts.virtual_time, std::chrono::seconds(50));
}

TEST_F(RealJobTest, ATaskThatIsKilledForGoodIsKilled) {
  const absl::StatusOr<RealJobRun> run = Play(SmallJob(R"({"at_s": 0.3, "crash": "worker:0"})"), VIGIL_TASK_PROGRAM);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->facts.tasks.find("worker:0")->second.outcome, "killed");
  EXPECT_EQ(run->facts.tasks.find("chief:0")->second.outcome, "clean");
}

TEST_F(RealJobTest, WhatIsInterruptedSaysSo) {
  const std::atomic<bool> stop = true;
  const absl::StatusOr<RealJobRun> run =
      PlayRealJob(SmallJob(""), {.program = VIGIL_TASK_PROGRAM, .folder = folder_, .interrupt = &stop});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_TRUE(run->interrupted);
}

}  // namespace
}  // namespace vigil::replays
