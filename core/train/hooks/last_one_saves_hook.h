// A worker that ends when its chief is gone saves the last step: nobody else will (Behaviour::last_one_saves).
//
// MonitoredTrainingSession gives it to workers of a cluster that have a checkpoint directory. At a clean end it asks
// the chief's server ("chief:0", else "worker:0") whether it is still there; if not, and the newest checkpoint is not
// of this step, it saves one with the scaffold's saver. A chief that is there saves itself. Where neither task has a
// server in the cluster nobody can be asked, and nothing is saved. Nor is a model that has diverged
// (Behaviour::nan_stop_saves_nothing), or one of which the marks beside the checkpoints say that nobody is to go on
// with it (model_mark.h; Behaviour::join_live_model).
// Errors: what reading the step and saving fail with. Thread safety: as SessionRunHook.
// Source: none in TensorFlow, where a chief that leaves first ends all saving (pain 6 of docs/differences.md).
#ifndef VIGIL_CORE_TRAIN_HOOKS_LAST_ONE_SAVES_HOOK_H_
#define VIGIL_CORE_TRAIN_HOOKS_LAST_ONE_SAVES_HOOK_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/env/env.h"
#include "vigil/core/train/hooks/global_step_reader.h"
#include "vigil/core/train/scaffold.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

struct LastOneSavesHookOptions {
  std::string target;  // of the session: the worker's own server, or another one of its cluster
  std::string checkpoint_dir;
  std::shared_ptr<Scaffold> scaffold;
  Behaviour behaviour = Behaviour::Default();
};

class LastOneSavesHook : public SessionRunHook {
 public:
  LastOneSavesHook(const Env& env, LastOneSavesHookOptions options) : env_(env), options_(std::move(options)) {}
  std::string_view name() const override { return "LastOneSavesHook"; }
  // USAGE "Global step should be created to use LastOneSavesHook."
  absl::Status Begin(BeginContext& context) override;
  absl::Status AfterCreateSession(const std::shared_ptr<Session>& session,
                                  const std::shared_ptr<Coordinator>& coord) override;
  absl::Status End(Session* session) override;

 private:
  bool ChiefIsThere() const;
  std::string WhyNotToSave() const;                                   // "" = nothing speaks against it
  absl::StatusOr<bool> IsSaved(const std::string& checkpoint) const;  // as the newest
  absl::Status Save(Session& session, const std::string& prefix, std::int64_t step) const;

  const Env env_;
  const LastOneSavesHookOptions options_;
  GlobalStepReader step_;
  std::shared_ptr<Coordinator> coord_;  // says whether the model has diverged
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKS_LAST_ONE_SAVES_HOOK_H_
