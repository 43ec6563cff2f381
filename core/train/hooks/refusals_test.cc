// What is refused so that nobody hurts himself, and what is allowed although it looks alike.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/graph/graph.pb.h"
#include "vigil/core/graph/graph_def.h"
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
  std::vector<std::pair<std::string, HookPtr>> EveryHook() {
    auto scaffold = std::make_shared<Scaffold>(env(), graph_);
    EXPECT_TRUE(scaffold->Finalize().ok());
    graph_.Unfinalize();
    return HookTest::EveryHook(scaffold);
  }
  std::string GraphText() { return ToGraphDef(graph_).DebugString(); }
};

TEST_F(RefusalsTest, BeginAgainAfterTheCloseChangesNothingInTheGraph) {
  std::string before;
  for (const auto& [name, hook] : EveryHook()) {
    SCOPED_TRACE(name);
    for (int life = 0; life < 3; ++life) {
      auto session = MonitoredSession::Create(env(), graph_, {.hooks = {hook}});
      ASSERT_TRUE(session.ok()) << session.status();
      ASSERT_TRUE((*session)->Run(train_).ok());
      ASSERT_TRUE((*session)->Close().ok());
      if (life > 0) {
        EXPECT_EQ(GraphText(), before);
      }
      before = GraphText();
    }
  }
}

TEST_F(RefusalsTest, NoHookBeginsWhileItIsInAnOpenSession) {
  for (const auto& [name, hook] : EveryHook()) {
    SCOPED_TRACE(name);
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
