#include "vigil/sim/workloads/evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/fakes/fake_env.h"

namespace vigil::sim {
namespace {

constexpr std::uint64_t kEvaluationSeed = 11;
constexpr char kDir[] = "/shared/run";

class EvaluationTest : public testing::Test {
 protected:
  void SetUp() override {
    Builder b(graph_);
    const auto evaluation = BuildEvaluation(fake_.env(), b, kEvaluationSeed);
    ASSERT_TRUE(evaluation.ok()) << evaluation.status();
    evaluator_ = std::make_unique<Evaluator>(fake_.env(), *evaluation, kDir);
    session_ = NewDirectSession(fake_.env(), graph_);
  }
  // The evaluator has an eye on every checkpoint of a training of that many steps, one in each ten.
  std::vector<Evaluated> WatchTraining(int steps) {
    std::vector<Evaluated> seen;
    Graph graph(BuiltinOps());
    Builder b(graph);
    const auto model = BuildRegression(fake_.env(), b, {});
    EXPECT_TRUE(model.ok()) << model.status();
    auto session = MonitoredTrainingSession(fake_.env(), graph, {.checkpoint_dir = kDir, .save_checkpoint_steps = 10});
    EXPECT_TRUE(session.ok()) << session.status();
    RegressionData data(kEvaluationSeed);
    for (int i = 0; i < steps; ++i) {
      EXPECT_TRUE((*session)->Run(model->train_op, model->Feed(data.Next())).ok());
      if (const auto now = Look(); now.has_value()) seen.push_back(*now);
    }
    EXPECT_TRUE((*session)->Close().ok());
    if (const auto now = Look(); now.has_value()) seen.push_back(*now);
    return seen;
  }
  std::optional<Evaluated> Look() {
    const auto seen = evaluator_->Look(*session_);
    EXPECT_TRUE(seen.ok()) << seen.status();
    return seen.ok() ? *seen : std::nullopt;
  }

  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  std::unique_ptr<Evaluator> evaluator_;
  std::unique_ptr<Session> session_;
};

TEST_F(EvaluationTest, SeesEveryCheckpointOnceAndTheLossFall) {
  EXPECT_EQ(Look(), std::nullopt);
  const std::vector<Evaluated> seen = WatchTraining(45);
  std::vector<std::int64_t> steps;
  double last = 1e9;
  RegressionParameters oracle;
  RegressionData data(kEvaluationSeed);
  int trained = 0;
  for (const Evaluated& one : seen) {
    steps.push_back(one.step);
    for (; trained < one.step; ++trained) Descend(oracle, GradientOf(oracle, data.Next()));
    EXPECT_NEAR(one.loss, LossOf(one.parameters, RegressionTestData(kEvaluationSeed)), 1e-5);
    EXPECT_NEAR(one.loss, LossOf(oracle, RegressionTestData(kEvaluationSeed)), 1e-4) << one.step;
    EXPECT_LT(one.loss, last);
    last = one.loss;
  }
  EXPECT_THAT(steps, testing::ElementsAre(0, 10, 20, 30, 40, 45));
  EXPECT_EQ(Look(), std::nullopt);  // nothing new
}

TEST_F(EvaluationTest, ADamagedCheckpointIsAnErrorAMissingOneIsNot) {
  WatchTraining(5);
  Graph graph(BuiltinOps());
  Builder b(graph);
  Evaluator fresh(fake_.env(), *BuildEvaluation(fake_.env(), b, kEvaluationSeed), kDir);
  const auto session = NewDirectSession(fake_.env(), graph);
  const std::string newest = std::string(kDir) + "/model.ckpt-5";
  ASSERT_TRUE(WriteAtomically(fake_.files, newest + ".data-00000-of-00001", "short").ok());
  EXPECT_FALSE(fresh.Look(*session).ok());
  ASSERT_TRUE(fake_.files.Remove(newest + ".index").ok());
  const auto gone = fresh.Look(*session);
  ASSERT_TRUE(gone.ok()) << gone.status();
  EXPECT_EQ(*gone, std::nullopt);
}

}  // namespace
}  // namespace vigil::sim
