#include "vigil/sim/workloads/regression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/hooks/stop_at_step_hook.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/fakes/fake_env.h"

namespace vigil::sim {
namespace {

constexpr std::uint64_t kSeed = 7;
constexpr int kSteps = 200;

Replica ChiefOfTwoServers() {
  return {.cluster = *ClusterSpec::Create(
              {{"chief", std::vector<std::string>{"c:1"}}, {"ps", std::vector<std::string>{"p:1", "p:2"}}}),
          .job = "chief"};
}

void ExpectNear(const RegressionParameters& a, const RegressionParameters& b) {
  for (std::size_t i = 0; i < a.w.size(); ++i) EXPECT_NEAR(a.w[i], b.w[i], 1e-6) << i;
  EXPECT_NEAR(a.b, b.b, 1e-6);
}

// What the same steps give without a graph.
RegressionParameters Oracle(int steps) {
  RegressionParameters parameters;
  RegressionData data(kSeed);
  for (int i = 0; i < steps; ++i) Descend(parameters, GradientOf(parameters, data.Next()));
  return parameters;
}

TEST(RegressionTest, DataComeFromTheSeed) {
  RegressionData one(kSeed);
  RegressionData same(kSeed);
  RegressionData other(kSeed, 1);
  const RegressionBatch batch = one.Next();
  EXPECT_EQ(FeaturesOf(batch), FeaturesOf(same.Next()));
  EXPECT_NE(FeaturesOf(batch), FeaturesOf(other.Next()));
  EXPECT_NE(FeaturesOf(batch), FeaturesOf(one.Next()));
  ASSERT_EQ(batch.size(), 8U);
  for (const RegressionExample& e : batch) {
    EXPECT_EQ(e.y, e.x[0] + 2 * e.x[1] + 3 * e.x[2]);
    for (const float x : e.x) EXPECT_TRUE(x >= -2 && x < 2) << x;
  }
}

TEST(RegressionTest, NoiseIsWhatTheBestLossIs) {
  constexpr float kNoise = 0.5F;
  const RegressionBatch batch = RegressionTestData(kSeed, kNoise, 4096);
  ASSERT_EQ(batch.size(), 4096U);
  for (const RegressionExample& e : batch) EXPECT_NEAR(e.y, e.x[0] + 2 * e.x[1] + 3 * e.x[2], kNoise);
  EXPECT_NEAR(LossOf({.w = {1, 2, 3}}, batch), kNoise * kNoise / 3, 0.005);
}

// The first numbers, so that no change of the draws goes unseen: recorded losses would lose their meaning.
TEST(RegressionTest, DrawsStayTheSame) {
  Draws draws(1);
  EXPECT_EQ(draws.Next(), 6791897765849424158U);
}

TEST(RegressionTest, TheGradientIsThatOfTheLoss) {
  const RegressionBatch batch = RegressionData(kSeed).Next();
  RegressionParameters at{.w = {0.5F, -1, 2}, .b = 0.25F};
  const RegressionParameters gradient = GradientOf(at, batch);
  const auto slope = [&](float& parameter) {
    constexpr float kStep = 1.0F / 256;
    const float before = parameter;
    parameter = before + kStep;
    const double above = LossOf(at, batch);
    parameter = before - kStep;
    const double below = LossOf(at, batch);
    parameter = before;
    return (above - below) / (2 * static_cast<double>(kStep));
  };
  for (std::size_t i = 0; i < at.w.size(); ++i) EXPECT_NEAR(slope(at.w[i]), gradient.w[i], 1e-5) << i;
  EXPECT_NEAR(slope(at.b), gradient.b, 1e-5);
}

TEST(RegressionTest, TheGraphDescendsAsThePlainArithmeticDoes) {
  fakes::FakeEnv fake;
  Graph graph(BuiltinOps());
  Builder b(graph);
  const auto model = BuildRegression(fake.env(), b, ChiefOfTwoServers());
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(graph.node(model->w.ref.node).device, "/job:ps/task:1");
  EXPECT_EQ(graph.node(model->b.ref.node).device, "/job:ps/task:0");
  EXPECT_EQ(graph.node(model->gradient_of_w.node).device, "/job:chief/task:0");
  auto session = MonitoredTrainingSession(fake.env(), graph, {});
  ASSERT_TRUE(session.ok()) << session.status();
  RegressionData data(kSeed);
  const RegressionBatch test = RegressionTestData(kSeed);
  double loss = LossOf({}, test);
  for (int i = 1; i <= kSteps; ++i) {
    const RegressionBatch batch = data.Next();
    const auto result = (*session)->Run(Fetches::List({model->train_op, model->loss}), model->Feed(batch));
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_NEAR(result->values()[1].scalar<float>(), LossOf(Oracle(i - 1), batch), 1e-5);
    const auto values = (*session)->Run(Fetches::List({model->w.ref, model->b.ref}));
    const auto parameters = ParametersFrom(values->values()[0].tensor(), values->values()[1].tensor());
    ASSERT_TRUE(parameters.ok());
    ExpectNear(*parameters, Oracle(i));
    if (i % 50 != 0) continue;
    EXPECT_LT(LossOf(*parameters, test), loss * 0.2) << i;
    loss = LossOf(*parameters, test);
  }
  EXPECT_TRUE((*session)->Close().ok());
}

// Two replicas whose sessions share what servers would hold; the chief begins without tokens, so that every step has
// one gradient of each.
class SynchronousRegressionTest : public testing::Test {
 protected:
  struct Member {
    Graph graph{BuiltinOps()};
    Regression model;
    std::unique_ptr<MonitoredSession> session;
  };
  ~SynchronousRegressionTest() override { fake_.tasks.EndAll(); }

