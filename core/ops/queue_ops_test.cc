#include <gmock/gmock.h>

#include "vigil/core/ops/fifo_queue.h"
#include "vigil/core/ops/testing.h"
#include "vigil/core/ops/training.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;

// Each task writes a line when its node has run: "put OK".
class QueueOpsTest : public OpsTest<fakes::FakeEnv> {
 protected:
  // Starts to run a node in a task of its own.
  void Start(const std::string& name, NodeId node, Time deadline = kNever) {
    tasks_.push_back(fake_.tasks.Spawn(
        name, [this, name, node, deadline] { lines_.push_back(name + " " + vigil::Show(Run(node, deadline))); }));
    fake_.tasks.RunReady();
  }
  NodeId Put(std::vector<std::int64_t> values) {
    return ops::EnqueueMany(b_, "enqueue", queue_, Vec<std::int64_t>(std::move(values)));
  }
  std::string Size() { return Show(b_.Op("QueueSizeV2", {queue_.handle})); }

  const ops::Queue queue_ = ops::FifoQueue(b_, "q", 2);
  const Output take_ = ops::Dequeue(b_, "take", queue_);
  std::vector<std::string> lines_;
  std::vector<std::unique_ptr<Task>> tasks_;
};

TEST_F(QueueOpsTest, GivesBackInOrder) {
  ASSERT_EQ(vigil::Show(Run(Put({1, 2}))), "OK");
  EXPECT_EQ(Size(), "int32 [] 2");
  EXPECT_EQ(Show(take_), "int64 [] 1");
  EXPECT_EQ(Show(take_), "int64 [] 2");
  EXPECT_EQ(Size(), "int32 [] 0");
}

TEST_F(QueueOpsTest, AClosedQueueGivesWhatItHasAndEnds) {
  ASSERT_EQ(vigil::Show(Run(Put({1}))), "OK");
  ASSERT_EQ(vigil::Show(Run(queue_.close)), "OK");
  EXPECT_EQ(vigil::Show(Run(Put({2}))), "CANCELLED: FIFOQueue '_0_q' is closed.");
  EXPECT_EQ(vigil::Show(Run(queue_.close)), "CANCELLED: Queue '_0_q' is already closed.");
  EXPECT_EQ(Show(take_), "int64 [] 1");
  EXPECT_EQ(Show(take_),
            "OUT_OF_RANGE: FIFOQueue '_0_q' is closed and has insufficient elements (requested 1, current size 0)");
}

TEST_F(QueueOpsTest, WhoPutsInWaitsForRoom) {
  Start("put", Put({1, 2, 3, 4}));
  EXPECT_TRUE(lines_.empty());
  EXPECT_EQ(Size(), "int32 [] 2");
  EXPECT_EQ(Show(take_), "int64 [] 1");
  fake_.tasks.RunReady();
  EXPECT_TRUE(lines_.empty());
  EXPECT_EQ(Show(take_), "int64 [] 2");
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, ElementsAre("put OK"));
  EXPECT_EQ(Show(take_), "int64 [] 3");
}

TEST_F(QueueOpsTest, WhoTakesOutWaitsForAnElementFirstComeFirstServed) {
  Start("first", take_.node);
  Start("second", take_.node);
  ASSERT_EQ(vigil::Show(Run(Put({1}))), "OK");
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, ElementsAre("first OK"));
  ASSERT_EQ(vigil::Show(Run(queue_.close)), "OK");
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, ElementsAre("first OK",
                                  "second OUT_OF_RANGE: FIFOQueue '_0_q' is closed and has insufficient elements "
                                  "(requested 1, current size 0)"));
}

TEST_F(QueueOpsTest, APlainCloseLetsInWhatWaitedBefore) {
  Start("put", Put({1, 2, 3}));
  Start("close", queue_.close);
  EXPECT_TRUE(lines_.empty());
  EXPECT_EQ(resources_.InLine(), 2u);
  EXPECT_EQ(Show(take_), "int64 [] 1");
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, ElementsAre("put OK", "close OK"));
  EXPECT_EQ(resources_.InLine(), 0u);
  EXPECT_EQ(Show(take_), "int64 [] 2");
  EXPECT_EQ(Show(take_), "int64 [] 3");
}

TEST_F(QueueOpsTest, ACancellingCloseEndsWhatWaits) {
  Start("put", Put({1, 2, 3}));
  ASSERT_EQ(vigil::Show(Run(queue_.cancel)), "OK");
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, ElementsAre("put CANCELLED: Enqueue operation was cancelled"));
  EXPECT_EQ(Show(take_), "int64 [] 1");
  EXPECT_EQ(vigil::Show(Run(queue_.cancel)), "OK");  // again, harmless
}

