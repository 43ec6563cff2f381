// How synchronous training ends, recovers and waits, by TensorFlow's behaviour and by ours. What is expected of
// TensorFlow was seen with TensorFlow 2.21: a chief and a worker over a parameter server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/core/train/optimizers/testing.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kTokensEnded[] =
    "OUT_OF_RANGE: FIFOQueue 'sync_token_q' is closed and has insufficient elements (requested 1, current size 0)\n"
    "\t [[{{node sync_token_q_Dequeue}}]]";

// Our behaviour without one of its switches.
Behaviour Without(bool Behaviour::*off) {
  Behaviour behaviour = Behaviour::Default();
  behaviour.*off = false;
  return behaviour;
}

// Fails the run after it was made, once.
class AbortOnce : public SessionRunHook {
 public:
  absl::Status AfterRun(RunContext&, const RunValues&) override {
    return --runs_left_ == 0 ? MakeStatus(Code::kAborted, "preempted") : absl::OkStatus();
  }
  void AbortAfter(int runs) { runs_left_ = runs; }

 private:
  int runs_left_ = 0;
};

// Keeps the coordinator of the newest session.
class KeepCoordinator : public SessionRunHook {
 public:
  absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>& coord) override {
    newest = coord;
    return absl::OkStatus();
  }
  std::shared_ptr<Coordinator> newest;
};

// A chief and a worker.
class SyncReplicasEndsTest : public testing::Test {
 protected:
  ~SyncReplicasEndsTest() override { fake_.tasks.EndAll(); }
  void Open(const Behaviour& behaviour, int num_tokens, int aggregate = 2) {
    ReplicaOptions options{
        .aggregate = aggregate, .total = aggregate, .num_tokens = num_tokens, .behaviour = behaviour};
    worker_ = std::make_unique<SyncReplica>(fake_.env(), resources_, 1, options);
    options.more_hooks = {abort_, keep_};
    chief_ = std::make_unique<SyncReplica>(fake_.env(), resources_, 0, options);
    ASSERT_EQ(Text(chief_->Open()), "OK");
    ASSERT_EQ(Text(worker_->Open()), "OK");
    fake_.tasks.RunReady();
  }
  void StartWorker(float gradient) {
    tasks_.push_back(
        fake_.tasks.Spawn("worker", [this, gradient] { lines_.push_back(Text(worker_->Step(gradient))); }));
    fake_.tasks.RunReady();
  }
  void StartChief(float gradient) {
    tasks_.push_back(fake_.tasks.Spawn("chief", [this, gradient] { lines_.push_back(Text(chief_->Step(gradient))); }));
    fake_.tasks.RunReady();
  }
  // How long that takes.
  Duration CloseChief() {
    const Time start = fake_.clock.Monotonic();
    EXPECT_EQ(Text(chief_->session->Close()), "OK");
    const Duration taken = fake_.clock.Monotonic() - start;
    fake_.tasks.RunReady();
    return taken;
  }
  // The same chief in a new process, the servers living on.
  std::string RestartChief(const Behaviour& behaviour, int num_tokens) {
    chief_ = std::make_unique<SyncReplica>(fake_.env(), resources_, 0,
                                           ReplicaOptions{.num_tokens = num_tokens, .behaviour = behaviour});
    const std::string opened = Text(chief_->Open());
    fake_.tasks.RunReady();
    return opened;
  }

  fakes::FakeEnv fake_;
  std::shared_ptr<ResourceManager> resources_ = std::make_shared<ResourceManager>(fake_.env());
  std::shared_ptr<AbortOnce> abort_ = std::make_shared<AbortOnce>();
  std::shared_ptr<KeepCoordinator> keep_ = std::make_shared<KeepCoordinator>();
  std::vector<std::string> lines_;
  std::unique_ptr<SyncReplica> chief_;
  std::unique_ptr<SyncReplica> worker_;
  std::vector<std::unique_ptr<Task>> tasks_;
};

// The chief's task waits for gradients, which only the end of the session ends: close takes the whole grace period.
TEST_F(SyncReplicasEndsTest, InTensorFlowAStopLeavesTheChiefsTaskWaiting) {
  Open(Behaviour::TensorFlow(), 0);
  StartWorker(1);
  EXPECT_EQ(CloseChief(), 120s + 1ms);
  EXPECT_THAT(lines_, ElementsAre(kTokensEnded));  // its stop closes the queue
}

TEST_F(SyncReplicasEndsTest, AStopEndsTheWaitOfTheChiefsTask) {
  Open(Behaviour::Default(), 0);
  StartWorker(1);
  EXPECT_EQ(CloseChief(), 0s);
  EXPECT_THAT(lines_, ElementsAre(kTokensEnded));
  EXPECT_EQ(worker_->Value(worker_->v), "1 2");
}

TEST_F(SyncReplicasEndsTest, ThatIsTheSwitchSyncStopCancels) {
  Open(Without(&Behaviour::sync_stop_cancels), 0);
  EXPECT_EQ(CloseChief(), 120s + 1ms);
}

// The stop of a recovery closes the queue of tokens too, and nobody opens it again: the worker takes it for the end of
// the training, the chief fails.
TEST_F(SyncReplicasEndsTest, InTensorFlowARecoveryOfTheChiefEndsTheTraining) {
  Open(Behaviour::TensorFlow(), 2);
  ASSERT_EQ(Text(worker_->Step(1)), "OK");
  abort_->AbortAfter(1);
  EXPECT_EQ(Text(chief_->Step(3)),
            "CANCELLED: FIFOQueue 'sync_token_q' is closed.\n\t [[{{node sync_token_q_EnqueueMany_1}}]]");
  while (worker_->Tokens() != "0") ASSERT_EQ(Text(worker_->Step(1)), "OK");
  EXPECT_EQ(Text(worker_->Step(1)), kTokensEnded);
}

