// tf.train.CheckpointSaverHook: saves checkpoints every so many steps or seconds, at the start of each session and at
// the end.
//
// At the start of every session: graph.pbtxt, graph and meta graph into the events file, a checkpoint of the present
// step. After a run: if the timer says so, the timer is updated first and the checkpoint saved then, so a save that
// fails counts as done. At the end: a checkpoint unless the last trigger was at this very step. A resumed session first
// rewrites what it restored. By Behaviour::Default(): nothing is saved once a NanTensorHook of the session has seen a
// NaN loss; what another hook of this session has saved at the same step with the same saver into the same directory is
// not saved again (the listeners are called all the same: there is a checkpoint of the step); a hook of save_secs that
// is due while the step stands still says so. With async_saves the step only hands its values over, and a task writes
// them beside the training (Saver::SaveBeside: one save is written, one may wait, a third makes the step wait; their
// order and what is kept are the same). Listeners are called by the task that uses the session, as ever: before_save at
// the step that is saved, after_save once the checkpoint is there, at the first call of the hook that finds it so
// (AfterRun, End, or AfterCreateSession of the session after the one that was given up). What goes wrong with writing
// is logged at once and is the error of that call. End waits for what is being written, makes its own save in place,
// and tries the step again whose writing has failed: when it returns OK, all is on disk. A session that is left in
// another way waits for it up to its grace period. The saver is the given one, the scaffold's, or the sole item of the
// collection "savers", looked up when it is needed.
// Errors: what the session, the saver, the writer and the listeners give; USAGE at the end of a session that is gone.
// Thread safety: as SessionRunHook. Source: basic_session_run_hooks.py; recorded.
#ifndef VIGIL_CORE_TRAIN_HOOKS_CHECKPOINT_SAVER_HOOK_H_
#define VIGIL_CORE_TRAIN_HOOKS_CHECKPOINT_SAVER_HOOK_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/summary/summary_writer.h"
#include "vigil/core/train/hooks/checkpoint_saver_listener.h"
#include "vigil/core/train/hooks/global_step_reader.h"
#include "vigil/core/train/hooks/second_or_step_timer.h"
#include "vigil/core/train/scaffold.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

struct CheckpointSaverHookOptions {
  std::string checkpoint_dir;
  // Exactly one of the two.
  std::optional<Duration> save_secs;
  std::optional<std::int64_t> save_steps;
  SaverPtr saver;  // at most one of saver and scaffold
  std::string checkpoint_basename = "model.ckpt";
  std::shared_ptr<Scaffold> scaffold;
  std::vector<CheckpointSaverListenerPtr> listeners;
  bool save_graph_def = true;  // graph.pbtxt once a session, ".meta" with each checkpoint
  bool async_saves = false;    // written beside the training
  // The model lives on servers that outlive the session: the next one is told if it has diverged (model_mark.h).
  bool in_cluster = false;
  Behaviour behaviour =
      Behaviour::Default();  // nan_stop_saves_nothing, one_save_a_step, unique_event_files, warn_frozen_saver
};

class CheckpointSaverHook : public SessionRunHook {
 public:
  // USAGE "You cannot provide both saver and scaffold."; SecondOrStepTimer's.
  static absl::StatusOr<std::shared_ptr<CheckpointSaverHook>> Create(const Env& env,
                                                                     CheckpointSaverHookOptions options);

  // How many steps a run makes. Until it is said, the step is read after every run, so that no step is missed (of a
  // timer of steps; one of seconds reads when it is due).
  void set_steps_per_run(std::int64_t steps) { steps_per_run_ = steps; }

  // USAGE "Global step should be created to use CheckpointSaverHook."
  absl::Status Begin(BeginContext& context) override;
  absl::Status AfterCreateSession(const std::shared_ptr<Session>& session,
                                  const std::shared_ptr<Coordinator>& coord) override;
  absl::Status BeforeRun(RunContext& context, RunArgs& args) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(Session* session) override;

 private:
  friend class
      CheckpointInputPipelineHook;  // is made of one of these: calls Save() when it sees fit, knows saver and timer

  // A save that was handed over, and is to be told of.
  struct HandedOver {
    std::int64_t step = 0;
    PendingSavePtr save;  // null: it had been made already
    bool is_ours = true;  // no other hook's
  };
  enum class How : std::uint8_t { kInPlace, kBeside };

  CheckpointSaverHook(const Env& env, CheckpointSaverHookOptions options, SecondOrStepTimer timer);
  // True: a listener asks for a stop.
  absl::StatusOr<bool> Save(Session& session, std::int64_t step, How how = How::kInPlace);
  absl::StatusOr<bool> SaveAndTell(Session& session, std::int64_t step);
  absl::Status TellBefore(Session& session, std::int64_t step);
  absl::StatusOr<bool> TellAfter(Session& session, std::int64_t step);
  absl::Status WriteCheckpoint(Session& session, std::int64_t step);
  absl::Status HandOver(Session& session, std::int64_t step);
  // Tells of the handed over saves that are made by now, up to the first that has failed.
  absl::StatusOr<bool> TellOfWritten(Session& session);
  absl::StatusOr<bool> TellOf(Session& session, const HandedOver& saved);
  // Waits for all of them, and tells of each; the first error.
  absl::Status FinishSaves(Session* session);
  How HowToSave() const { return options_.async_saves ? How::kBeside : How::kInPlace; }
  // The loss was NaN: what the session holds is not worth keeping. Logs that it is not saved.
  bool KeepsNothing(std::int64_t step);
  void NoteSavedBefore(std::int64_t step);
  void WarnOfFrozenStep(std::int64_t step);
  absl::StatusOr<Saver*> GetSaver();

  const Env env_;
  CheckpointSaverHookOptions options_;
  const std::string save_path_;
  std::string state_file_{kDefaultStateFile};
  SecondOrStepTimer timer_;
  std::int64_t steps_per_run_ = 1'000'000;
  std::optional<Time> last_frozen_warning_;
  std::shared_ptr<Coordinator> coord_;       // of the session; null: never told of one
  std::deque<HandedOver> handed_over_;       // in order
  std::optional<std::int64_t> failed_step_;  // the last step whose writing has failed
  // Since Begin:
  const Graph* graph_ = nullptr;
  GlobalStepReader step_;
  std::shared_ptr<SummaryWriter> writer_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKS_CHECKPOINT_SAVER_HOOK_H_
