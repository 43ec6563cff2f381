// ObsoleteSessionManagerTest of session_manager_test.py: a ready op that fails until the model is ready, instead of
// naming what is missing. What it shares with SessionManagerTest is in session_manager_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/session_manager.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

using fakes::Text;
using std::chrono::seconds;

// One variable; the ready op reads it (a number, not a list of names: ready).
class ObsoleteSessionManagerTest : public testing::Test {
 protected:
  ObsoleteSessionManagerTest() {
    EXPECT_TRUE(fake_.files.MakeDirectory("/ckpt").ok());
    v_ = ops::MakeVariable(b_, "v", b_.Const("v0", Tensor::Scalar<std::int32_t>(1)));
    init_ = v_.initializer;
    saver_ = std::make_shared<Saver>(env(), SaverOptions{});
    EXPECT_TRUE(saver_->Build(graph_).ok());
    for (const Behaviour& behaviour : {Behaviour::TensorFlow(), Behaviour::Default()}) {
      auto made = SessionManager::Create(env(), graph_, std::make_shared<DirectSessionFactory>(env()),
                                         {.ready_op = v_.read, .recovery_wait = seconds(1), .behaviour = behaviour});
      EXPECT_TRUE(made.ok()) << made.status();
      managers_.push_back(*std::move(made));
    }
  }
  Env env() { return fake_.env(); }
  // The value of v, or the error.
  std::string Outcome(const absl::StatusOr<SessionPtr>& session) {
    if (!session.ok()) return Text(session.status());
    const absl::StatusOr<Tensor> value = RunFetch(**session, v_.ref);
    return value.ok() ? std::to_string(value->scalar<std::int32_t>()) : std::string(CodeName(CodeOf(value.status())));
  }
  std::string Recovered(SessionManager& manager) {
    const auto recovered = manager.Recover({}, {.saver = saver_, .checkpoint_dir = "/ckpt"});
    EXPECT_TRUE(recovered.ok()) << recovered.status();
    return (recovered->initialized ? "initialized " : "not initialized ") + Outcome(recovered->session);
  }
  void Save() {
    const std::unique_ptr<Session> session = NewDirectSession(env(), graph_);
    EXPECT_TRUE(RunTarget(*session, init_).ok());
    EXPECT_TRUE(saver_->Save(*session, "/ckpt/model.ckpt", 1).ok());
  }

  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  Builder b_{graph_};
  ops::Variable v_;
  NodeId init_ = kNoNode;
  SaverPtr saver_;
  std::vector<std::unique_ptr<SessionManager>> managers_;  // one of each behaviour
};

TEST_F(ObsoleteSessionManagerTest, PrepareSucceeds) {
  const Output given = ops::Placeholder(b_, "given", DType::kInt32);
  const NodeId init_fed = ops::Assign(b_, "init_fed", v_.ref, given).node;
  const Tensor five = Tensor::Scalar<std::int32_t>(5);
  for (const auto& manager : managers_) {
    EXPECT_EQ(Outcome(manager->Prepare({}, {}, {.init_op = init_})), "1");
    EXPECT_EQ(Outcome(manager->Prepare({}, {}, {.init_op = init_fed, .init_feed_dict = {{given, five}}})), "5");
    EXPECT_EQ(Outcome(manager->Prepare({}, {}, {.init_fn = [this](Session& s) { return RunTarget(s, init_); }})), "1");
  }
}

TEST_F(ObsoleteSessionManagerTest, PrepareFailsWithoutACheckpoint) {
  Save();
  ASSERT_TRUE(fake_.files.Rename("/ckpt/checkpoint", "/ckpt/away").ok());
  const RestoreOptions waiting{
      .saver = saver_, .checkpoint_dir = "/ckpt", .wait_for_checkpoint = true, .max_wait = seconds(3)};
  for (const auto& manager : managers_) {
    EXPECT_EQ(Outcome(manager->Prepare({}, waiting, {})),
              "USAGE: Model is not initialized and no init_op or init_fn or local_init_op was given");
  }
  ASSERT_TRUE(fake_.files.Rename("/ckpt/away", "/ckpt/checkpoint").ok());
  for (const auto& manager : managers_) EXPECT_EQ(Outcome(manager->Prepare({}, waiting, {})), "1");
}

TEST_F(ObsoleteSessionManagerTest, RecoverRestores) {
  for (const auto& manager : managers_) EXPECT_EQ(Recovered(*manager), "not initialized FAILED_PRECONDITION");
  Save();
  for (const auto& manager : managers_) EXPECT_EQ(Recovered(*manager), "initialized 1");
}

TEST_F(ObsoleteSessionManagerTest, WaitingGivesUp) {
  for (const auto& manager : managers_) {
    EXPECT_EQ(Outcome(manager->WaitForSession({}, seconds(3))),
              "DEADLINE_EXCEEDED: Session was not ready after waiting 3 secs.");
  }
}

TEST_F(ObsoleteSessionManagerTest, AReadyOpThatSaysNeitherIsRefused) {
  const Output number = b_.Const("number", Tensor::Scalar<std::int64_t>(1));
  const auto manager =
      SessionManager::Create(env(), graph_, std::make_shared<DirectSessionFactory>(env()), {.ready_op = number});
  ASSERT_TRUE(manager.ok()) << manager.status();
  EXPECT_EQ(Outcome((*manager)->Prepare({}, {}, {.init_op = init_})),
            "USAGE: The ready op 'number' must give the names of what is not initialized (strings), not int64.");
}

}  // namespace
}  // namespace vigil