TEST_F(QueueOpsTest, ACancelledRunEnds) {
  Start("take", take_.node);
  cancellation_.Cancel();
  EXPECT_TRUE(lines_.empty());
  resources_.CancelAll();
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, ElementsAre("take CANCELLED: Dequeue operation was cancelled"));
}

TEST_F(QueueOpsTest, ARunWithADeadlineEnds) {
  EXPECT_EQ(vigil::Show(Run(take_.node, DeadlineAfter(fake_.env(), std::chrono::seconds(3)))),
            "DEADLINE_EXCEEDED: Timed out waiting for notification");
  EXPECT_EQ(fake_.clock.Monotonic().since_epoch, std::chrono::seconds(3));
  ASSERT_EQ(vigil::Show(Run(Put({1}))), "OK");  // it left the line
  EXPECT_EQ(Show(take_), "int64 [] 1");
}

TEST_F(QueueOpsTest, DequeueManyTakesAllOrNothing) {
  const std::vector<DType> types{DType::kInt64};
  const Output many =
      b_.Op("QueueDequeueManyV2", {queue_.handle, Scalar<std::int32_t>(3)}, {.attrs = {{"component_types", types}}});
  Start("put", Put({1, 2, 3, 4}));
  EXPECT_EQ(Show(many), "int64 [3] 1 2 3");  // more than fit in at once
  fake_.tasks.RunReady();
  ASSERT_EQ(vigil::Show(Run(queue_.close)), "OK");
  EXPECT_EQ(Show(many),
            "OUT_OF_RANGE: FIFOQueue '_0_q' is closed and has insufficient elements (requested 3, current size 1)");
  EXPECT_EQ(Show(take_), "int64 [] 4");
}

TEST_F(QueueOpsTest, WhoStandsBehindOneThatGivesUpGetsWhatThatHeld) {
  const std::vector<DType> types{DType::kInt64};
  const Output many =
      b_.Op("QueueDequeueManyV2", {queue_.handle, Scalar<std::int32_t>(3)}, {.attrs = {{"component_types", types}}});
  Start("put", Put({1, 2}));
  Start("many", many.node, DeadlineAfter(fake_.env(), std::chrono::seconds(3)));
  Start("behind", take_.node);
  EXPECT_THAT(lines_, ElementsAre("put OK"));
  EXPECT_TRUE(tasks_.back()->Join(DeadlineAfter(fake_.env(), std::chrono::seconds(4))));
  EXPECT_THAT(lines_, ElementsAre("put OK", "many DEADLINE_EXCEEDED: Timed out waiting for notification", "behind OK"));
  EXPECT_EQ(Show(take_), "int64 [] 2");
}

TEST_F(QueueOpsTest, ARenewingEnqueueOpensTheQueueAndReplacesWhatIsInIt) {
  const auto renew = [this](std::vector<std::int64_t> values) {
    return vigil::Show(Run(b_.Op("QueueEnqueueManyV2", {queue_.handle, Vec<std::int64_t>(std::move(values))},
                                 {.attrs = {{std::string(ops::kRenewsQueue), true}}})
                               .node));
  };
  ASSERT_EQ(vigil::Show(Run(Put({1, 2}))), "OK");
  EXPECT_EQ(renew({3}), "OK");
  EXPECT_EQ(Size(), "int32 [] 1");
  ASSERT_EQ(vigil::Show(Run(queue_.cancel)), "OK");
  EXPECT_EQ(renew({4, 5}), "OK");
  EXPECT_EQ(Show(take_), "int64 [] 4");
  EXPECT_EQ(renew({}), "OK");
  EXPECT_EQ(Size(), "int32 [] 0");
}

TEST_F(QueueOpsTest, ElementsAreTuplesOfAnyShape) {
  const std::vector<DType> types{DType::kFloat, DType::kString};
  const Output queue = b_.Op("FIFOQueueV2", {}, {.name = "pairs", .attrs = {{"component_types", types}}});
  const auto put = [&](Output a, Output b) { return vigil::Show(Run(b_.Op("QueueEnqueueV2", {queue, a, b}).node)); };
  EXPECT_EQ(put(Vec<float>({1, 2}), Scalar<std::string>("x")), "OK");
  EXPECT_EQ(put(Scalar<std::string>("x"), Vec<float>({1, 2})),
            "INVALID_ARGUMENT: Type mismatch in tuple component 0. Expected float, got string");
  const Output pair = b_.Op("QueueDequeueV2", {queue}, {.attrs = {{"component_types", types}}});
  EXPECT_EQ(Show(Output{pair.node, 0}), "float [2] 1 2");
  ASSERT_EQ(put(Vec<float>({3}), Scalar<std::string>("y")), "OK");
  EXPECT_EQ(Show(Output{pair.node, 1}), "string [] y");
}

