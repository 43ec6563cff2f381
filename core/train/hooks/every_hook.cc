// The one list of the hooks that ship with the library, for tests that hold of each.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/train/hooks/checkpoint_input_pipeline_hook.h"
#include "vigil/core/train/hooks/checkpoint_saver_hook.h"
#include "vigil/core/train/hooks/feed_fn_hook.h"
#include "vigil/core/train/hooks/final_ops_hook.h"
#include "vigil/core/train/hooks/global_step_waiter_hook.h"
#include "vigil/core/train/hooks/logging_tensor_hook.h"
#include "vigil/core/train/hooks/nan_tensor_hook.h"
#include "vigil/core/train/hooks/profiler_hook.h"
#include "vigil/core/train/hooks/step_counter_hook.h"
#include "vigil/core/train/hooks/stop_at_step_hook.h"
#include "vigil/core/train/hooks/summary_saver_hook.h"
#include "vigil/core/train/hooks/testing.h"

namespace vigil {
namespace {

template <typename Hook>
HookPtr Made(const absl::StatusOr<std::shared_ptr<Hook>>& hook) {
  EXPECT_TRUE(hook.ok()) << hook.status();
  return *hook;
}

}  // namespace

std::vector<std::pair<std::string, HookPtr>> HookTest::EveryHook(const std::shared_ptr<Scaffold>& scaffold) {
  ops::RangeIterator(b(), "input", 100);
  const Output summary = ops::ScalarSummary(b(), "summary", "loss", loss_);
  const Feeds fed = {{fed_, Tensor::Scalar<std::int64_t>(1)}};
  return {
      {"stop_at_step", Made(StopAtStepHook::Create(env(), {.last_step = 100}))},
      {"checkpoint_saver",
       Made(CheckpointSaverHook::Create(env(), {.checkpoint_dir = "/c", .save_steps = 1, .scaffold = scaffold}))},
      {"checkpoint_input_pipeline",
       Made(CheckpointInputPipelineHook::Create(env(), {.checkpoint_dir = "/i", .save_steps = 1}))},
      {"step_counter", Made(StepCounterHook::Create(env(), {.every_n_steps = 1, .output_dir = "/s"}))},
      {"logging_tensor",
       Made(LoggingTensorHook::Create(env(), {.tensors = TaggedTensors{{"fed", fed_}}, .every_n_iter = 1}))},
      {"nan_tensor", Made(NanTensorHook::Create(env(), {.loss_tensor = loss_}))},
      {"summary_saver",
       Made(SummarySaverHook::Create(env(), {.save_steps = 1, .output_dir = "/s", .summary_op = {summary}}))},
      {"global_step_waiter", Made(GlobalStepWaiterHook::Create(env(), {.wait_until_step = 0}))},
      {"final_ops", Made(FinalOpsHook::Create(env(), {.final_ops = loss_}))},
      {"feed_fn", Made(FeedFnHook::Create(env(), {.feed_fn = [fed] { return fed; }}))},
      {"profiler", Made(ProfilerHook::Create(env(), {.save_steps = 1, .output_dir = "/p"}))},
  };
}

}  // namespace vigil
