// A hook may begin again on the same graph, and then changes nothing in it (session_run_hook.py, SessionRunHook.begin).
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/graph/graph_def.h"
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
#include "vigil/core/train/monitored_session.h"

namespace vigil {
namespace {

class BeginAgainTest : public HookTest {
 protected:
  template <typename Hook>
  HookPtr Made(const absl::StatusOr<std::shared_ptr<Hook>>& hook) {
    EXPECT_TRUE(hook.ok()) << hook.status();
    return *hook;
  }
  std::vector<std::pair<std::string, HookPtr>> EveryHook() {
    ops::RangeIterator(b(), "input", 100);
    const Output summary = ops::ScalarSummary(b(), "summary", "loss", loss_);
    return {
        {"stop_at_step", Made(StopAtStepHook::Create(env(), {.last_step = 100}))},
        {"checkpoint_saver",
         Made(CheckpointSaverHook::Create(env(), {.checkpoint_dir = "/c", .save_steps = 1, .scaffold = scaffold_}))},
        {"checkpoint_input_pipeline",
         Made(CheckpointInputPipelineHook::Create(env(), {.checkpoint_dir = "/i", .save_steps = 1}))},
        {"step_counter", Made(StepCounterHook::Create(env(), {.output_dir = "/s"}))},
        {"logging_tensor",
         Made(LoggingTensorHook::Create(env(), {.tensors = TaggedTensors{{"fed", fed_}}, .every_n_iter = 1}))},
        {"nan_tensor", Made(NanTensorHook::Create(env(), {.loss_tensor = loss_}))},
        {"summary_saver",
         Made(SummarySaverHook::Create(env(), {.save_steps = 1, .output_dir = "/s", .summary_op = {summary}}))},
        {"global_step_waiter", Made(GlobalStepWaiterHook::Create(env(), {.wait_until_step = 0}))},
        {"final_ops", Made(FinalOpsHook::Create(env(), {.final_ops = loss_}))},
        {"feed_fn", Made(FeedFnHook::Create(env(), {.feed_fn = [] { return Feeds(); }}))},
        {"profiler", Made(ProfilerHook::Create(env(), {.save_steps = 1, .output_dir = "/p"}))},
    };
  }
  void OneRun(const HookPtr& hook) {
    auto creator =
        std::make_shared<ChiefSessionCreator>(env(), graph_, ChiefSessionCreatorOptions{.scaffold = scaffold_});
    const auto session = MonitoredSession::Create(env(), graph_, {.session_creator = creator, .hooks = {hook}});
    ASSERT_TRUE(session.ok()) << session.status();
    const absl::Status run = (*session)->Run(train_).status();
    EXPECT_TRUE(run.ok()) << run;
    const absl::Status closed = (*session)->Close();
    EXPECT_TRUE(closed.ok()) << closed;
  }

  const std::shared_ptr<Scaffold> scaffold_ = std::make_shared<Scaffold>(env(), graph_);
};

TEST_F(BeginAgainTest, ChangesNothingInTheGraph) {
  for (const auto& [name, hook] : EveryHook()) {
    SCOPED_TRACE(name);
    OneRun(hook);
    const std::string once = ToGraphDef(graph_).DebugString();
    OneRun(hook);
    EXPECT_EQ(ToGraphDef(graph_).DebugString(), once);
  }
}

}  // namespace
}  // namespace vigil
