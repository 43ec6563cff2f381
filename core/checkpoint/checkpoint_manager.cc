#include "vigil/core/checkpoint/checkpoint_manager.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/ops/ops.h"

namespace vigil {
namespace {

// "/d/ckpt-7" -> 7; 0 if there is none.
std::int64_t NumberOf(const std::string& prefix) {
  const std::size_t dash = prefix.rfind('-');
  std::int64_t number = 0;
  if (dash != std::string::npos) std::from_chars(prefix.data() + dash + 1, prefix.data() + prefix.size(), number);
  return number;
}

}  // namespace

absl::StatusOr<SaveCounter> MakeSaveCounter(Builder& b) {
  const ops::Variable counter =
      ops::MakeVariable(b, "save_counter", b.Const("save_counter/zero", Tensor::Scalar<std::int64_t>(0)));
  const Output one = b.Const("save_counter/one", Tensor::Scalar<std::int64_t>(1));
  const SaveCounter out{counter.ref, ops::AssignAdd(b, "save_counter/increment", counter.ref, one).node};
  VIGIL_RETURN_IF_ERROR(b.status());
  return out;
}

absl::StatusOr<std::unique_ptr<CheckpointManager>> CheckpointManager::Create(const Env& env, SaverPtr saver,
                                                                             CheckpointManagerOptions options) {
  if (options.max_to_keep.has_value() && *options.max_to_keep <= 0) {
    return UsageError(
        fmt::format("Expected a positive integer or `None` for `max_to_keep`, got {}.", *options.max_to_keep));
  }
  if (std::isnan(options.keep_checkpoint_every_n_hours.value_or(0))) {
    return UsageError("`keep_checkpoint_every_n_hours` must be a number or `None`, got nan.");
  }
  if (options.checkpoint_interval.has_value() && !options.step_counter.has_value()) {
    return UsageError("`step_counter` should be passed if `checkpoint_interval` is not None.");
  }
  std::unique_ptr<CheckpointManager> out(new CheckpointManager(env, std::move(saver), std::move(options)));
  VIGIL_RETURN_IF_ERROR(out->Recover());
  return out;
}

absl::Status CheckpointManager::Recover() {
  last_step_ = options_.last_checkpoint_step;
  const Time now = env_.clock->Now();
  // Later than this is what may be deleted.
  last_preserved_ = now + std::chrono::seconds(-1);
  VIGIL_ASSIGN_OR_RETURN(const std::optional<CheckpointState> state, GetCheckpointState(env_, options_.directory));
  if (!state.has_value()) return absl::OkStatus();
  latest_ = state->model_checkpoint_path;
  last_number_ = NumberOf(*latest_);
  // Nobody says: then all that is there counts as preserved.
  last_preserved_ = TimeOfTimestamp(state->last_preserved_timestamp.value_or(0));
  if (now < last_preserved_) {
    env_.log->Write(Severity::kWarning,
                    fmt::format("The clock is {:f} seconds behind the last preserved checkpoint timestamp.",
                                ToSeconds(last_preserved_ - now)));
    last_preserved_ = now;
  }
  const std::vector<double>& times = state->all_model_checkpoint_timestamps;
  const std::vector<std::string>& all = state->all_model_checkpoint_paths;
  for (std::size_t i = 0; i < std::min(all.size(), times.size()); ++i) {
    const Time written = std::min(TimeOfTimestamp(times[i]), now);
    if (written > last_preserved_) active_.push_back({all[i], written});
  }
  return absl::OkStatus();
}

std::vector<std::string> CheckpointManager::checkpoints() const {
  std::vector<std::string> out;
  for (const KeptCheckpoint& each : active_) out.push_back(each.prefix);
  return out;
}

absl::StatusOr<std::int64_t> CheckpointManager::Step(Session& session) const {
  VIGIL_ASSIGN_OR_RETURN(const Tensor value, RunFetch(session, *options_.step_counter));
  return StepOf(value);
}

absl::Status CheckpointManager::WriteState() const {
  CheckpointState state{.model_checkpoint_path = *latest_};
  for (const KeptCheckpoint& each : active_) {
    state.all_model_checkpoint_paths.push_back(each.prefix);
    state.all_model_checkpoint_timestamps.push_back(ToSeconds(each.written.since_epoch));
  }
  state.last_preserved_timestamp = ToSeconds(last_preserved_.since_epoch);
  return UpdateCheckpointState(env_, options_.directory, std::move(state),
                               {.relative_paths = true, .synced = saver_->options().behaviour.durable_saves});
}

void CheckpointManager::Sweep() {
  if (!options_.max_to_keep.has_value()) return;
  std::vector<KeptCheckpoint> undeleted;  // tried again at the next save
  while (std::ssize(active_) > *options_.max_to_keep) {
    const KeptCheckpoint oldest = std::move(active_.front());
    active_.erase(active_.begin());
    if (options_.keep_checkpoint_every_n_hours.value_or(0) != 0) {
      constexpr double kLongest = 7e9;  // seconds; more than two hundred years
      const Duration every = Seconds(std::clamp(*options_.keep_checkpoint_every_n_hours * 3600, 0.0, kLongest));
      if (oldest.written - last_preserved_ >= every) {
        last_preserved_ = oldest.written;
        continue;
      }
    }
    const absl::Status removed =
        RemoveCheckpoint(*env_.files, oldest.prefix, saver_->options().behaviour.durable_saves);
    if (removed.ok()) continue;
    env_.log->Write(Severity::kWarning, fmt::format("Ignoring: {}", MessageOf(removed)));
    undeleted.push_back(oldest);
  }
  active_.insert(active_.begin(), undeleted.begin(), undeleted.end());
}

absl::StatusOr<std::int64_t> CheckpointManager::NextNumber(Session& session) const {
  if (!options_.save_counter.has_value()) return last_number_ + 1;
  VIGIL_RETURN_IF_ERROR(RunTarget(session, options_.save_counter->increment));
  VIGIL_ASSIGN_OR_RETURN(const Tensor value, RunFetch(session, options_.save_counter->value));
  return StepOf(value);
}

absl::StatusOr<std::optional<std::string>> CheckpointManager::Save(Session& session, std::optional<std::int64_t> number,
                                                                   bool check_interval) {
  std::optional<std::int64_t> step;
  if (options_.checkpoint_interval.has_value()) {
    VIGIL_ASSIGN_OR_RETURN(step, Step(session));
    if (last_step_.has_value()) {
      if (*step == *last_step_) return std::nullopt;
      if (check_interval && *step < *last_step_ + *options_.checkpoint_interval) return std::nullopt;
    }
  }
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t next, NextNumber(session));
  last_number_ = number.value_or(next);
  VIGIL_ASSIGN_OR_RETURN(std::string prefix,
                         saver_->Save(session, JoinPath(options_.directory, options_.checkpoint_name), last_number_,
                                      {.write_meta_graph = false, .write_state = false}));
  if (step.has_value()) last_step_ = step;
  std::erase_if(active_, [&prefix](const KeptCheckpoint& each) { return each.prefix == prefix; });
  active_.push_back({prefix, env_.clock->Now()});
  latest_ = prefix;
  // Twice: a crash while sweeping leaves a state file that names the newest.
  VIGIL_RETURN_IF_ERROR(WriteState());
  Sweep();
  VIGIL_RETURN_IF_ERROR(WriteState());
  return std::optional<std::string>(std::move(prefix));
}

absl::StatusOr<std::optional<std::string>> CheckpointManager::RestoreOrInitialize(Session& session) {
  if (latest_.has_value()) {
    VIGIL_ASSIGN_OR_RETURN(const bool there, CheckpointExists(env_, *latest_));
    if (!there) {
      return MakeStatus(Code::kNotFound,
                        fmt::format("Error when restoring from checkpoint at {}: there is none.", *latest_));
    }
    VIGIL_RETURN_IF_ERROR(saver_->Restore(session, *latest_));
    if (options_.checkpoint_interval.has_value()) {
      VIGIL_ASSIGN_OR_RETURN(last_step_, Step(session));
    }
    return latest_;
  }
  if (options_.init_fn != nullptr) {
    VIGIL_RETURN_IF_ERROR(CallGuarded([&]() -> absl::Status { return options_.init_fn(session); }));
  }
  return std::nullopt;
}

}  // namespace vigil