TEST_F(QueueOpsTest, WhatComesOutMustBeWhatTheNodePromises) {
  const std::vector<DType> types{DType::kFloat};
  const Output wrong =
      b_.Op("QueueDequeueV2", {queue_.handle}, {.name = "wrong", .attrs = {{"component_types", types}}});
  EXPECT_EQ(Show(wrong), "INVALID_ARGUMENT: The component types of 'wrong' are not those of its queue 'q'");
}

TEST_F(QueueOpsTest, RefusesWhatDoesNotFit) {
  const auto put = [this](const std::string& op, std::vector<Output> components) {
    components.insert(components.begin(), queue_.handle);
    return vigil::Show(Run(b_.Op(op, components).node));
  };
  EXPECT_EQ(put("QueueEnqueueV2", {Scalar<std::int64_t>(1), Scalar<std::int64_t>(2)}),
            "INVALID_ARGUMENT: Wrong number of components in tuple. Expected 1, got 2");
  EXPECT_EQ(put("QueueEnqueueV2", {Scalar<float>(1)}),
            "INVALID_ARGUMENT: Type mismatch in tuple component 0. Expected int64, got float");
  EXPECT_EQ(put("QueueEnqueueManyV2", {Scalar<std::int64_t>(1)}),
            "INVALID_ARGUMENT: All components must have the same size in dimension 0; component 0 has shape []");
  EXPECT_EQ(Size(), "int32 [] 0") << "nothing of it is in the queue";
}

TEST_F(QueueOpsTest, QueuesOfOneSharedNameAreAlike) {
  const auto queue = [this](std::vector<DType> types, std::int64_t capacity) {
    return b_.Op(
        "FIFOQueueV2", {},
        {.attrs = {{"component_types", std::move(types)}, {"capacity", capacity}, {"shared_name", std::string("s")}}});
  };
  const Output one = queue({DType::kInt64}, 5);
  const Output two = queue({DType::kInt64, DType::kInt64}, 5);
  const Output other = queue({DType::kFloat}, 5);
  const Output larger = queue({DType::kInt64}, 6);
  const Output number = Scalar<std::int64_t>(1);
  ASSERT_EQ(vigil::Show(Run(b_.Op("QueueEnqueueV2", {one, number}).node)), "OK");
  EXPECT_EQ(vigil::Show(Run(b_.Op("QueueEnqueueV2", {two, number, number}).node)),
            "INVALID_ARGUMENT: Shared queue 's' has component types [int64] but requested component types were [int64, "
            "int64]");
  EXPECT_EQ(
      Show(b_.Op("QueueDequeueV2", {other}, {.attrs = {{"component_types", std::vector<DType>{DType::kFloat}}}})),
      "INVALID_ARGUMENT: Shared queue 's' has component types [int64] but requested component types were [float]");
  EXPECT_EQ(Show(b_.Op("QueueSizeV2", {larger})),
            "INVALID_ARGUMENT: Shared queue 's' has capacity 5 but requested capacity was 6");
  EXPECT_EQ(Show(b_.Op("QueueSizeV2", {queue({DType::kInt64}, 5)})), "int32 [] 1");
}

TEST_F(QueueOpsTest, QueuesOfOneSharedNameShuffleAlike) {
  const auto queue = [this](const std::string& op, Attrs attrs = {}) {
    attrs.insert({{"component_types", std::vector<DType>{DType::kInt64}},
                  {"capacity", std::int64_t{5}},
                  {"shared_name", op.front() == 'F' ? std::string("f") : std::string("r")}});
    return b_.Op("QueueSizeV2", {b_.Op(op, {}, {.attrs = std::move(attrs)})});
  };
  const auto shuffles = [&](std::int64_t kept, std::int64_t seed, std::string name = "r") {
    return queue("RandomShuffleQueueV2",
                 {{"min_after_dequeue", kept}, {"seed", seed}, {"seed2", seed}, {"shared_name", std::move(name)}});
  };
  ASSERT_EQ(Show(queue("FIFOQueueV2")), "int32 [] 0");
  ASSERT_EQ(Show(shuffles(2, 7)), "int32 [] 0");
  EXPECT_EQ(Show(shuffles(2, 7)), "int32 [] 0");
  EXPECT_EQ(Show(shuffles(2, 0)), "int32 [] 0") << "who names no seeds takes any";
  EXPECT_EQ(Show(shuffles(3, 7)),
            "INVALID_ARGUMENT: Shared queue 'r' has min_after_dequeue 2 but requested min_after_dequeue was 3");
  EXPECT_EQ(Show(shuffles(2, 8)),
            "INVALID_ARGUMENT: Shared queue 'r' has random seeds (7, 7) but requested seeds are (8, 8)");
  EXPECT_THAT(
      Show(shuffles(2, 7, "f")),
      testing::StartsWith("INVALID_ARGUMENT: Shared queue 'f' has type 'FIFOQueue' that does not match type of"));
}

