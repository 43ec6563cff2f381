#include "vigil/core/train/hooks/last_one_saves_hook.h"

#include <fmt/format.h>

#include <optional>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/checkpoint_state.h"
#include "vigil/core/checkpoint/model_mark.h"
#include "vigil/core/checkpoint/restore_newest.h"
#include "vigil/core/cluster/local_masters.h"
#include "vigil/core/cluster/server/server.h"
#include "vigil/core/coord/coordinator.h"
#include "vigil/core/train/hooks/checkpoint_saver_hook.h"

namespace vigil {
namespace {

constexpr std::chrono::seconds kPatience{10};
constexpr int kAttempts = 3;
constexpr std::chrono::seconds kPause{2};  // between two attempts

}  // namespace

absl::Status LastOneSavesHook::Begin(BeginContext& context) { return step_.Init(context, "LastOneSavesHook"); }

bool LastOneSavesHook::ChiefIsThere() const {
  for (const char* const job : {"chief", "worker"}) {
    const std::optional<std::string> address = LocalMastersOf(env_).AddressOf(options_.target, job, 0);
    if (address.has_value()) return Answers(env_, *address, kPatience);
  }
  return true;  // nobody knows: then it is not this task's business
}

absl::StatusOr<bool> LastOneSavesHook::IsSaved(const std::string& checkpoint) const {
  VIGIL_ASSIGN_OR_RETURN(const std::optional<CheckpointState> state,
                         FindCheckpoints(env_, options_.checkpoint_dir, true));
  return state.has_value() && state->model_checkpoint_path == checkpoint;
}

absl::Status LastOneSavesHook::Save(Session& session, const std::string& prefix, std::int64_t step) const {
  // A chief that died early may not have made it, and what its machine loses later is as if it had not.
  VIGIL_RETURN_IF_ERROR(env_.files->MakeDirectory(options_.checkpoint_dir));
  return options_.scaffold->saver()->Save(session, prefix, step).status();
}

absl::Status LastOneSavesHook::AfterCreateSession(const std::shared_ptr<Session>&,
                                                  const std::shared_ptr<Coordinator>& coord) {
  coord_ = coord;
  return absl::OkStatus();
}

// As this task has seen, or the chief that is gone.
std::string LastOneSavesHook::WhyNotToSave() const {
  if (options_.behaviour.nan_stop_saves_nothing && coord_ != nullptr && coord_->diverged()) return "it has diverged";
  if (!options_.behaviour.join_live_model) return "";  // then nobody clears the marks
  absl::StatusOr<std::string> why = WhyNotToTrust(*env_.files, options_.checkpoint_dir);
  if (why.ok()) return *std::move(why);
  env_.log->Write(Severity::kWarning,
                  fmt::format("Whether something is wrong with the model is not known: {}", MessageOf(why.status())));
  return "";
}

absl::Status LastOneSavesHook::End(Session* session) {
  if (session == nullptr || ChiefIsThere()) return absl::OkStatus();
  if (options_.scaffold->saver() == nullptr) return absl::OkStatus();
  if (const std::string why = WhyNotToSave(); !why.empty()) {
    env_.log->Write(Severity::kWarning, fmt::format("The chief is gone, but the model is not saved into {}: {}.",
                                                    options_.checkpoint_dir, why));
    return absl::OkStatus();
  }
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t step, step_.Read(session));
  const std::string prefix = JoinPath(options_.checkpoint_dir, CheckpointSaverHookOptions().checkpoint_basename);
  VIGIL_ASSIGN_OR_RETURN(bool saved, IsSaved(fmt::format("{}-{}", prefix, step)));
  if (saved) return absl::OkStatus();
  env_.log->Write(Severity::kWarning,
                  fmt::format("The chief is gone: this worker saves step {} into {}, since nobody else will.", step,
                              options_.checkpoint_dir));
  absl::Status status = Save(*session, prefix, step);
  for (int i = 1; !status.ok() && i < kAttempts; ++i) {
    // Another worker may have come to the same conclusion: two that write the same files get in each other's way.
    env_.tasks->SleepUntil(DeadlineAfter(env_, kPause));
    VIGIL_ASSIGN_OR_RETURN(saved, IsSaved(fmt::format("{}-{}", prefix, step)));
    status = saved ? absl::OkStatus() : Save(*session, prefix, step);
  }
  return status;
}

}  // namespace vigil
