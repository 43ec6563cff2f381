// The examples of docs/testing_your_code.md, and what else the mocks promise.
#include "vigil/fakes/mocks/mocks.h"

#include <gtest/gtest.h>

#include <memory>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/hooks/checkpoint_saver_hook.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/fake_env.h"

namespace vigil::fakes {
namespace {

using testing::_;
using testing::NiceMock;
using testing::Return;
using testing::StrictMock;

class MocksTest : public testing::Test {
 protected:
  MocksTest() : step_(*GetOrCreateGlobalStep(fake_.env(), b_)) {
    const Output one = b_.Const("one", Tensor::Scalar<std::int64_t>(1));
    train_ = ops::AssignAdd(b_, "train", step_, one);
  }
  // Hands out `session` again and again.
  std::shared_ptr<SessionCreator> CreatorOf(const std::vector<SessionPtr>& sessions) {
    auto creator = std::make_shared<StrictMock<MockSessionCreator>>();
    const testing::InSequence in_order;
    for (const SessionPtr& session : sessions) EXPECT_CALL(*creator, CreateSession).WillOnce(Return(session));
    return creator;
  }

  FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  Builder b_{graph_};
  Output step_;
  Output train_;
};

// docs: life begin
TEST_F(MocksTest, AHookSeesItsWholeLife) {
  auto hook = std::make_shared<StrictMock<MockHook>>();
  ExpectLife(*hook, {.runs = {2}});
  auto session = MonitoredSession::Create(fake_.env(), graph_, {.hooks = {hook}});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE((*session)->Run(train_).ok());
  EXPECT_TRUE((*session)->Run(train_).ok());
  EXPECT_TRUE((*session)->Close().ok());
}
// docs: life end

// docs: recovery begin
TEST_F(MocksTest, APreemptionIsRecoveredFrom) {
  auto lost = std::make_shared<NiceMock<MockSession>>(graph_, 1);
  auto next = std::make_shared<NiceMock<MockSession>>(graph_, 2);
  EXPECT_CALL(*lost, Run).WillOnce(Return(absl::AbortedError("the server was restarted")));
  auto hook = std::make_shared<StrictMock<MockHook>>();
  ExpectLife(*hook, {.runs = {0, 1}, .ends = false});
  auto session =
      MonitoredSession::Create(fake_.env(), graph_, {.session_creator = CreatorOf({lost, next}), .hooks = {hook}});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE((*session)->Run(train_).ok());
  EXPECT_EQ((*session)->recoveries(), 1);
}
// docs: recovery end

// docs: saver begin
TEST_F(MocksTest, AListenerHearsOfEachCheckpoint) {
  auto saver = std::make_shared<NiceMock<MockSaver>>(fake_.env());
  auto listener = std::make_shared<StrictMock<MockListener>>();
  {
    const testing::InSequence in_order;
    EXPECT_CALL(*listener, Begin);
    EXPECT_CALL(*listener, BeforeSave(_, 0));
    EXPECT_CALL(*saver, Save(_, "/model/model.ckpt", std::optional<std::int64_t>(0), _));
    EXPECT_CALL(*listener, AfterSave(_, 0));
    EXPECT_CALL(*listener, BeforeSave(_, 1));
    EXPECT_CALL(*saver, Save(_, "/model/model.ckpt", std::optional<std::int64_t>(1), _));
    EXPECT_CALL(*listener, AfterSave(_, 1)).WillOnce(Return(true));  // asks for a stop
  }
  auto hook = CheckpointSaverHook::Create(
      fake_.env(), {.checkpoint_dir = "/model", .save_steps = 1, .saver = saver, .listeners = {listener}});
  ASSERT_TRUE(hook.ok()) << hook.status();
  auto session = MonitoredSession::Create(fake_.env(), graph_, {.hooks = {*hook}});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE((*session)->Run(train_).ok());
  EXPECT_TRUE(*(*session)->ShouldStop());
}
// docs: saver end

TEST_F(MocksTest, WhatIsNotToldIsAnErrorThatSaysSo) {
  NiceMock<MockSessionCreator> creator;
  EXPECT_EQ(CodeOf(creator.CreateSession().status()), Code::kUnimplemented);
  NiceMock<MockSessionFactory> factory;
  EXPECT_EQ(CodeOf(factory.Create(graph_, "", {}).status()), Code::kUnimplemented);
}

TEST_F(MocksTest, ASessionIsClosedOnceItIs) {
  NiceMock<MockSession> session(graph_, 3);
  EXPECT_EQ(session.number(), 3);
  EXPECT_FALSE(session.closed());
  EXPECT_TRUE(session.Close().ok());
  EXPECT_TRUE(session.closed());
}

}  // namespace
}  // namespace vigil::fakes
