#include "vigil/core/train/training_util.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

// A graph of its own for each test.
class TrainingUtilTest : public testing::Test {
 protected:
  Env env() { return fake_.env(); }
  template <typename T>
  Output Variable(const std::string& name, T value) {
    return ops::MakeVariable(b_, name, b_.Const(name + "_value", Tensor::Scalar<T>(value))).ref;
  }

  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  Builder b_{graph_};
};

TEST_F(TrainingUtilTest, AStepThatIsNoIntegerIsRefused) {
  Variable<float>("global_step", 0);
  for (const absl::Status& status :
       {GetGlobalStep(env(), graph_).status(), CreateGlobalStep(env(), b_).status(),
        GetOrCreateGlobalStep(env(), b_).status(), GetOrCreateGlobalStepRead(env(), b_).status()}) {
    EXPECT_EQ(CodeOf(status), Code::kUsage);
    EXPECT_EQ(MessageOf(status), "Existing \"global_step\" does not have integer type: float");
  }
}

TEST_F(TrainingUtilTest, AStepThatNoIntegerHoldsIsRefused) {
  EXPECT_EQ(*GlobalStepValue(Tensor::Scalar<double>(3)), 3);
  for (const double number : {1e300, -1e300, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(CodeOf(GlobalStepValue(Tensor::Scalar<double>(number)).status()), Code::kUsage) << number;
  }
}

TEST_F(TrainingUtilTest, AStepThatIsMadeIsInItsCollection) {
  const absl::StatusOr<Output> step = CreateGlobalStep(env(), b_);
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_THAT(graph_.Collection(kGlobalStep), testing::ElementsAre(*step));
}

TEST_F(TrainingUtilTest, AStepIsFoundByItsNameAndMayBeShort) {
  const Output step = Variable<std::int32_t>("global_step", 3);
  EXPECT_EQ(*GetGlobalStep(env(), graph_), step);
  EXPECT_EQ(*GetOrCreateGlobalStep(env(), b_), step);
  EXPECT_EQ(MessageOf(CreateGlobalStep(env(), b_).status()), "\"global_step\" already exists.");
}

TEST_F(TrainingUtilTest, OfSeveralStepsNoneIsTheOne) {
  for (const char* name : {"one", "other"}) graph_.AddToCollection(kGlobalStep, Variable<std::int64_t>(name, 0));
  const auto step = GetGlobalStep(env(), graph_);
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_FALSE(step->has_value());
  ASSERT_EQ(fake_.log.lines().size(), 1u);
  EXPECT_EQ(fake_.log.lines()[0].severity, Severity::kError);
  EXPECT_EQ(fake_.log.lines()[0].text, "Multiple tensors in global_step collection.");
}

TEST_F(TrainingUtilTest, TheReadIsMadeOnce) {
  EXPECT_FALSE(GetOrCreateGlobalStepRead(env(), b_)->has_value()) << "without a step there is none";
  ASSERT_TRUE(CreateGlobalStep(env(), b_).ok());
  const std::optional<Output> read = *GetOrCreateGlobalStepRead(env(), b_);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*GetOrCreateGlobalStepRead(env(), b_), read);
  graph_.AddToCollection(kGlobalStepRead, *read);
  EXPECT_EQ(MessageOf(GetOrCreateGlobalStepRead(env(), b_).status()),
            "There are multiple items in collection global_step_read_op_cache. There should be only one.");
}

// Of a step that is no variable of ours (an imported graph's, say), the read is the step itself.
TEST_F(TrainingUtilTest, TheReadOfAStepThatIsNoKnownVariable) {
  const Output step = b_.Const("global_step", Tensor::Scalar<std::int64_t>(7));
  graph_.AddToCollection(kGlobalStep, step);
  const std::optional<Output> read = *GetOrCreateGlobalStepRead(env(), b_);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(RunFetch(*NewDirectSession(env(), graph_), *read)->scalar<std::int64_t>(), 7);
}

}  // namespace
}  // namespace vigil
