#include "vigil/core/train/hooks/logging_tensor_hook.h"

#include <chrono>
#include <stdexcept>

#include "vigil/core/base/code.h"
#include "vigil/core/train/hooks/testing.h"

namespace vigil {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class LoggingTensorHookTest : public HookTest {
 protected:
  std::shared_ptr<LoggingTensorHook> Make(LoggingTensorHookOptions options) {
    auto hook = LoggingTensorHook::Create(env(), std::move(options));
    EXPECT_TRUE(hook.ok()) << hook.status();
    return *std::move(hook);
  }
  std::string Refused(LoggingTensorHookOptions options) {
    const absl::Status status = LoggingTensorHook::Create(env(), std::move(options)).status();
    EXPECT_EQ(CodeOf(status), Code::kUsage);
    return std::string(MessageOf(status));
  }
  TaggedTensors JustFed() { return {{"fed", fed_}}; }
  // Which of that many runs (from 1) logged something.
  std::vector<int> LoggedRuns(int runs) {
    std::vector<int> logged;
    for (int i = 1; i <= runs; ++i) {
      EXPECT_TRUE(Run().ok());
      if (!TakeLog().empty()) logged.push_back(i);
    }
    return logged;
  }
};

TEST_F(LoggingTensorHookTest, RefusesItsArguments) {
  EXPECT_EQ(Refused({.tensors = JustFed(), .every_n_iter = 0}), "invalid every_n_iter=0.");
  EXPECT_EQ(Refused({.tensors = JustFed(), .every_n_iter = -10}), "invalid every_n_iter=-10.");
  const std::string periods = "either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.";
  EXPECT_EQ(Refused({.tensors = JustFed(), .every_n_iter = 5, .every_n_secs = 5s}), periods);
  EXPECT_EQ(Refused({.tensors = JustFed()}), periods);
  EXPECT_EQ(Refused({.tensors = JustFed(), .every_n_iter = 5, .every_n_secs = 5s, .at_end = true}), periods);
}

TEST_F(LoggingTensorHookTest, AtTheEndOnly) {
  Start(Make({.tensors = JustFed(), .at_end = true}));
  EXPECT_THAT(LoggedRuns(3), IsEmpty());
  EXPECT_TRUE(result_.metadata().step_stats.empty());
  ASSERT_TRUE(End().ok());
  EXPECT_THAT(TakeLog(), ElementsAre("fed = 1"));
}

TEST_F(LoggingTensorHookTest, EveryTenthRunAndAnewAfterBegin) {
  auto hook = Make({.tensors = JustFed(), .every_n_iter = 10});
  Start(hook);
  EXPECT_THAT(LoggedRuns(25), ElementsAre(1, 11, 21));
  ASSERT_TRUE(End().ok());
  EXPECT_THAT(TakeLog(), IsEmpty()) << "the end was not asked for";
  Start(hook);
  EXPECT_THAT(LoggedRuns(12), ElementsAre(1, 11));
}

TEST_F(LoggingTensorHookTest, TellsItsPeriod) {
  Start(Make({.tensors = JustFed(), .every_n_iter = 10}));
  EXPECT_THAT(Details(HookDetail::kEverySteps), ElementsAre(10));
  Start(Make({.tensors = JustFed(), .every_n_secs = 5s}));
  EXPECT_THAT(Details(HookDetail::kEverySeconds), ElementsAre(5));
}

TEST_F(LoggingTensorHookTest, EveryTenthRunAndAtTheEnd) {
  Start(Make({.tensors = JustFed(), .every_n_iter = 10, .at_end = true}));
  EXPECT_THAT(LoggedRuns(12), ElementsAre(1, 11));
  ASSERT_TRUE(End().ok());
  EXPECT_THAT(TakeLog(), ElementsAre("fed = 1 (0.000 sec)"));
}

TEST_F(LoggingTensorHookTest, OnlyTheFirstLineHasNoSeconds) {
  Start(Make({.tensors = JustFed(), .every_n_iter = 1}));
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(TakeLog(), ElementsAre("fed = 1"));
  fake_.clock.Advance(1234567us);
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(TakeLog(), ElementsAre("fed = 1 (1.235 sec)"));
}

TEST_F(LoggingTensorHookTest, EverySecond) {
  Start(Make({.tensors = JustFed(), .every_n_secs = 1s}));
  EXPECT_THAT(LoggedRuns(2), ElementsAre(1));
  fake_.clock.Advance(1s);
  EXPECT_THAT(LoggedRuns(2), ElementsAre(1));
}

TEST_F(LoggingTensorHookTest, ADictIsSortedAndAListIsNot) {
  Start(Make({.tensors = TaggedTensors{{"z", fed_}, {"a", "loss"}, {"m", "one:0"}}, .every_n_iter = 1}));
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(TakeLog(), ElementsAre("a = 0.5, m = 1, z = 1"));
  Start(Make({.tensors = ListedTensors{"loss", fed_, "one:0"}, .every_n_iter = 1}));
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(TakeLog(), ElementsAre("loss = 0.5, fed:0 = 1, one:0 = 1"));
}

TEST_F(LoggingTensorHookTest, TheFormatterMakesTheLine) {
  Start(Make({.tensors = TaggedTensors{{"value", fed_}, {"loss", loss_}},
              .every_n_iter = 1,
              .formatter = [](const FetchedValues& values) {
                return "the value is " + std::to_string(values["value"].scalar<std::int64_t>());
              }}));
  ASSERT_TRUE(Run().ok());
  fake_.clock.Advance(1s);
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(TakeLog(), ElementsAre("the value is 1", "the value is 1"));
}

TEST_F(LoggingTensorHookTest, WhatTheFormatterThrowsIsAnError) {
  Start(Make({.tensors = JustFed(), .every_n_iter = 1, .formatter = [](const FetchedValues&) -> std::string {
                throw std::runtime_error("the user's own");
              }}));
  EXPECT_EQ(CodeOf(Run()), Code::kOther);
}

TEST_F(LoggingTensorHookTest, TensorsAreLookedUpInBegin) {
  const auto begin = [this](TensorOrName tensor) {
    const absl::Status status = Begin(Make({.tensors = ListedTensors{tensor}, .every_n_iter = 1}));
    EXPECT_EQ(CodeOf(status), Code::kUsage);
    return std::string(MessageOf(status));
  };
  EXPECT_EQ(begin("missing"), "The name 'missing:0' refers to a Tensor which does not exist.");
  EXPECT_EQ(begin("one:3"), "The name 'one:3' refers to a Tensor which does not exist.");
  EXPECT_EQ(begin(Output{999, 0}), "Passed tensor 999:0 should belong to the current graph.");
}

TEST_F(LoggingTensorHookTest, TheEndNeedsASession) {
  auto hook = Make({.tensors = JustFed(), .at_end = true});
  Start(hook);
  EXPECT_EQ(CodeOf(hook->End(nullptr)), Code::kUsage);
  auto without_end = Make({.tensors = JustFed(), .every_n_iter = 1});
  Start(without_end);
  EXPECT_TRUE(without_end->End(nullptr).ok());
}

}  // namespace
}  // namespace vigil