  void Open(Member& member, const std::string& job) {
    Builder b(member.graph);
    if (job != "chief") b.Group("sync_rep_local_step", {});  // in a cluster it would be on the worker: another variable
    const auto cluster = ClusterSpec::Create({{"chief", std::vector<std::string>{"c:1"}},
                                              {"worker", std::vector<std::string>{"w:1"}},
                                              {"ps", std::vector<std::string>{"p:1", "p:2"}}});
    const auto model = BuildRegression(fake_.env(), b, {.cluster = *cluster, .job = job},
                                       {.synchronous_replicas = 2, .num_tokens = 0});
    ASSERT_TRUE(model.ok()) << model.status();
    member.model = *model;
    auto session = MonitoredTrainingSession(fake_.env(), member.graph,
                                            {.is_chief = job == "chief",
                                             .hooks = {model->sync_hook},
                                             .factory = std::make_shared<DirectSessionFactory>(
                                                 fake_.env(), DirectSessionOptions{.shared_resources = resources_})});
    ASSERT_TRUE(session.ok()) << session.status();
    member.session = *std::move(session);
  }

  fakes::FakeEnv fake_;
  std::shared_ptr<ResourceManager> resources_ = std::make_shared<ResourceManager>(fake_.env());
  Member chief_;
  Member worker_;
};

TEST_F(SynchronousRegressionTest, EachStepAppliesTheMeanOfTheGradients) {
  Open(chief_, "chief");
  Open(worker_, "worker");
  EXPECT_EQ(chief_.graph.node(chief_.model.sync->local_step().ref.node).device, "/job:chief/task:0");
  EXPECT_EQ(chief_.graph.node(chief_.model.sync->token_queue().node).device, "/job:ps/task:0");
  const auto other = fake_.tasks.Spawn("worker", [this] {
    RegressionData data(kSeed, 1);
    for (int i = 0; i < kSteps; ++i) {
      EXPECT_TRUE(worker_.session->Run(worker_.model.train_op, worker_.model.Feed(data.Next())).ok());
    }
  });
  RegressionParameters oracle;
  RegressionData data(kSeed);
  RegressionData others(kSeed, 1);
  for (int i = 0; i < kSteps; ++i) {
    const RegressionBatch batch = data.Next();
    ASSERT_TRUE(chief_.session->Run(chief_.model.train_op, chief_.model.Feed(batch)).ok());
    Descend(oracle, MeanOf({GradientOf(oracle, others.Next()), GradientOf(oracle, batch)}));
  }
  const auto values = chief_.session->RunWithoutHooks(
      Fetches::List({chief_.model.w.ref, chief_.model.b.ref, chief_.model.global_step}));
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(values->values()[2].scalar<std::int64_t>(), kSteps);
  const auto parameters = ParametersFrom(values->values()[0].tensor(), values->values()[1].tensor());
  ASSERT_TRUE(parameters.ok());
  ExpectNear(*parameters, oracle);
  EXPECT_LT(LossOf(*parameters, RegressionTestData(kSeed)), 0.01);
  EXPECT_TRUE(chief_.session->Close().ok());
}

}  // namespace
}  // namespace vigil::sim
