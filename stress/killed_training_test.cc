// A training process on a real disk is killed at many moments, many of them in the middle of a save: the next one
// always goes on at the last step whose save was reported complete, or later.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/checkpoint_state.h"
#include "vigil/core/checkpoint/unfinished_saves.h"
#include "vigil/core/env/real/posix_files.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/hooks/checkpoint_saver_hook.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/stress/testing.h"

namespace vigil::stress {
namespace {

constexpr int kKills = 100;
constexpr std::int64_t kWeights = 100'000;  // so that a save takes a while

// What a process tells its parent, eight bytes at a time so that a message is whole or missing.
enum class Told : std::int32_t { kResumed, kSaves, kSaved, kFailed };
struct Message {
  Told told;
  std::int32_t step;
};

void Tell(int pipe, Told told, std::int64_t step) {
  const Message message{told, static_cast<std::int32_t>(step)};
  if (write(pipe, &message, sizeof message) != sizeof message) _exit(1);  // the parent is gone
}

class TellingListener : public CheckpointSaverListener {
 public:
  explicit TellingListener(int pipe) : pipe_(pipe) {}
  absl::Status BeforeSave(Session&, std::int64_t step) override {
    Tell(pipe_, Told::kSaves, step);
    return absl::OkStatus();
  }
  absl::StatusOr<bool> AfterSave(Session&, std::int64_t step) override {
    Tell(pipe_, Told::kSaved, step);
    return false;
  }

 private:
  const int pipe_;
};

absl::Status Train(const Env& env, const std::string& folder, int pipe, bool async_saves) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  VIGIL_ASSIGN_OR_RETURN(const Output step, GetOrCreateGlobalStep(env, b));
  const Output size = b.Const("size", Tensor::Vector<std::int32_t>({kWeights}));
  ops::MakeVariable(b, "weights", b.Op("Fill", {size, b.Const("zero", Tensor::Scalar<float>(0))}));
  const Output train = ops::AssignAdd(b, "train", step, b.Const("one", Tensor::Scalar<std::int64_t>(1)));
  VIGIL_RETURN_IF_ERROR(b.status());
  auto scaffold = std::make_shared<Scaffold>(env, graph);
  VIGIL_ASSIGN_OR_RETURN(auto saver,
                         CheckpointSaverHook::Create(env, {.checkpoint_dir = folder,
                                                           .save_steps = 3,
                                                           .scaffold = scaffold,
                                                           .listeners = {std::make_shared<TellingListener>(pipe)},
                                                           .async_saves = async_saves}));
  MonitoredTrainingSessionOptions options{.checkpoint_dir = folder, .scaffold = scaffold};
  options.chief_only_hooks = {saver};
  options.save_checkpoint_steps = std::nullopt;
  options.save_checkpoint_secs = std::nullopt;
  VIGIL_ASSIGN_OR_RETURN(auto session, MonitoredTrainingSession(env, graph, std::move(options)));
  for (bool first = true;; first = false) {
    VIGIL_ASSIGN_OR_RETURN(const RunResult result, session->Run(train));
    if (first) Tell(pipe, Told::kResumed, result.values().scalar<std::int64_t>() - 1);
  }
}

// One process, from its start to its death.
class Life {
 public:
  explicit Life(const std::string& folder, bool async_saves = false) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    child_ = fork();
    if (child_ == 0) {
      close(ends[0]);
      RealEnv real({.seed = 1, .log_to_stderr = false});
      const absl::Status status = Train(real.env(), folder, ends[1], async_saves);
      Tell(ends[1], Told::kFailed, 0);
      _exit(1);
    }
    close(ends[1]);
    pipe_ = ends[0];
  }
  ~Life() {
    Kill();
    close(pipe_);
  }
  void Kill() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = 0;
  }
  // False: the process is dead, and what it told has been read.
  bool Read() {
    Message message;
    if (read(pipe_, &message, sizeof message) != sizeof message) return false;
    if (message.told == Told::kResumed) resumed_at = message.step;
    if (message.told == Told::kSaved) saved = message.step;
    failed = failed || message.told == Told::kFailed;
    saves = message.told == Told::kSaves;
    return true;
  }

  std::int64_t resumed_at = -1;  // not told
  std::int64_t saved = -1;       // none
  bool saves = false;            // the last that was told is the beginning of a save
  bool failed = false;

 private:
  pid_t child_ = 0;
  int pipe_ = -1;
};

std::vector<std::string> UnfinishedSaves(const std::string& folder) {
  PosixFiles files;
  std::vector<std::string> out;
  for (const std::string& entry : files.List(folder).value_or(out)) {
    if (entry.find("_temp_") != entry.npos) out.push_back(entry);
  }
  return out;
}

