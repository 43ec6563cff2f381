// Two processes that save the same steps to the same place, with other values; also while both are killed at any
// moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "vigil/core/env/forwarding.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/stress/testing.h"

namespace vigil::stress {
namespace {

using testing::AnyOf;
using testing::Each;

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

int SaveOnce(const std::string& folder, std::int64_t value, int step,
             std::optional<std::uint64_t> seed = std::nullopt) {
  RealEnv real({.seed = seed, .log_to_stderr = false});
  Model model(real.env(), value);
  const absl::Status saved = model.Save(folder, step);
  if (!saved.ok()) std::fprintf(stderr, "the save of step %d failed: %s\n", step, saved.ToString().c_str());
  return saved.ok() ? 0 : 1;
}

// Both save the step of each round; what is newest then is one of the two, whole.
void PlayRounds(const Env& env, const std::string& folder, const std::function<void(int round)>& both) {
  Tally tally;
  for (int round = 1; round <= kRounds; ++round) {
    ASSERT_NO_FATAL_FAILURE(both(round)) << round;
    const std::string step = std::to_string(round);
    ASSERT_THAT(Newest(env, folder), AnyOf(step + ": 1", step + ": 2"));
    ++tally["two_writer_rounds"];
    ++tally["checkpoints_read"];
  }
}

void PlayProcesses(std::optional<std::uint64_t> seed) {
  const Folder folder;
  RealEnv real({.log_to_stderr = false});
  PlayRounds(real.env(), folder.path(), [&](int round) {
    const pid_t one = Begin([&] { return SaveOnce(folder.path(), 1, round, seed); });
    const pid_t other = Begin([&] { return SaveOnce(folder.path(), 2, round, seed); });
    const int ends[] = {End(one), End(other)};
    ASSERT_THAT(ends, Each(0));
  });
}

TEST(TwoWriterProcessesTest, EveryRoundLeavesOneWholeCheckpoint) { PlayProcesses(std::nullopt); }

class FilesThatNoteNames : public ForwardingFiles {
 public:
  using ForwardingFiles::ForwardingFiles;
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    if (mode == OpenMode::kTemporary) names.insert(path);
    return ForwardingFiles::Open(path, mode);
  }
  absl::Status MakeDirectory(const std::string& path) override {
    names.insert(path);
    return ForwardingFiles::MakeDirectory(path);
  }
  std::set<std::string> names;
};

// The folders and files of one save that have a number.
std::set<std::string> TemporaryNames(const std::string& folder, std::uint64_t seed) {
  RealEnv real({.seed = seed, .log_to_stderr = false});
  FilesThatNoteNames files(*real.env().files);
  Env env = real.env();
  env.files = &files;
  EXPECT_TRUE(Model(env, 1).Save(folder, 1).ok());
  std::erase_if(files.names, [](const std::string& name) { return name.find("_temp") == name.npos; });
  return files.names;
}

TEST(TwoWriterProcessesTest, OfOneSeedHaveTemporaryNamesOfTheirOwn) {
  const Folder folder;
  const std::set<std::string> one = TemporaryNames(folder.path(), 7);
  EXPECT_GE(one.size(), 3u);  // the folder, two parts in it
  for (const std::string& name : TemporaryNames(folder.path(), 7)) EXPECT_FALSE(one.contains(name)) << name;
}

TEST(TwoWriterProcessesTest, OfOneSeedEveryRoundLeavesOneWholeCheckpoint) { PlayProcesses(7); }

TEST(TwoWriterThreadsTest, EveryRoundLeavesOneWholeCheckpoint) {
  const Folder folder;
  RealEnv real({.log_to_stderr = false});
  Model one(real.env(), 1);
  Model other(real.env(), 2);
  PlayRounds(real.env(), folder.path(), [&](int round) {
    absl::Status beside;
    const auto task = real.env().tasks->Spawn("other", [&] { beside = other.Save(folder.path(), round); });
    const absl::Status mine = one.Save(folder.path(), round);
    ASSERT_TRUE(task->Join(kNever));
    ASSERT_TRUE(mine.ok()) << mine;
    ASSERT_TRUE(beside.ok()) << beside;
  });
}

TEST(TwoWriterProcessesTest, KilledAtAnyMomentTheyLeaveTheLastCompleteOne) {
  const Folder folder;
  RealEnv real({.log_to_stderr = false});
  Tally tally;
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
    ++tally["two_writer_rounds"];
    if (complete == 0) continue;
    const std::int64_t newest = StepOfNewest(real.env(), folder.path());
    ASSERT_GE(newest, complete) << Newest(real.env(), folder.path());
    ASSERT_LE(newest, round);
    ++tally["checkpoints_read"];
  }
  tally["writers_killed"] = killed;
  EXPECT_GT(complete, 0);
  EXPECT_GT(killed, 0);
}

}  // namespace
}  // namespace vigil::stress
