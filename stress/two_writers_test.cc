// Two processes that save the same steps to the same place, with other values; also while both are killed at any moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

#include "vigil/core/env/real/real_env.h"
#include "vigil/stress/testing.h"

namespace vigil::stress {
namespace {

using testing::AnyOf;

constexpr int kRounds = 100;

// A process that does that and ends with its result.
pid_t Begin(const std::function<int()>& what) {
  const pid_t child = fork();
  if (child == 0) _exit(what());
  return child;
}

int End(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Each draws from the system's entropy, as processes do. (Of two with one seed a save may be refused, since they share a temporary
// folder; none is torn: core/checkpoint/two_writers_test.)
int SaveOnce(const std::string& folder, std::int64_t value, int step) {
  RealEnv real({.log_to_stderr = false});
  Model model(real.env(), value);
  const absl::Status saved = model.Save(folder, step);
  if (!saved.ok()) std::fprintf(stderr, "the save of step %d failed: %s\n", step, saved.ToString().c_str());
  return saved.ok() ? 0 : 1;
}

TEST(TwoWriterProcessesTest, EveryRoundLeavesOneWholeCheckpoint) {
  const Folder folder;
  RealEnv real({.log_to_stderr = false});
  for (int round = 1; round <= kRounds; ++round) {
    const pid_t one = Begin([&] { return SaveOnce(folder.path(), 1, round); });
    const pid_t other = Begin([&] { return SaveOnce(folder.path(), 2, round); });
    ASSERT_EQ(End(one), 0) << round;
    ASSERT_EQ(End(other), 0) << round;
    const std::string step = std::to_string(round);
    ASSERT_THAT(Newest(real.env(), folder.path()), AnyOf(step + ": 1", step + ": 2"));
  }
}

TEST(TwoWriterThreadsTest, EveryRoundLeavesOneWholeCheckpoint) {
  const Folder folder;
  RealEnv real({.log_to_stderr = false});
  Model one(real.env(), 1);
  Model other(real.env(), 2);
  for (int round = 1; round <= kRounds; ++round) {
    absl::Status beside;
    const auto task = real.env().tasks->Spawn("other", [&] { beside = other.Save(folder.path(), round); });
    const absl::Status mine = one.Save(folder.path(), round);
    ASSERT_TRUE(task->Join(kNever));
    ASSERT_TRUE(mine.ok()) << mine;
    ASSERT_TRUE(beside.ok()) << beside;
    const std::string step = std::to_string(round);
    ASSERT_THAT(Newest(real.env(), folder.path()), AnyOf(step + ": 1", step + ": 2"));
  }
}

TEST(TwoWriterProcessesTest, KilledAtAnyMomentTheyLeaveTheLastCompleteOne) {
  const Folder folder;
  RealEnv real({.log_to_stderr = false});
  int complete = 0;
  int killed = 0;
  for (int round = 1; round <= kRounds; ++round) {
    const pid_t one = Begin([&] { return SaveOnce(folder.path(), 1, round); });
    const pid_t other = Begin([&] { return SaveOnce(folder.path(), 2, round); });
    Dawdle(round, 8'000'000);
    kill(one, SIGKILL);
    if (round % 2 == 0) kill(other, SIGKILL);
    const int ends[] = {End(one), End(other)};
    for (const int end : ends) {
      ASSERT_NE(end, 1) << round;  // a save that fails; -1: killed
      if (end == 0) complete = round;
      killed += end == 0 ? 0 : 1;
    }
    if (complete == 0) continue;
    const std::int64_t newest = StepOfNewest(real.env(), folder.path());
    ASSERT_GE(newest, complete) << Newest(real.env(), folder.path());
    ASSERT_LE(newest, round);
  }
  EXPECT_GT(complete, 0);
  EXPECT_GT(killed, 0);
}

}  // namespace
}  // namespace vigil::stress