TEST_F(QueueOpsTest, WhoRenewsAQueueMakesRoomForWhoStandsBefore) {
  const Output renew = b_.Op("QueueEnqueueManyV2", {queue_.handle, Vec<std::int64_t>({4})},
                             {.attrs = {{std::string(ops::kRenewsQueue), true}}});
  Start("put", Put({1, 2, 3}));
  Start("renew", renew.node);
  EXPECT_THAT(lines_, ElementsAre("put OK", "renew OK"));
  EXPECT_EQ(Show(take_), "int64 [] 3");
  EXPECT_EQ(Show(take_), "int64 [] 4");
}

TEST_F(QueueOpsTest, AQueueThatIsOpenedAgainKeepsWhatItHas) {
  const Output open = b_.Op("QueueSizeV2", {queue_.handle}, {.attrs = {{std::string(ops::kOpensQueue), true}}});
  ASSERT_EQ(vigil::Show(Run(Put({1}))), "OK");
  ASSERT_EQ(vigil::Show(Run(queue_.close)), "OK");
  EXPECT_EQ(Show(open), "int32 [] 1");
  EXPECT_EQ(vigil::Show(Run(Put({2}))), "OK");
  EXPECT_EQ(Show(take_), "int64 [] 1");
  EXPECT_EQ(Show(take_), "int64 [] 2");
}

TEST_F(QueueOpsTest, ATakerIsStoppedUntilTheQueueIsRenewed) {
  const auto take = [&](const std::string& taker) {
    return b_.Op(
        "QueueDequeueV2", {queue_.handle},
        {.attrs = {{"component_types", std::vector<DType>{DType::kInt64}}, {std::string(ops::kTaker), taker}}});
  };
  const Output mine = take("me");
  const Output stop =
      b_.Op("QueueSizeV2", {queue_.handle}, {.attrs = {{std::string(ops::kStopsTaker), std::string("me")}}});
  Start("mine", mine.node);
  Start("other", take("you").node);
  Start("nameless", take_.node);
  EXPECT_EQ(Show(stop), "int32 [] 0");
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, ElementsAre("mine ABORTED: Dequeue operation of 'me' was stopped"));
  EXPECT_EQ(Show(mine), "ABORTED: Dequeue operation of 'me' was stopped") << "also who comes later";
  ASSERT_EQ(vigil::Show(Run(Put({1, 2}))), "OK");
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, ElementsAre("mine ABORTED: Dequeue operation of 'me' was stopped", "other OK", "nameless OK"));
  ASSERT_EQ(vigil::Show(Run(Put({3}))), "OK");
  EXPECT_EQ(Show(mine), "int64 [] 3") << "who need not wait";
  const Output renew = b_.Op("QueueEnqueueManyV2", {queue_.handle, Vec<std::int64_t>({4})},
                             {.attrs = {{std::string(ops::kRenewsQueue), true}}});
  ASSERT_EQ(vigil::Show(Run(renew.node)), "OK");
  EXPECT_EQ(Show(mine), "int64 [] 4");
  lines_.clear();
  Start("mine", mine.node);
  EXPECT_TRUE(lines_.empty()) << "it waits again";
}

TEST_F(QueueOpsTest, ElementsWithoutValuesAreCounted) {
  const Output handle = b_.Op("FIFOQueueV2", {}, {.attrs = {{"component_types", std::vector<DType>{DType::kFloat}}}});
  const Output many = b_.Const("c", Tensor(DType::kFloat, Shape({std::int64_t{1} << 40, 0})));
  EXPECT_EQ(
      vigil::Show(Run(b_.Op("QueueEnqueueManyV2", {handle, many}).node)),
      "RESOURCE_EXHAUSTED: 1099511627776 elements without a value are too many to enqueue at once (at most 1048576)");
}

}  // namespace
}  // namespace vigil