// The checkpoint that the state file names is whole and not older than what was reported; the keep limit holds, but for
// one checkpoint that was on its way and one on its way out; the events can be read.
void CheckFolder(const Env& env, const std::string& folder, std::int64_t saved) {
  ASSERT_EQ(CheckEvents(env, folder), "OK");
  if (saved == 0) return;
  const auto newest = LatestCheckpoint(env, folder);
  ASSERT_TRUE(newest.ok() && newest->has_value()) << newest.status();
  const absl::Status whole = VerifyBundle(*env.files, **newest);
  ASSERT_TRUE(whole.ok()) << whole;
  ASSERT_GE(std::stoll((*newest)->substr((*newest)->rfind('-') + 1)), saved);
  int there = 0;
  const std::vector<std::string> names = env.files->List(folder).value_or(std::vector<std::string>());
  for (const std::string& name : names) there += name.ends_with(".index") ? 1 : 0;
  constexpr int kMaxToKeep = 5;
  ASSERT_LE(there, kMaxToKeep + 2);
}

TEST(KilledTrainingTest, GoesOnAtTheLastStepThatWasReportedSaved) {
  const Folder place;
  const std::string& folder = place.path();
  RealEnv real({.log_to_stderr = false});
  std::int64_t saved = 0;
  int inside_of_saves = 0;
  Tally tally;
  for (int i = 0; i < kKills; ++i) {
    Life life(folder);
    // Two of three lives end while they save, at the first, second, ... save; the others somewhere after one.
    const int messages = 3 + i % 7;
    for (int told = 0; told < messages || (i % 3 != 0 && !life.saves);) {
      ASSERT_TRUE(life.Read()) << "life " << i << " ended by itself";
      ASSERT_FALSE(life.failed) << "life " << i;
      ++told;
    }
    Dawdle(i, 3'000'000);
    life.Kill();
    while (life.Read()) {
    }
    if (life.resumed_at >= 0) {
      ASSERT_GE(life.resumed_at, saved) << "life " << i;
    }
    if (life.saved > saved) saved = life.saved;
    if (life.saves) ++inside_of_saves;
    CheckFolder(real.env(), folder, saved);
    if (testing::Test::HasFatalFailure()) FAIL() << "life " << i;
    ++tally["kills"];
    tally["kills_inside_of_saves"] += life.saves ? 1 : 0;
    tally["restarts"] += life.resumed_at >= 0 ? 1 : 0;
    tally["checkpoints_read"] += saved > 0 ? 1 : 0;
  }
  EXPECT_GE(inside_of_saves, kKills / 4);
  EXPECT_GT(saved, kKills);
  // Saves that were killed left folders and files; once they are old all but those of steps that have not been saved
  // since go.
  EXPECT_GE(UnfinishedSaves(folder).size(), 1u);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    std::filesystem::last_write_time(entry.path(), std::filesystem::file_time_type::clock::now() - 2 * kAbandonedAfter);
  }
  Life last(folder);
  while (last.saved <= saved) {
    ASSERT_TRUE(last.Read()) << "the last life ended by itself";
  }
  ASSERT_TRUE(last.Read());  // it goes on once it has cleaned up
  last.Kill();
  EXPECT_LE(UnfinishedSaves(folder).size(), 5u) << testing::PrintToString(UnfinishedSaves(folder));
}

// What a listener has heard of is there, though it was written beside the training.
TEST(KilledTrainingTest, GoesOnAtTheLastStepThatWasReportedSavedBesideTheTraining) {
  constexpr int kFewKills = 14;
  const Folder place;
  const std::string& folder = place.path();
  RealEnv real({.log_to_stderr = false});
  std::int64_t saved = 0;
  for (int i = 0; i < kFewKills; ++i) {
    Life life(folder, /*async_saves=*/true);
    for (int told = 0; told < 3 + i % 7; ++told) {
      ASSERT_TRUE(life.Read()) << "life " << i << " ended by itself";
      ASSERT_FALSE(life.failed) << "life " << i;
    }
    Dawdle(i, 3'000'000);
    life.Kill();
    while (life.Read()) {
    }
    if (life.resumed_at >= 0) {
      ASSERT_GE(life.resumed_at, saved) << "life " << i;
    }
    saved = std::max(saved, life.saved);
    CheckFolder(real.env(), folder, saved);
    if (testing::Test::HasFatalFailure()) FAIL() << "life " << i;
  }
  EXPECT_GT(saved, 0);
}

}  // namespace
}  // namespace vigil::stress
