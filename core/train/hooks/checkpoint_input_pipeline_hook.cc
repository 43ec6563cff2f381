#include "vigil/core/train/hooks/checkpoint_input_pipeline_hook.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/checkpoint_state.h"
#include "vigil/core/checkpoint/restore_newest.h"
#include "vigil/core/coord/queue_runner_def.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/run_events.h"

namespace vigil {

absl::StatusOr<std::shared_ptr<CheckpointInputPipelineHook>> CheckpointInputPipelineHook::Create(
    const Env& env, const CheckpointInputPipelineHookOptions& options) {
  std::string name = "input";
  if (options.worker.has_value()) name += fmt::format("_{}_{}", options.worker->type, options.worker->id);
  VIGIL_ASSIGN_OR_RETURN(std::shared_ptr<CheckpointSaverHook> saving,
                         CheckpointSaverHook::Create(env, {.checkpoint_dir = options.checkpoint_dir,
                                                           .save_secs = options.save_secs,
                                                           .save_steps = options.save_steps,
                                                           .checkpoint_basename = name + ".ckpt",
                                                           .behaviour = options.behaviour}));
  saving->state_file_ = fmt::format("{}_{}", kDefaultStateFile, name);
  return std::shared_ptr<CheckpointInputPipelineHook>(new CheckpointInputPipelineHook(env, std::move(saving)));
}

absl::Status CheckpointInputPipelineHook::Begin(BeginContext& context) {
  SaverPtr& saver = saving_->options_.saver;
  if (saver == nullptr) {
    auto made = std::make_shared<Saver>(env_, SaverOptions{.variables = context.graph.Collection(ops::kIterators),
                                                           .sharded = true,
                                                           .codecs = {QueueRunnerCodec(env_)},
                                                           .behaviour = saving_->options_.behaviour});
    VIGIL_RETURN_IF_ERROR(made->Build(context.graph));
    saver = std::move(made);
  }
  EmitHookDetail(env_.events, HookDetail::kSavesInput);
  return saving_->Begin(context);
}

absl::Status CheckpointInputPipelineHook::AfterCreateSession(const std::shared_ptr<Session>&,
                                                             const std::shared_ptr<Coordinator>& coord) {
  saving_->coord_ = coord;  // says whether the model has diverged
  first_run_ = true;
  return absl::OkStatus();
}

absl::Status CheckpointInputPipelineHook::BeforeRun(RunContext& context, RunArgs& args) {
  if (first_run_) {
    Session& session = context.session();
    VIGIL_ASSIGN_OR_RETURN(const bool restored, RestoreNewestState(session));
    if (!restored) {
      VIGIL_ASSIGN_OR_RETURN(const std::int64_t step, saving_->step_.Read(&session));
      VIGIL_RETURN_IF_ERROR(saving_->Save(session, step).status());
      saving_->timer_.UpdateLastTriggeredStep(step);
    }
    first_run_ = false;
  }
  return saving_->BeforeRun(context, args);
}

absl::StatusOr<bool> CheckpointInputPipelineHook::RestoreNewestState(Session& session) {
  const std::string& directory = saving_->options_.checkpoint_dir;
  Saver& saver = *saving_->options_.saver;
  if (!saving_->options_.behaviour.restore_fallback) {
    VIGIL_ASSIGN_OR_RETURN(const std::optional<std::string> latest,
                           LatestCheckpoint(env_, directory, saving_->state_file_));
    if (!latest.has_value()) return false;
    VIGIL_RETURN_IF_ERROR(saver.Restore(session, *latest));
    return true;
  }
  VIGIL_ASSIGN_OR_RETURN(const std::optional<CheckpointState> state,
                         FindCheckpoints(env_, directory, true, saving_->state_file_));
  if (!state.has_value()) return false;
  VIGIL_ASSIGN_OR_RETURN(bool any, CheckpointExists(env_, state->model_checkpoint_path));
  for (const std::string& prefix : state->all_model_checkpoint_paths) {
    if (any) break;
    VIGIL_ASSIGN_OR_RETURN(any, CheckpointExists(env_, prefix));
  }
  // As with TensorFlow: where all files are gone the input begins anew.
  if (!any) {
    env_.log->Write(Severity::kError,
                    fmt::format("Couldn't match files for checkpoint {}", state->model_checkpoint_path));
    return false;
  }
  VIGIL_RETURN_IF_ERROR(RestoreNewest(env_, saver, session, *state, true));
  return true;
}

absl::Status CheckpointInputPipelineHook::AfterRun(RunContext& context, const RunValues& values) {
  return saving_->AfterRun(context, values);
}

absl::Status CheckpointInputPipelineHook::End(Session* session) { return saving_->End(session); }

}  // namespace vigil
