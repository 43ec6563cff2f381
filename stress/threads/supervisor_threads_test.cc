// A supervisor whose services save and write all the time, while other threads ask it to stop and look at it.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/session/session.h"
#include "vigil/core/train/supervisor/supervisor.h"
#include "vigil/stress/testing.h"
#include "vigil/stress/threads/pausing_env.h"
#include "vigil/stress/threads/training.h"

namespace vigil::stress {
namespace {

constexpr int kSupervisors = 40;
constexpr int kSupervisedRuns = 12;

const std::vector<Code> kSupervisedEnds = {Code::kCancelled, Code::kOutOfRange, Code::kInternal};

void LookAtSupervisor(Supervisor& supervisor, int wish) {
  supervisor.ShouldStop();
  EXPECT_THAT(supervisor.coord()->RequestedError(), OkOr(kSupervisedEnds));
  EXPECT_TRUE(supervisor.coord()->stragglers().empty());
  supervisor.coord()->WaitForStop(std::chrono::microseconds(10));
  if (wish == 1) {
    EXPECT_TRUE(supervisor.RequestStop().ok());
  }
  if (wish == 2) {
    EXPECT_THAT(supervisor.StopOnError([] { return MakeStatus(Code::kInternal, "broken"); }), OkOr(kSupervisedEnds));
  }
  if (wish == 3) {
    EXPECT_THAT(supervisor.RequestStop(MakeStatus(Code::kOutOfRange, "no more")), OkOr(kSupervisedEnds));
  }
}

TEST(SupervisorThreadsTest, WhoeverStopsItItEndsWithAllItHasStarted) {
  const Folder folder;
  PausingEnv pausing;
  const Env env = pausing.env();
  for (int round = 0; round < kSupervisors && !testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE(round);
    Training training(env);
    auto supervisor = Supervisor::Create(env, training.graph,
                                         {.logdir = folder.path(),
                                          .save_summaries_secs = std::chrono::milliseconds(1),
                                          .save_model_secs = std::chrono::milliseconds(1)});
    ASSERT_TRUE(supervisor.ok()) << supervisor.status();
    std::atomic<bool> done{false};
    std::vector<std::unique_ptr<Task>> lookers;
    for (int i = 0; i < 2; ++i) {
      lookers.push_back(
          env.tasks->Spawn("looks", [&, wish = pausing.draws().Below(4), after = pausing.draws().Below(100)] {
            for (int look = 0; !done; ++look) LookAtSupervisor(**supervisor, look == after ? wish : 0);
          }));
    }
    std::atomic<int> called{0};
    const auto body = [&](const SessionPtr& session) -> absl::Status {
      (*supervisor)->Loop(std::nullopt, [&]() -> absl::Status {
        ++called;
        return RunFetch(*session, training.step).status();
      });
      for (int run = 0; run < kSupervisedRuns && !(*supervisor)->ShouldStop(); ++run) {
        VIGIL_RETURN_IF_ERROR(RunTarget(*session, training.train.node));
      }
      return absl::OkStatus();
    };
    EXPECT_THAT((*supervisor)->ManagedSession({}, body), OkOr(kSupervisedEnds));
    EXPECT_TRUE((*supervisor)->ShouldStop());
    EXPECT_TRUE((*supervisor)->coord()->joined());
    done = true;
    for (const auto& task : lookers) EXPECT_TRUE(task->Join(kNever));
    SavedStep(env, folder.path(), false);
  }
  EXPECT_EQ(CheckEvents(env, folder.path()), "OK");
}

}  // namespace
}  // namespace vigil::stress
