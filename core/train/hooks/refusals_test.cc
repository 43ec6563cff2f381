// What is refused so that nobody hurts himself, and what is allowed although it looks alike.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <typeinfo>

#include "vigil/core/base/code.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/train/hooks/checkpoint_saver_hook.h"
#include "vigil/core/train/hooks/feed_fn_hook.h"
#include "vigil/core/train/hooks/final_ops_hook.h"
#include "vigil/core/train/hooks/global_step_waiter_hook.h"
#include "vigil/core/train/hooks/logging_tensor_hook.h"
#include "vigil/core/train/hooks/nan_tensor_hook.h"
#include "vigil/core/train/hooks/profiler_hook.h"
#include "vigil/core/train/hooks/step_counter_hook.h"
#include "vigil/core/train/hooks/stop_at_step_hook.h"
#include "vigil/core/train/hooks/summary_saver_hook.h"
#include "vigil/core/train/hooks/testing.h"
#include "vigil/core/train/monitored_session.h"

namespace vigil {
namespace {

using testing::HasSubstr;

// A monitored session may close its raw session and make another: who holds on to it needs the raw one of a hook or a
// step.
template <typename S>
concept CanBeSaved = requires(Saver saver, S& session) {
  saver.Save(session, "path", 1);
};
template <typename S>
concept CanFeedQueues = requires(const S& session) {
  StartQueueRunners(session, std::shared_ptr<Coordinator>());
};
static_assert(CanBeSaved<Session>);
static_assert(!CanBeSaved<MonitoredSession>);
static_assert(!CanBeSaved<SingularMonitoredSession>);
static_assert(!CanBeSaved<std::unique_ptr<MonitoredSession>>);
static_assert(CanFeedQueues<std::shared_ptr<Session>>);
static_assert(!CanFeedQueues<MonitoredSession>);
static_assert(!CanFeedQueues<std::shared_ptr<MonitoredSession>>);
static_assert(!CanFeedQueues<std::shared_ptr<SingularMonitoredSession>>);

class RefusalsTest : public HookTest {
 protected:
  RefusalsTest() { EXPECT_TRUE(fake_.files.MakeDirectory("/d").ok()); }

  std::vector<HookPtr> EveryHook() {
    auto scaffold = std::make_shared<Scaffold>(env(), graph_);
    EXPECT_TRUE(scaffold->Finalize().ok());
    graph_.Unfinalize();
    std::vector<HookPtr> hooks;
    const auto add = [&](auto made) {
      EXPECT_TRUE(made.ok()) << made.status();
      if (made.ok()) hooks.push_back(*std::move(made));
    };
    add(StopAtStepHook::Create(env(), {.num_steps = 100}));
    add(CheckpointSaverHook::Create(env(), {.checkpoint_dir = "/d", .save_steps = 1, .scaffold = scaffold}));
    add(StepCounterHook::Create(env(), {.every_n_steps = 1, .output_dir = "/d"}));
    add(LoggingTensorHook::Create(env(), {.tensors = TaggedTensors{{"loss", loss_}}, .every_n_iter = 1}));
    add(NanTensorHook::Create(env(), {.loss_tensor = loss_}));
    add(SummarySaverHook::Create(env(), {.save_steps = 1, .output_dir = "/d", .scaffold = scaffold}));
    add(GlobalStepWaiterHook::Create(env(), {.wait_until_step = 0}));
    add(FinalOpsHook::Create(env(), {.final_ops = loss_}));
    add(FeedFnHook::Create(env(), {.feed_fn = [this] { return Feeds{{fed_, Tensor::Scalar<std::int64_t>(1)}}; }}));
    add(ProfilerHook::Create(env(), {.save_steps = 1, .output_dir = "/d"}));
    return hooks;
  }
  std::string GraphText() { return ToGraphDef(graph_).DebugString(); }
};

TEST_F(RefusalsTest, BeginAgainAfterTheCloseChangesNothingInTheGraph) {
  std::string before;
  for (const HookPtr& hook : EveryHook()) {
    for (int life = 0; life < 3; ++life) {
      auto session = MonitoredSession::Create(env(), graph_, {.hooks = {hook}});
      ASSERT_TRUE(session.ok()) << session.status();
      ASSERT_TRUE((*session)->Run(train_).ok());
      ASSERT_TRUE((*session)->Close().ok());
      if (life > 0) {
        EXPECT_EQ(GraphText(), before) << typeid(*hook).name();
      }
      before = GraphText();
    }
  }
}

TEST_F(RefusalsTest, NoHookBeginsWhileItIsInAnOpenSession) {
  for (const HookPtr& hook : EveryHook()) {
    auto open = MonitoredSession::Create(env(), graph_, {.hooks = {hook}});
    ASSERT_TRUE(open.ok()) << open.status();
    const absl::Status second = MonitoredSession::Create(env(), graph_, {.hooks = {hook}}).status();
    EXPECT_EQ(CodeOf(second), Code::kUsage);
    EXPECT_THAT(std::string(MessageOf(second)), HasSubstr("is in an open session already"));
    EXPECT_TRUE((*open)->Run(train_).ok()) << "the first one works on";
    EXPECT_TRUE((*open)->Close().ok());
  }
}

TEST_F(RefusalsTest, RunAfterCloseSaysSo) {
  auto session = MonitoredSession::Create(env(), graph_, {});
  ASSERT_TRUE(session.ok());
  ASSERT_TRUE((*session)->Close().ok());
  for (const absl::Status& status : {(*session)->Run(train_).status(), (*session)->RunWithoutHooks(train_).status(),
                                     (*session)->RunStepFn([](StepContext&) { return absl::OkStatus(); })}) {
    EXPECT_EQ(CodeOf(status), Code::kUsage);
    EXPECT_THAT(std::string(MessageOf(status)), HasSubstr("was called on a closed session. Create a new one"));
  }
}

// A graph that grows under an open session would differ from what was saved, and from the graphs of other workers.
TEST_F(RefusalsTest, AGraphThatIsChangedAfterItWasFinalized) {
  auto session = MonitoredSession::Create(env(), graph_, {});
  ASSERT_TRUE(session.ok());
  b().Const("late", Tensor::Scalar<std::int64_t>(1));
  EXPECT_EQ(CodeOf(b().status()), Code::kUsage);
  EXPECT_EQ(MessageOf(b().status()), "Graph is finalized and cannot be modified.");
  EXPECT_TRUE((*session)->Run(train_).ok());
}

}  // namespace
}  // namespace vigil
