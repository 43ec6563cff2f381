// Every hook that ships with the library, with the leave that it needs.
#include <utility>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/hooks/checkpoint_input_pipeline_hook.h"
#include "vigil/core/train/hooks/checkpoint_saver_hook.h"
#include "vigil/core/train/hooks/feed_fn_hook.h"
#include "vigil/core/train/hooks/final_ops_hook.h"
#include "vigil/core/train/hooks/global_step_waiter_hook.h"
#include "vigil/core/train/hooks/last_one_saves_hook.h"
#include "vigil/core/train/hooks/logging_tensor_hook.h"
#include "vigil/core/train/hooks/nan_tensor_hook.h"
#include "vigil/core/train/hooks/profiler_hook.h"
#include "vigil/core/train/hooks/step_counter_hook.h"
#include "vigil/core/train/hooks/stop_at_step_hook.h"
#include "vigil/core/train/hooks/summary_saver_hook.h"
#include "vigil/properties/zoo/zoo.h"

namespace vigil {
namespace {

constexpr std::int64_t kLastStep = 4;

VerifyOptions WritesEvents() {
  return {.may_need_session = true, .may_write = {"/checkpoints"}, .service_tasks = {"event_writer"}};
}

// By TensorFlow's behaviour it fails where a step is traced again, after a recovery or since it stands still: a writer
// takes each tag once.
VerifyOptions Profiles() {
  VerifyOptions options = WritesEvents();
  options.may_fail = true;
  return options;
}

HookMaker InputPipeline() {
  return [](HookWorld& w) -> absl::StatusOr<HookPtr> {
    Builder b(w.graph());
    ops::RangeIterator(b, "pipeline", 1000);
    VIGIL_RETURN_IF_ERROR(b.status());
    return CheckpointInputPipelineHook::Create(
        w.env(), {.checkpoint_dir = w.directory(), .save_steps = 2, .behaviour = w.behaviour()});
  };
}

HookMaker SummarySaver() {
  return [](HookWorld& w) -> absl::StatusOr<HookPtr> {
    Builder b(w.graph());
    const Output summary = ops::ScalarSummary(b, "loss_summary", "loss", w.loss());
    VIGIL_RETURN_IF_ERROR(b.status());
    return SummarySaverHook::Create(
        w.env(), {.save_steps = 2, .output_dir = w.directory(), .summary_op = {summary}, .behaviour = w.behaviour()});
  };
}

HookMaker CheckpointSaver(std::optional<std::int64_t> steps, std::optional<Duration> secs) {
  return [=](HookWorld& w) {
    return CheckpointSaverHook::Create(w.env(), {.checkpoint_dir = w.directory(),
                                                 .save_secs = secs,
                                                 .save_steps = steps,
                                                 .scaffold = w.scaffold(),
                                                 .behaviour = w.behaviour()});
  };
}

std::vector<ZooHook> SavingAndLogging() {
  return {
      {"StopAtStepHook", "stops at a step", "",
       [](HookWorld& w) {
         return StopAtStepHook::Create(w.env(), {.last_step = kLastStep, .behaviour = w.behaviour()});
       }},
      {"StopAtStepHook/num_steps", "stops after so many steps", "",
       [](HookWorld& w) {
         return StopAtStepHook::Create(w.env(), {.num_steps = kLastStep, .behaviour = w.behaviour()});
       }},
      {"CheckpointSaverHook", "saves every second step", "", CheckpointSaver(2, std::nullopt), WritesEvents()},
      {"CheckpointSaverHook/secs", "saves every ten seconds", "",
       CheckpointSaver(std::nullopt, std::chrono::seconds(10)), WritesEvents()},
      {"CheckpointInputPipelineHook", "saves where the input is", "", InputPipeline(), WritesEvents()},
      {"StepCounterHook", "counts steps per second", "",
       [](HookWorld& w) {
         return StepCounterHook::Create(w.env(),
                                        {.every_n_steps = 2, .output_dir = w.directory(), .behaviour = w.behaviour()});
       },
       WritesEvents()},
      {"SummarySaverHook", "writes summaries", "", SummarySaver(), WritesEvents()},
      {"LoggingTensorHook", "logs the loss", "",
       [](HookWorld& w) {
         return LoggingTensorHook::Create(w.env(), {.tensors = TaggedTensors{{"loss", w.loss()}}, .every_n_iter = 2});
       }},
      {"LoggingTensorHook/at_end",
       "logs the step at the end",
       "",
       [](HookWorld& w) {
         return LoggingTensorHook::Create(w.env(),
                                          {.tensors = TaggedTensors{{"step", w.global_step()}}, .at_end = true});
       },
       {.may_need_session = true}},
  };
}

std::vector<ZooHook> OtherBuiltIn() {
  return {
      {"NanTensorHook",
       "fails when the loss is NaN",
       "",
       [](HookWorld& w) { return NanTensorHook::Create(w.env(), {.loss_tensor = w.loss()}); },
       {.may_fail = true}},
      {"NanTensorHook/stops", "stops when the loss is NaN", "",
       [](HookWorld& w) {
         return NanTensorHook::Create(w.env(), {.loss_tensor = w.loss(), .fail_on_nan_loss = false});
       }},
      {"FinalOpsHook",
       "evaluates the step at the end",
       "",
       [](HookWorld& w) { return FinalOpsHook::Create(w.env(), {.final_ops = w.global_step()}); },
       {.may_need_session = true}},
      {"FeedFnHook",
       "feeds a value",
       "",
       [](HookWorld& w) {
         return FeedFnHook::Create(w.env(), {.feed_fn = [feedable = w.feedable()] {
                                     return Feeds{{feedable, Tensor::Scalar<std::int64_t>(3)}};
                                   }});
       },
       {.may_feed = true}},
      {"GlobalStepWaiterHook",
       "waits for a step",
       "",
       [](HookWorld& w) { return GlobalStepWaiterHook::Create(w.env(), {.wait_until_step = 0}); },
       {.may_wait = true}},
      {"ProfilerHook", "writes a timeline of every second step", "",
       [](HookWorld& w) {
         return ProfilerHook::Create(w.env(),
                                     {.save_steps = 2, .output_dir = w.directory(), .behaviour = w.behaviour()});
       },
       Profiles()},
      {"LastOneSavesHook", "saves when the chief is gone", "",
       [](HookWorld& w) {
         return std::make_shared<LastOneSavesHook>(
             w.env(), LastOneSavesHookOptions{.target = "", .checkpoint_dir = w.directory(), .scaffold = w.scaffold()});
       },
       WritesEvents()},
  };
}

}  // namespace

std::vector<ZooHook> BuiltInHooks() {
  std::vector<ZooHook> all = SavingAndLogging();
  for (ZooHook& hook : OtherBuiltIn()) all.push_back(std::move(hook));
  return all;
}

}  // namespace vigil
