// The model that TensorFlow was recorded with, on the real ops and the direct session: what a run changes and what it
// does not. (This folder is the lowest that sees ops, sessions and savers.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::HasSubstr;

class RecordedModelTest : public testing::Test {
 protected:
  RecordedModelTest() : graph_(BuiltinOps()), b_(graph_) {
    step_ = ops::MakeVariable(b_, "global_step", Number("zero", 0));
    fed_from_ = ops::PlaceholderWithDefault(b_, "feed_me", Number("feed_me/input", 0));
    fed_ = ops::Identity(b_, "fed", fed_from_);
  }
  // The train op: after `input` (if there is one) and the read of the step.
  void Finish(std::optional<Output> input, std::int64_t steps_per_run = 1) {
    b_.control_inputs = {step_.read.node};
    if (input.has_value()) b_.control_inputs.push_back(input->node);
    train_ = ops::AssignAdd(b_, "train", step_.ref, Number("train/value", steps_per_run));
    b_.control_inputs.clear();
    std::vector<Output> all = graph_.Collection(kGlobalVariables);
    const std::vector<Output>& locals = graph_.Collection(kLocalVariables);
    all.insert(all.end(), locals.begin(), locals.end());
    init_ = ops::VariablesInitializer(b_, "init", all).node;
    ready_ = ops::ReportUninitializedVariables(b_, "ready", all);
    ASSERT_TRUE(b_.status().ok()) << b_.status();
    graph_.Finalize();
    session_ = NewDirectSession(fake_.env(), graph_);
  }
  Output Number(const std::string& name, std::int64_t value) {
    return b_.Const(name, Tensor::Scalar<std::int64_t>(value));
  }
  std::string Fetch(std::vector<Output> fetches, std::optional<std::int64_t> fed = std::nullopt) {
    RunSpec spec{.fetches = std::move(fetches)};
    std::vector<Tensor> values;
    if (fed.has_value()) {
      spec.feeds = {fed_from_};
      values = {Tensor::Scalar<std::int64_t>(*fed)};
    }
    std::vector<Tensor> fetched;
    const absl::Status status = session_->Run({.spec = spec, .feed_values = values}, &fetched);
    if (!status.ok()) return std::string(CodeName(CodeOf(status)));
    std::string out;
    for (const Tensor& each : fetched) {
      double number = 0;
      out += (out.empty() ? "" : " ") +
             (each.AsNumber(&number) ? std::to_string(static_cast<int>(number)) : each.Describe());
    }
    return out;
  }
  void Init() { ASSERT_TRUE(RunTarget(*session_, init_).ok()); }

  fakes::FakeEnv fake_;
  Graph graph_;
  Builder b_;
  ops::Variable step_;
  Output fed_from_, fed_, train_, ready_;
  NodeId init_ = kNoNode;
  std::unique_ptr<Session> session_;
};

TEST_F(RecordedModelTest, StepsAndFeeds) {
  Finish(std::nullopt, 3);
  EXPECT_EQ(Fetch({ready_}), "string [1]");
  EXPECT_EQ(Fetch({train_, fed_}), "FAILED_PRECONDITION");
  Init();
  EXPECT_EQ(Fetch({ready_}), "string [0]");
  EXPECT_EQ(Fetch({train_, fed_}), "3 0");
  EXPECT_EQ(Fetch({train_, fed_}, 7), "6 7");
  EXPECT_EQ(Fetch({train_, step_.read}), "9 6");  // the read of the same run is the step before it
  EXPECT_EQ(Fetch({step_.ref}), "9");
}

TEST_F(RecordedModelTest, ARunWithoutABatchChangesNothing) {
  Finish(ops::RangeIterator(b_, "input", 2));
  Init();
  EXPECT_EQ(Fetch({train_}), "1");
  EXPECT_EQ(Fetch({fed_}), "0");  // takes no batch
  EXPECT_EQ(Fetch({train_}), "2");
  EXPECT_EQ(Fetch({train_}), "OUT_OF_RANGE");
  EXPECT_EQ(Fetch({step_.read}), "2");
  session_ = NewDirectSession(fake_.env(), graph_);  // a new session, a new input
  Init();
  EXPECT_EQ(Fetch({train_}), "1");
}

TEST_F(RecordedModelTest, AQueueFilledByATask) {
  const ops::Queue queue = ops::FifoQueue(b_, "input_producer", 32);
  const Output numbers = b_.Const("numbers", Tensor::Vector<std::int64_t>({0, 1}));
  const Output once = ops::LimitEpochs(b_, "limit_epochs", numbers, 1);
  const NodeId enqueue = ops::EnqueueMany(b_, "enqueue", queue, once);
  Finish(ops::Dequeue(b_, "dequeue", queue));
  Init();
  const std::unique_ptr<Task> runner = fake_.tasks.Spawn("runner", [&] {
    while (RunTarget(*session_, enqueue).ok()) {
    }
    EXPECT_TRUE(RunTarget(*session_, queue.close).ok());
  });
  EXPECT_EQ(Fetch({train_}), "1");
  EXPECT_EQ(Fetch({train_}), "2");
  EXPECT_EQ(Fetch({train_}), "OUT_OF_RANGE");
  EXPECT_EQ(Fetch({step_.read}), "2");
  EXPECT_TRUE(runner->Join(kNever));
}

TEST_F(RecordedModelTest, ASummaryOfWhatTrainsShowsTheStepAfterIt) {
  Finish(std::nullopt);
  graph_.Unfinalize();
  const Output two = Number("two", 2);
  const Output reached = b_.Op("GreaterEqual", {train_, two});
  const Output loss = b_.Op(
      "SelectV2", {reached, b_.Const("bad", Tensor::Scalar<float>(9)), b_.Const("good", Tensor::Scalar<float>(1))});
  graph_.Finalize();
  Init();
  EXPECT_EQ(Fetch({loss, step_.ref}), "1 1");
  EXPECT_EQ(Fetch({loss, step_.ref}), "9 2");
}

TEST_F(RecordedModelTest, ASavedStepIsRestoredAndNoSavingHappensMidway) {
  Finish(std::nullopt);
  graph_.Unfinalize();
  Saver saver(fake_.env());
  ASSERT_TRUE(saver.Build(graph_).ok());
  graph_.Finalize();
  ASSERT_TRUE(fake_.files.MakeDirectory("/d").ok());
  Init();
  EXPECT_EQ(Fetch({train_}), "1");
  ASSERT_TRUE(saver.Save(*session_, "/d/m", 1).ok());
  EXPECT_EQ(Fetch({train_}), "2");
  ASSERT_TRUE(saver.Restore(*session_, "/d/m-1").ok());
  EXPECT_EQ(Fetch({train_}), "2");
}

}  // namespace
}  // namespace vigil
