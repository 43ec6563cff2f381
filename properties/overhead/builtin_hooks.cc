#include <chrono>
#include <limits>
#include <memory>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
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
#include "vigil/properties/overhead/overhead.h"

namespace vigil {
namespace {

constexpr std::int64_t kEvery = 100;
constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max() / 2;

absl::StatusOr<HookPtr> MeasuredSummarySaver(HookWorld& w) {
  Builder b(w.graph());
  const Output summary = ops::ScalarSummary(b, "loss_summary", "loss", w.loss());
  VIGIL_RETURN_IF_ERROR(b.status());
  return SummarySaverHook::Create(w.env(),
                                  {.save_steps = kEvery, .output_dir = w.directory(), .summary_op = {summary}});
}

}  // namespace

std::vector<HookToMeasure> BuiltInHooksToMeasure() {
  return {
      {"StopAtStepHook", [](HookWorld& w) { return StopAtStepHook::Create(w.env(), {.last_step = kNoEnd}); }},
      {"NanTensorHook", [](HookWorld& w) { return NanTensorHook::Create(w.env(), {.loss_tensor = w.loss()}); }},
      {"StepCounterHook",
       [](HookWorld& w) {
         return StepCounterHook::Create(w.env(), {.every_n_steps = kEvery, .output_dir = w.directory()});
       }},
      {"LoggingTensorHook",
       [](HookWorld& w) {
         return LoggingTensorHook::Create(w.env(),
                                          {.tensors = TaggedTensors{{"loss", w.loss()}}, .every_n_iter = kEvery});
       }},
      {"SummarySaverHook", MeasuredSummarySaver},
      {"CheckpointSaverHook",
       [](HookWorld& w) {
         return CheckpointSaverHook::Create(
             w.env(),
             {.checkpoint_dir = w.directory(), .save_secs = std::chrono::seconds(600), .scaffold = w.scaffold()});
       }},
      {"FeedFnHook",
       [](HookWorld& w) {
         return FeedFnHook::Create(w.env(), {.feed_fn = [feedable = w.feedable()] {
                                     return Feeds{{feedable, Tensor::Scalar<std::int64_t>(3)}};
                                   }});
       }},
      {"FinalOpsHook", [](HookWorld& w) { return FinalOpsHook::Create(w.env(), {.final_ops = w.global_step()}); }},
      {"GlobalStepWaiterHook",
       [](HookWorld& w) { return GlobalStepWaiterHook::Create(w.env(), {.wait_until_step = 0}); }},
      {"ProfilerHook",
       [](HookWorld& w) {
         return ProfilerHook::Create(w.env(), {.save_secs = std::chrono::seconds(600), .output_dir = w.directory()});
       }},
  };
}

}  // namespace vigil
