// Savers and managers that work at the same time, in one directory and beside who trains, restores and reads.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vigil/core/checkpoint/checkpoint_manager.h"
#include "vigil/core/checkpoint/checkpoint_state.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/stress/testing.h"
#include "vigil/stress/threads/pausing_env.h"
#include "vigil/stress/threads/training.h"

namespace vigil::stress {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

// A checkpoint may be deleted by its writer while somebody reads it, but is never half of one and half of another.
void ExpectWhole(const std::string& newest) {
  EXPECT_THAT(newest, AnyOf("none", HasSubstr("NOT_FOUND"), testing::ContainsRegex("^[0-9]+: [0-9]+$")));
}

TEST(CheckpointThreadsTest, TwoSaversOfOneDirectoryLeaveWholeCheckpointsToWhoReads) {
  const Folder folder;
  PausingEnv pausing;
  const Env env = pausing.env();
  constexpr int kSaves = 60;
  std::atomic<int> writing{2};
  pausing.InParallel(4, [&](int i) {
    if (i >= 2) {
      while (writing > 0) ExpectWhole(Newest(env, folder.path()));
      return;
    }
    Model model(env, i, 50);
    for (int save = 0; save < kSaves; ++save) {
      model.Train();
      const absl::Status saved = model.Save(folder.path(), 2 * save + i);
      EXPECT_TRUE(saved.ok()) << saved;
    }
    --writing;
  });
  EXPECT_THAT(Newest(env, folder.path()), AnyOf("118: 60", "119: 61"));
}

// The same steps under the same names: one of the two wins.
TEST(CheckpointThreadsTest, TwoSaversOfTheSameStepsLeaveOneOfThem) {
  const Folder folder;
  PausingEnv pausing;
  const Env env = pausing.env();
  Model models[] = {{env, 1, 50}, {env, 2, 50}};
  for (int round = 1; round <= 60 && !testing::Test::HasFailure(); ++round) {
    pausing.InParallel(2, [&](int i) {
      const absl::Status saved = models[i].Save(folder.path(), round);
      EXPECT_TRUE(saved.ok()) << saved;
    });
    const std::string step = std::to_string(round);
    EXPECT_THAT(Newest(env, folder.path()), AnyOf(step + ": 1", step + ": 2"));
  }
}

struct Counting {
  explicit Counting(const Env& env) : graph(BuiltinOps()), saver(std::make_shared<Saver>(env)) {
    Builder b(graph);
    variable = ops::MakeVariable(b, "v", b.Const("zero", Tensor::Scalar<std::int64_t>(0)));
    more = ops::AssignAdd(b, "more", variable.ref, b.Const("one", Tensor::Scalar<std::int64_t>(1)));
    EXPECT_TRUE(b.status().ok()) << b.status();
    EXPECT_TRUE(saver->Build(graph).ok());
  }
  Graph graph;
  ops::Variable variable;
  Output more;
  SaverPtr saver;
};

TEST(CheckpointThreadsTest, ASaverBesideTrainersOfTheSameSession) {
  const Folder folder;
  PausingEnv pausing;
  const Env env = pausing.env();
  Counting model(env);
  const auto session = NewDirectSession(env, model.graph);
  ASSERT_TRUE(RunTarget(*session, model.variable.initializer).ok());
  const absl::StatusOr<std::string> first = model.saver->Save(*session, folder.path() + "/kept", 0);
  ASSERT_TRUE(first.ok()) << first.status();
  std::atomic<int> busy{1};
  pausing.InParallel(5, [&](int i) {
    if (i == 0) {
      for (int step = 1; step <= 40; ++step) {
        const auto saved = model.saver->Save(*session, folder.path() + "/m", step);
        EXPECT_TRUE(saved.ok()) << saved.status();
      }
      busy = 0;
      return;
    }
    while (busy > 0) {
      if (i == 1) {
        EXPECT_TRUE(GetCheckpointState(env, folder.path()).ok());
      } else {
        EXPECT_TRUE(RunFetch(*session, model.more).ok());
      }
    }
  });
  EXPECT_EQ(model.saver->last_checkpoints().size(), 5u);
  EXPECT_TRUE(model.saver->Restore(*session, model.saver->last_checkpoints().back()).ok());
}

// Each in a directory of its own, with a session of its own; what they share is the graph and the process.
TEST(CheckpointThreadsTest, ManagersDoNotDisturbEachOther) {
  const Folder folder;
  PausingEnv pausing;
  const Env env = pausing.env();
  constexpr int kManagers = 4;
  constexpr int kLives = 8;
  constexpr int kSavesEach = 4;
  Counting models[kManagers] = {Counting(env), Counting(env), Counting(env), Counting(env)};
  std::atomic<int> busy{kManagers};
  pausing.InParallel(kManagers + 1, [&](int i) {
    if (i == kManagers) {
      while (busy > 0) {
        for (int each = 0; each < kManagers; ++each) {
          EXPECT_TRUE(GetCheckpointState(env, fmt::format("{}/{}", folder.path(), each)).ok());
        }
      }
      return;
    }
    Counting& model = models[i];
    const std::string directory = fmt::format("{}/{}", folder.path(), i);
    EXPECT_TRUE(env.files->MakeDirectory(directory).ok());
    for (int life = 0; life < kLives; ++life) {
      const auto session = NewDirectSession(env, model.graph);
      const auto manager = CheckpointManager::Create(
          env, model.saver, {.directory = directory, .max_to_keep = 2, .init_fn = [&model](Session& made) {
                               return RunTarget(made, model.variable.initializer);
                             }});
      EXPECT_TRUE(manager.ok()) << manager.status();
      if (!manager.ok()) break;
      const auto restored = (*manager)->RestoreOrInitialize(*session);
      EXPECT_TRUE(restored.ok()) << restored.status();
      EXPECT_EQ(restored.ok() && restored->has_value(), life > 0);
      EXPECT_EQ(RunFetch(*session, model.variable.ref)->scalar<std::int64_t>(), life * kSavesEach);
      for (int save = 0; save < kSavesEach; ++save) {
        EXPECT_TRUE(RunFetch(*session, model.more).ok());
        const auto saved = (*manager)->Save(*session);
        EXPECT_TRUE(saved.ok() && saved->has_value()) << saved.status();
      }
      EXPECT_EQ((*manager)->checkpoints().size(), 2u);
    }
    --busy;
  });
}

}  // namespace
}  // namespace vigil::stress