TEST_F(SyncReplicasEndsTest, ARecoveryOfTheChiefLeavesTheTrainingAsItIs) {
  Open(Behaviour::Default(), 2);
  abort_->AbortAfter(1);
  EXPECT_EQ(Text(chief_->Step(3)), "OK");  // repeated in a new session, in which the model begins anew
  EXPECT_EQ(chief_->session->recoveries(), 1);
  fake_.tasks.RunReady();
  // Two tokens, not two more; what the first attempt pushed still counts, so the repeated run completes a step.
  EXPECT_EQ(chief_->Value(chief_->step), "1");
  EXPECT_EQ(chief_->Tokens(), "3");
  StartWorker(1);
  StartWorker(1);
  EXPECT_THAT(lines_, ElementsAre("OK", "OK"));
}

TEST_F(SyncReplicasEndsTest, ThatIsTheSwitchSyncTokensRenewed) {
  Open(Without(&Behaviour::sync_tokens_renewed), 2);
  abort_->AbortAfter(1);
  EXPECT_EQ(Text(chief_->Step(3)),
            "CANCELLED: FIFOQueue 'sync_token_q' is closed.\n\t [[{{node sync_token_q_EnqueueMany_1}}]]");
}

// A chief that ended, and is started again while the parameter server lives on.
TEST_F(SyncReplicasEndsTest, AChiefThatComesBackOpensTheQueue) {
  Open(Behaviour::Default(), -1);
  CloseChief();
  EXPECT_EQ(RestartChief(Behaviour::Default(), -1), "OK");
  EXPECT_EQ(chief_->Tokens(), "2");
  CloseChief();
  EXPECT_EQ(RestartChief(Behaviour::Default(), 0), "OK");
  EXPECT_EQ(chief_->Tokens(), "0");
  StartWorker(1);
  EXPECT_EQ(Text(chief_->Step(3)), "OK");
  EXPECT_EQ(chief_->Value(chief_->v), "-1 0");
  CloseChief();
  EXPECT_EQ(RestartChief(Behaviour::TensorFlow(), -1),
            "CANCELLED: FIFOQueue 'sync_token_q' is closed.\n\t [[{{node sync_token_q_EnqueueMany_1}}]]");
}

// A gradient that waits for the others survives the chief's absence; the tokens are not more than before.
TEST_F(SyncReplicasEndsTest, WhoWaitsForATokenGetsOneFromTheChiefThatComesBack) {
  Open(Behaviour::Default(), 0);
  StartWorker(1);
  chief_->session.reset();  // leaves without an end: nothing is closed
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, IsEmpty());
  EXPECT_EQ(RestartChief(Behaviour::Default(), -1), "OK");
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, ElementsAre("OK"));
  EXPECT_EQ(chief_->Tokens(), "1");
}

// The task that makes the tokens meets a server that is gone. (In TensorFlow its stop closes the queue of tokens, which
// ends the run, and the training of the others.)
TEST_F(SyncReplicasEndsTest, AFailureOfTheChiefsTaskWakesTheChiefAlone) {
  Open(Behaviour::Default(), 0, 3);
  StartWorker(1);
  StartChief(3);
  EXPECT_THAT(lines_, IsEmpty()) << "two gradients of three";
  EXPECT_TRUE(keep_->newest->RequestStop(MakeStatus(Code::kUnavailable, "a server is gone")).ok());
  fake_.tasks.RunReady();
  fake_.clock.Advance(2s);  // the pause of a recovery
  fake_.tasks.RunReady();
  EXPECT_EQ(chief_->session->recoveries(), 1);
  // Its repeated run pushes the third, and both get a token. Who waited was not disturbed.
  EXPECT_THAT(lines_, testing::UnorderedElementsAre("OK", "OK"));
}

TEST_F(SyncReplicasEndsTest, ThatIsTheSwitchSyncFailureWakes) {
  Open(Without(&Behaviour::sync_failure_wakes), 0);
  StartChief(3);
  EXPECT_TRUE(keep_->newest->RequestStop(MakeStatus(Code::kUnavailable, "a server is gone")).ok());
  fake_.tasks.RunReady();
  fake_.clock.Advance(25min);
  fake_.tasks.RunReady();
  EXPECT_EQ(chief_->session->recoveries(), 0);
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(SyncReplicasEndsTest, AReplicaWaitsForTheOthersUpToHalfAnHour) {
  Open(Behaviour::Default(), 0);
  StartWorker(1);
  fake_.clock.Advance(30min - 1ms);
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, IsEmpty());
  fake_.clock.Advance(1ms);
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, ElementsAre("DEADLINE_EXCEEDED: Timed out waiting for notification\n\t [[{{node "
                                  "sync_token_q_Dequeue}}]]"));
}

TEST_F(SyncReplicasEndsTest, ThatIsTheSwitchSyncBoundedWait) {
  Open(Without(&Behaviour::sync_bounded_wait), 0);
  StartWorker(1);
  fake_.clock.Advance(24h);
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, IsEmpty());
}

}  // namespace
}  // namespace vigil
