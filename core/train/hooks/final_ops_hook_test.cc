#include "vigil/core/train/hooks/final_ops_hook.h"

#include "vigil/core/base/code.h"
#include "vigil/core/train/hooks/testing.h"

namespace vigil {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

class FinalOpsHookTest : public HookTest {
 protected:
  std::shared_ptr<FinalOpsHook> StartWith(FinalOpsHookOptions options) {
    auto hook = FinalOpsHook::Create(env(), std::move(options));
    EXPECT_TRUE(hook.ok());
    Start(*hook);
    return *hook;
  }
};

TEST_F(FinalOpsHookTest, KeepsAScalar) {
  const auto hook = StartWith({.final_ops = fed_});
  EXPECT_TRUE(hook->final_ops_values().none());
  ASSERT_TRUE(End().ok());
  EXPECT_EQ(hook->final_ops_values().scalar<std::int64_t>(), 1);
}

TEST_F(FinalOpsHookTest, KeepsATensor) {
  const Tensor three = Tensor::Vector<float>({37, 38, 39});
  const auto hook = StartWith({.final_ops = b().Const("three", three)});
  ASSERT_TRUE(End().ok());
  EXPECT_EQ(hook->final_ops_values().tensor(), three);
}

TEST_F(FinalOpsHookTest, KeepsAMapAndIsFed) {
  const auto hook = StartWith({.final_ops = Fetches::Map({{"fed", fed_}, {"train", Fetches::Op(train_.node)}}),
                               .final_ops_feed_dict = {{fed_, Tensor::Scalar<std::int64_t>(17)}}});
  ASSERT_TRUE(End().ok());
  EXPECT_EQ(hook->final_ops_values()["fed"].scalar<std::int64_t>(), 17);
  EXPECT_TRUE(hook->final_ops_values()["train"].none());
  EXPECT_EQ(step(), 1);
}

TEST_F(FinalOpsHookTest, TakingInputThereIsWarnedAbout) {
  const Output ended = ops::RangeIterator(b(), "input", 0);
  const auto hook = StartWith({.final_ops = ended});
  EXPECT_EQ(CodeOf(End()), Code::kOutOfRange);
  const auto warnings = TakeLog(Severity::kWarning);
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_THAT(warnings[0],
              StartsWith("An OutOfRangeError or StopIteration exception is raised by the code in FinalOpsHook. "));
  EXPECT_TRUE(hook->final_ops_values().none());
}

TEST_F(FinalOpsHookTest, ValuesAreThoseOfTheLastSession) {
  const auto hook = StartWith({.final_ops = fed_});
  ASSERT_TRUE(End().ok());
  EXPECT_FALSE(hook->final_ops_values().none());
  EXPECT_EQ(CodeOf(hook->End(nullptr)), Code::kUsage);
  EXPECT_TRUE(hook->final_ops_values().none());
  ASSERT_TRUE(End().ok());
  EXPECT_FALSE(hook->final_ops_values().none());
  Start(hook);
  EXPECT_TRUE(hook->final_ops_values().none());
}

TEST_F(FinalOpsHookTest, OtherErrorsComeOutAsTheyAre) {
  StartWith({.final_ops = ops::Placeholder(b(), "needed", DType::kInt64)});
  EXPECT_EQ(CodeOf(End()), Code::kInvalidArgument);
  EXPECT_THAT(TakeLog(Severity::kWarning), IsEmpty());
}

TEST_F(FinalOpsHookTest, NeedsASessionIfThereIsSomethingToRun) {
  EXPECT_EQ(CodeOf(StartWith({.final_ops = fed_})->End(nullptr)), Code::kUsage);
  EXPECT_TRUE(StartWith({})->End(nullptr).ok());
}

}  // namespace
}  // namespace vigil
