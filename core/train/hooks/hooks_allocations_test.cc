// What the hooks cost in a run that they have nothing to do in: no allocation. This program replaces operator new.
#include <gtest/gtest.h>

#include <chrono>

#include "vigil/core/base/code.h"
#include "vigil/core/train/hooks/checkpoint_input_pipeline_hook.h"
#include "vigil/core/train/hooks/checkpoint_saver_hook.h"
#include "vigil/core/train/hooks/final_ops_hook.h"
#include "vigil/core/train/hooks/global_step_waiter_hook.h"
#include "vigil/core/train/hooks/logging_tensor_hook.h"
#include "vigil/core/train/hooks/nan_tensor_hook.h"
#include "vigil/core/train/hooks/profiler_hook.h"
#include "vigil/core/train/hooks/step_counter_hook.h"
#include "vigil/core/train/hooks/stop_at_step_hook.h"
#include "vigil/core/train/hooks/summary_saver_hook.h"
#include "vigil/core/train/hooks/testing.h"
#include "vigil/fakes/allocations/allocations.h"

namespace vigil {
namespace {

using namespace std::chrono_literals;

class HooksAllocationsTest : public HookTest {
 protected:
  HooksAllocationsTest() { watched_ = false; }
  // Allocations of a hundred runs after a few that warm up.
  template <typename Hook>
  std::uint64_t AllocationsWith(const absl::StatusOr<std::shared_ptr<Hook>>& hook) {
    EXPECT_TRUE(hook.ok()) << hook.status();
    Start(*hook);
    const Fetches train(train_);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(Run(train).ok());
    const std::uint64_t before = fakes::Allocations();
    for (int i = 0; i < 100; ++i) {
      if (!Run(train).ok()) return ~std::uint64_t{0};
    }
    return fakes::Allocations() - before;
  }
};

TEST_F(HooksAllocationsTest, StopAtStep) {
  EXPECT_EQ(AllocationsWith(StopAtStepHook::Create(env(), {.last_step = 1000})), 0u);
}

TEST_F(HooksAllocationsTest, CheckpointSaver) {
  auto saver = std::make_shared<Saver>(env(), SaverOptions{});
  ASSERT_TRUE(saver->Build(graph_).ok());
  EXPECT_EQ(AllocationsWith(CheckpointSaverHook::Create(
                env(), {.checkpoint_dir = "/checkpoints", .save_secs = 600s, .saver = saver})),
            0u);
  // By the step it reads the step after every run, since it does not know how many steps one makes.
  EXPECT_EQ(AllocationsWith(CheckpointSaverHook::Create(
                env(), {.checkpoint_dir = "/checkpoints", .save_steps = 1000, .saver = saver})),
            0u);
}

TEST_F(HooksAllocationsTest, CheckpointInputPipeline) {
  ops::RangeIterator(b(), "input", 1000);
  EXPECT_EQ(
      AllocationsWith(CheckpointInputPipelineHook::Create(env(), {.checkpoint_dir = "/inputs", .save_secs = 600s})),
      0u);
}

TEST_F(HooksAllocationsTest, StepCounter) {
  EXPECT_EQ(AllocationsWith(StepCounterHook::Create(env(), {.every_n_steps = 1000, .output_dir = "/logs"})), 0u);
}

TEST_F(HooksAllocationsTest, LoggingTensor) {
  EXPECT_EQ(AllocationsWith(
                LoggingTensorHook::Create(env(), {.tensors = TaggedTensors{{"fed", fed_}}, .every_n_iter = 1000})),
            0u);
}

TEST_F(HooksAllocationsTest, NanTensor) {
  EXPECT_EQ(AllocationsWith(NanTensorHook::Create(env(), {.loss_tensor = loss_})), 0u);
}

TEST_F(HooksAllocationsTest, SummarySaver) {
  const Output summary = ops::ScalarSummary(b(), "s", "loss", loss_);
  EXPECT_EQ(AllocationsWith(
                SummarySaverHook::Create(env(), {.save_steps = 1000, .output_dir = "/logs", .summary_op = {summary}})),
            0u);
}

TEST_F(HooksAllocationsTest, GlobalStepWaiter) {
  EXPECT_EQ(AllocationsWith(GlobalStepWaiterHook::Create(env(), {.wait_until_step = 0})), 0u);
}

TEST_F(HooksAllocationsTest, FinalOps) {
  EXPECT_EQ(AllocationsWith(FinalOpsHook::Create(env(), {.final_ops = fed_})), 0u);
}

TEST_F(HooksAllocationsTest, Profiler) {
  EXPECT_EQ(AllocationsWith(ProfilerHook::Create(env(), {.save_steps = 1000, .output_dir = "/logs"})), 0u);
}

// The counter itself: a hook that does something in every run allocates.
TEST_F(HooksAllocationsTest, AHookThatTriggersAllocates) {
  EXPECT_GT(
      AllocationsWith(LoggingTensorHook::Create(env(), {.tensors = TaggedTensors{{"fed", fed_}}, .every_n_iter = 1})),
      0u);
}

}  // namespace
}  // namespace vigil
