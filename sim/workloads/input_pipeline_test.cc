#include "vigil/sim/workloads/input_pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "vigil/core/base/code.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/fakes/fake_env.h"

namespace vigil::sim {
namespace {

constexpr std::int64_t kLimit = 100;

std::vector<std::int64_t> AllNumbers() {
  std::vector<std::int64_t> numbers(kLimit);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

struct PipelineMember {
  Graph graph{BuiltinOps()};
  InputPipeline model;
  std::unique_ptr<MonitoredSession> session;
  std::vector<std::int64_t> taken;
  std::int64_t steps = 0;

  // Until the numbers end.
  absl::Status Train() {
    return WithSession(*session, [this](MonitoredSession& s) -> absl::Status {
      while (true) {
        const auto result = s.Run(Fetches::List({model.train_op, model.number, model.numbers}));
        if (!result.ok()) return result.status();
        const Tensor all = result->values()[2].tensor();
        const auto numbers = all.flat<std::int64_t>();
        const auto first = result->values()[1].scalar<std::int64_t>();
        EXPECT_EQ(first, numbers.front());
        taken.insert(taken.end(), numbers.begin(), numbers.end());
        ++steps;
      }
    });
  }
};

class InputPipelineTest : public testing::Test {
 protected:
  ~InputPipelineTest() override { fake_.tasks.EndAll(); }
  void Open(PipelineMember& member, const std::string& job, const InputPipelineOptions& options) {
    Builder b(member.graph);
    const auto cluster = ClusterSpec::Create({{"chief", std::vector<std::string>{"c:1"}},
                                              {"worker", std::vector<std::string>{"w:1"}},
                                              {"ps", std::vector<std::string>{"p:1", "p:2"}}});
    const auto model = BuildInputPipeline(fake_.env(), b, {.cluster = *cluster, .job = job}, options);
    ASSERT_TRUE(model.ok()) << model.status();
    member.model = *model;
    auto session = MonitoredTrainingSession(fake_.env(), member.graph,
                                            {.is_chief = job == "chief",
                                             .factory = std::make_shared<DirectSessionFactory>(
                                                 fake_.env(), DirectSessionOptions{.shared_resources = resources_})});
    ASSERT_TRUE(session.ok()) << session.status();
    member.session = *std::move(session);
  }
  Tensor ValueOf(const PipelineMember& member, Output variable) {
    const auto session = NewDirectSession(fake_.env(), member.graph, {.shared_resources = resources_});
    return *RunFetch(*session, variable);
  }

  fakes::FakeEnv fake_;
  std::shared_ptr<ResourceManager> resources_ = std::make_shared<ResourceManager>(fake_.env());
  PipelineMember chief_;
  PipelineMember worker_;
};

TEST_F(InputPipelineTest, TakesEachNumberOnceInOrderAndEndsCleanly) {
  Open(chief_, "chief", {.limit = kLimit, .capacity = 4});
  EXPECT_EQ(chief_.graph.node(chief_.model.queue.node).device, "/job:chief/task:0");
  EXPECT_EQ(chief_.graph.node(chief_.model.sum.ref.node).device, "/job:ps/task:0");
  EXPECT_EQ(chief_.graph.node(*chief_.graph.Find("input/counter")).device, "/job:chief/task:0");
  const absl::Status trained = chief_.Train();
  EXPECT_TRUE(trained.ok()) << trained;
  EXPECT_EQ(chief_.taken, AllNumbers());
  EXPECT_EQ(ValueOf(chief_, chief_.model.sum.ref).scalar<std::int64_t>(), SumOfAll(kLimit));
  EXPECT_EQ(ValueOf(chief_, chief_.model.global_step).scalar<std::int64_t>(), kLimit);
  EXPECT_EQ(ValueOf(chief_, chief_.model.mean.ref).scalar<float>(), MeanAfter(AllNumbers(), kLimit));
}

TEST_F(InputPipelineTest, WhatIsLessThanABatchStays) {
  Open(chief_, "chief", {.limit = kLimit, .capacity = 4, .batch = 3});
  const absl::Status trained = chief_.Train();
  EXPECT_TRUE(trained.ok()) << trained;
  std::vector<std::int64_t> whole = AllNumbers();
  whole.pop_back();
  EXPECT_EQ(chief_.taken, whole);
  EXPECT_EQ(chief_.steps, 33);
  EXPECT_EQ(ValueOf(chief_, chief_.model.sum.ref).scalar<std::int64_t>(), SumOfAll(kLimit - 1));
  EXPECT_EQ(ValueOf(chief_, chief_.model.global_step).scalar<std::int64_t>(), 33);
}

TEST_F(InputPipelineTest, OrTheLastStepTakesIt) {
  Open(chief_, "chief", {.limit = kLimit, .capacity = 2, .batch = 3, .rest = true});
  const absl::Status trained = chief_.Train();
  EXPECT_TRUE(trained.ok()) << trained;
  EXPECT_EQ(chief_.taken, AllNumbers());
  EXPECT_EQ(chief_.steps, 34);
  EXPECT_EQ(ValueOf(chief_, chief_.model.sum.ref).scalar<std::int64_t>(), SumOfAll(kLimit));
}

TEST_F(InputPipelineTest, AStepLearnsFromTheMeanOfItsBatch) {
  Open(chief_, "chief", {.limit = 3, .batch = 3});
  const absl::Status trained = chief_.Train();
  EXPECT_TRUE(trained.ok()) << trained;
  EXPECT_EQ(ValueOf(chief_, chief_.model.mean.ref).scalar<float>(), MeanAfter({1}, 3));
}

TEST_F(InputPipelineTest, AShuffledQueueGivesEachNumberOnce) {
  for (const std::int64_t batch : {1, 2}) {
    PipelineMember member;
    Open(member, "chief", {.limit = kLimit, .capacity = 8, .batch = batch, .shuffled = true});
    const absl::Status trained = member.Train();
    EXPECT_TRUE(trained.ok()) << trained;
    EXPECT_NE(member.taken, AllNumbers());
    std::ranges::sort(member.taken);
    EXPECT_EQ(member.taken, AllNumbers());
  }
}

TEST_F(InputPipelineTest, TwoQueuesGiveEachNumberOnceAndInOrder) {
  Open(chief_, "chief", {.limit = kLimit, .capacity = 4, .staged = true});
  EXPECT_EQ(chief_.graph.Collection(kQueueRunners).size(), 2U);
  EXPECT_EQ(chief_.graph.node(*chief_.graph.Find("input/files/queue")).device, "/job:chief/task:0");
  const absl::Status trained = chief_.Train();
  EXPECT_TRUE(trained.ok()) << trained;
  EXPECT_EQ(chief_.taken, AllNumbers());
}

TEST_F(InputPipelineTest, TwoSharedQueuesAreAtTheServerAndTheChiefRunsBoth) {
  Open(chief_, "chief", {.limit = kLimit, .shared = true, .batch = 2, .rest = true, .shuffled = true, .staged = true});
  Open(worker_, "worker", {.limit = kLimit, .shared = true, .fills = false, .shuffled = true, .staged = true});
  EXPECT_EQ(chief_.graph.node(*chief_.graph.Find("input/files/queue")).device, "/job:ps/task:0");
  EXPECT_FALSE(worker_.graph.Find("input/files/queue").has_value());
  EXPECT_TRUE(worker_.graph.Collection(kQueueRunners).empty());
  const absl::Status trained = chief_.Train();
  EXPECT_TRUE(trained.ok()) << trained;
  std::ranges::sort(chief_.taken);
  EXPECT_EQ(chief_.taken, AllNumbers());
}

TEST_F(InputPipelineTest, ASharedQueueIsEmptiedByAll) {
  Open(chief_, "chief", {.limit = kLimit, .capacity = 4, .shared = true});
  Open(worker_, "worker", {.limit = kLimit, .capacity = 4, .shared = true, .fills = false});
  EXPECT_EQ(worker_.graph.node(worker_.model.queue.node).device, "/job:ps/task:0");
  EXPECT_EQ(worker_.model.queue_runner, nullptr);
  absl::Status other;
  const auto task = fake_.tasks.Spawn("worker", [&] { other = worker_.Train(); });
  const absl::Status trained = chief_.Train();
  EXPECT_TRUE(trained.ok()) << trained;
  fake_.tasks.RunReady();
  ASSERT_TRUE(task->done());
  EXPECT_TRUE(other.ok()) << other;
  EXPECT_FALSE(chief_.taken.empty());
  EXPECT_FALSE(worker_.taken.empty());
  std::vector<std::int64_t> all = chief_.taken;
  all.insert(all.end(), worker_.taken.begin(), worker_.taken.end());
  std::ranges::sort(all);
  EXPECT_EQ(all, AllNumbers());
  EXPECT_EQ(ValueOf(chief_, chief_.model.sum.ref).scalar<std::int64_t>(), SumOfAll(kLimit));
}

TEST(InputPipelineOracleTest, TheLossIsLeastInTheMiddle) {
  EXPECT_DOUBLE_EQ(LossOf(0.5F, 2), (0.25 + 0) / 2);
  EXPECT_LT(LossOf(0.25F, 2), LossOf(0.5F, 2));
  EXPECT_GT(LossOf(0, kLimit), LossOf(MeanAfter(AllNumbers(), kLimit), kLimit));
  EXPECT_EQ(SumOfAll(5), 10);
}

}  // namespace
}  // namespace vigil::sim
