// tf.data.experimental.CheckpointInputPipelineHook: keeps the position of the input beside the model, so that training
// goes on in its data where it left off.
//
// Saves the iterators in the graph's collection "iterators" and nothing else, with a saver of its own: checkpoints
// "input.ckpt-<step>", listed in a state file "checkpoint_input"; among several workers each has its own,
// "input_<type>_<id>.ckpt-<step>" and "checkpoint_input_<type>_<id>". What is saved when is as with CheckpointSaverHook
// (it is made of one), but for the start: nothing happens when a session is created, as other hooks may initialise the
// iterators then. Before the first run of each session the newest state is restored; if there is none yet, the present
// one is saved. After a restore the first run is saved, unless the hook has saved at that very step. Neither
// graph.pbtxt nor graph events are written; each checkpoint has its ".meta". By Behaviour::Default() also as
// CheckpointSaverHook, and a damaged newest state is passed over for one that is whole; the input is then behind the
// model. (It may be so anyway: model and input are two checkpoints.) Errors: what the session, the saver and the writer
// give; USAGE at the end of a session that is gone.
// Thread safety: as SessionRunHook. Source: data/experimental/ops/iterator_ops.py of TensorFlow up to 2.15; recorded.
#ifndef VIGIL_CORE_TRAIN_HOOKS_CHECKPOINT_INPUT_PIPELINE_HOOK_H_
#define VIGIL_CORE_TRAIN_HOOKS_CHECKPOINT_INPUT_PIPELINE_HOOK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/train/hooks/checkpoint_saver_hook.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

// TensorFlow takes these from an Estimator and its RunConfig.
struct CheckpointInputPipelineHookOptions {
  std::string checkpoint_dir;
  // Exactly one of the two.
  std::optional<Duration> save_secs;
  std::optional<std::int64_t> save_steps;
  // Which of several workers this is.
  struct Worker {
    std::string type;  // "worker"
    int id = 0;
  };
  std::optional<Worker> worker;  // nullopt: the only one
  // As CheckpointSaverHook's; restore_fallback; of the saver: durable_saves, meta_before_state, keep_limits.
  Behaviour behaviour = Behaviour::Default();
};

class CheckpointInputPipelineHook : public SessionRunHook {
 public:
  // USAGE: SecondOrStepTimer's.
  static absl::StatusOr<std::shared_ptr<CheckpointInputPipelineHook>> Create(
      const Env& env, const CheckpointInputPipelineHookOptions& options);

  // Adds the saver's ops, once. USAGE "No variables to save" for a graph without iterators; "Global step should be
  // created to use CheckpointSaverHook."
  absl::Status Begin(BeginContext& context) override;
  absl::Status AfterCreateSession(const std::shared_ptr<Session>& session,
                                  const std::shared_ptr<Coordinator>& coord) override;
  absl::Status BeforeRun(RunContext& context, RunArgs& args) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(Session* session) override;

 private:
  CheckpointInputPipelineHook(const Env& env, std::shared_ptr<CheckpointSaverHook> saving)
      : env_(env), saving_(std::move(saving)) {}
  // False: there is no state of an earlier session.
  absl::StatusOr<bool> RestoreNewestState(Session& session);

  const Env env_;
  const std::shared_ptr<CheckpointSaverHook> saving_;
  bool first_run_ = true;  // of the session
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKS_CHECKPOINT_INPUT_PIPELINE_HOOK_H_
