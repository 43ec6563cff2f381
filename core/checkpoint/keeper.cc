// A save goes through three lists: last_ (kept, oldest first), too_many_ (to be deleted, once the state file no longer
// promises them) and what is gone. Add() only moves a name from the first to the second; the state file is written
// before anything is deleted, so that whenever the process dies the file names what is there.
#include "vigil/core/checkpoint/keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/io/tensor_bundle.h"

namespace vigil {
namespace {

// Beyond this many seconds a Time of our age plus a Duration would overflow; it is more than two hundred years.
constexpr double kLongest = 7e9;

constexpr Time kLongAgo{Duration::min()};

Time AtSeconds(double seconds) { return seconds < kLongest ? TimeOfTimestamp(seconds) : kNever; }

// The digits in "<save_path>-<digits>", which is what a saver of that path may delete; "" for another prefix.
std::string_view StepText(std::string_view prefix, std::string_view save_path) {
  if (!prefix.starts_with(save_path)) return "";
  prefix.remove_prefix(save_path.size());
  if (!prefix.starts_with('-')) return "";
  prefix.remove_prefix(1);
  return prefix.find_first_not_of("0123456789") == std::string_view::npos ? prefix : "";
}

// Of a directory that is spelled in two ways, too: who deletes the one deletes the other.
bool AreSame(Files& files, const std::string& a, const std::string& b) {
  if (a == b) return true;
  if (Basename(a) != Basename(b)) return false;
  if (CleanPath(a) == CleanPath(b)) return true;
  const absl::StatusOr<FileInfo> of_a = files.Stat(IndexFileName(a));
  const absl::StatusOr<FileInfo> of_b = files.Stat(IndexFileName(b));
  const bool known = of_a.ok() && of_b.ok() && of_a->identity != FileInfo().identity;
  return known && of_a->identity == of_b->identity;
}

}  // namespace

Duration PreserveEvery(double hours) {
  const double seconds = static_cast<double>(static_cast<float>(hours)) * 3600;
  return Seconds(std::clamp(std::isnan(seconds) ? kLongest : seconds, -kLongest, kLongest));
}

void Keeper::Start(const KeeperOptions& options) {
  VIGIL_CHECK(!options.limits_hold || options.max_to_keep >= 0);  // or all would be too many, the newest as well
  options_ = options;
  preserve_after_ = env_.clock->Now() + options.preserve_every;
}

void Keeper::Set(std::vector<KeptCheckpoint> checkpoints) {
  last_ = std::move(checkpoints);
  was_set_ = true;
  if (!options_.limits_hold) return;
  std::erase_if(too_many_, [this](const KeptCheckpoint& each) {
    return std::ranges::count(last_, each.prefix, &KeptCheckpoint::prefix) != 0;
  });
}

std::vector<std::string> Keeper::paths() const {
  std::vector<std::string> out;
  for (const KeptCheckpoint& each : last_) out.push_back(each.prefix);
  return out;
}

absl::Status Keeper::Begin(const Save& save) {
  if (!options_.limits_hold) return absl::OkStatus();
  // The one before has failed: what it left is to be found.
  if (!saving_.empty()) unfinished_saves_.erase(saving_);
  saving_ = save.save_path;
  const std::string path = JoinPath(save.directory, save.state_file);
  if (taken_over_.contains(path)) return absl::OkStatus();
  VIGIL_RETURN_IF_ERROR(TakeOver(save));
  taken_over_.insert(path);
  return absl::OkStatus();
}

absl::Status Keeper::TakeOver(const Save& save) {
  const absl::StatusOr<std::optional<CheckpointState>> found =
      GetCheckpointState(env_, save.directory, save.state_file);
  if (CodeOf(found.status()) == Code::kUsage) return absl::OkStatus();  // its bytes say nothing; it is replaced
  VIGIL_RETURN_IF_ERROR(found.status());
  if (!found->has_value()) return absl::OkStatus();
  const CheckpointState& state = **found;
  if (const double at = state.last_preserved_timestamp.value_or(kLongest); std::abs(at) < kLongest) {
    preserve_after_ = std::min(preserve_after_, AtSeconds(at) + options_.preserve_every);
  }
  const std::vector<std::string>& all = state.all_model_checkpoint_paths;
  const std::vector<double>& times = state.all_model_checkpoint_timestamps;
  std::vector<KeptCheckpoint> kept;
  std::vector<KeptCheckpoint> half_deleted;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (StepText(all[i], save.save_path).empty()) continue;
    if (std::ranges::count(last_, all[i], &KeptCheckpoint::prefix) != 0) continue;
    const absl::StatusOr<FileInfo> index = env_.files->Stat(IndexFileName(all[i]));
    if (CodeOf(index.status()) == Code::kNotFound) {
      half_deleted.push_back({all[i], kLongAgo});  // the rest goes
      continue;
    }
    VIGIL_RETURN_IF_ERROR(index.status());
    if (!was_set_) kept.push_back({all[i], times.size() == all.size() ? AtSeconds(times[i]) : index->modified});
  }
  last_.insert(last_.begin(), kept.begin(), kept.end());  // in the order of the list, whatever their times are
  too_many_.insert(too_many_.end(), half_deleted.begin(), half_deleted.end());
  return absl::OkStatus();
}

void Keeper::Add(const Save& save) {
  saving_.clear();
  if (options_.max_to_keep == 0) return;
  const auto same = [&](const KeptCheckpoint& each) { return AreSame(*env_.files, each.prefix, save.written); };
  std::erase_if(last_, same);
  if (options_.limits_hold) std::erase_if(too_many_, same);
  last_.push_back({save.written, env_.clock->Now()});
  while (std::ssize(last_) > options_.max_to_keep) {
    too_many_.push_back(std::move(last_.front()));
    last_.erase(last_.begin());
    if (!options_.limits_hold) break;
  }
}

absl::Status Keeper::Commit(const Save& save) {
  if (absl::Status status = WriteState(save); !status.ok()) return status;
  if (options_.limits_hold) {
    DeleteAll(save);
    DeleteUnfinishedSaves(save);
  } else {
    DeleteOne(save);
  }
  return absl::OkStatus();
}

void Keeper::EmitLists() const {
  if (env_.events == nullptr) return;
  std::string kept;
  for (const KeptCheckpoint& each : last_) kept += each.prefix + '\n';
  EmitSaverDetail(env_.events, SaverDetail::kLists, kept,
                  {.kind = EventKind::kSaverDetail,
                   .has_value = true,
                   .index = static_cast<std::int32_t>(last_.size()),
                   .value = static_cast<double>(options_.max_to_keep)});
}

absl::Status Keeper::WriteState(const Save& save) const {
  EmitLists();
  CheckpointState state{.model_checkpoint_path = save.written};
  if (options_.limits_hold) {
    for (const std::vector<KeptCheckpoint>* list : {&too_many_, &last_}) {
      for (const KeptCheckpoint& each : *list) {
        state.all_model_checkpoint_paths.push_back(each.prefix);
        state.all_model_checkpoint_timestamps.push_back(ToSeconds(each.written.since_epoch));
      }
    }
    // Nothing to say on the one that is not recorded and would be added.
    if (last_.empty() || last_.back().prefix != save.written) state.all_model_checkpoint_timestamps.clear();
    state.last_preserved_timestamp = ToSeconds(preserve_after_.since_epoch - options_.preserve_every);
  } else {
    state.all_model_checkpoint_paths = paths();
  }
  absl::Status listed = UpdateCheckpointState(
      env_, save.directory, std::move(state),
      {.relative_paths = options_.relative_paths, .state_file = save.state_file, .synced = options_.synced});
  EmitSaverDetail(env_.events, SaverDetail::kListed, "", {.kind = EventKind::kSaverDetail, .code = CodeOf(listed)});
  return listed;
}

bool Keeper::DeleteOrPreserve(const KeptCheckpoint& checkpoint, const Save& save) {
  if (checkpoint.written > preserve_after_) {
    preserve_after_ = preserve_after_ + options_.preserve_every;
    return true;
  }
  EmitSaverDetail(env_.events, SaverDetail::kDeletes, checkpoint.prefix,
                  {.kind = EventKind::kSaverDetail, .has_value = true, .value = options_.limits_hold ? 1.0 : 0.0});
  const absl::Status status = RemoveCheckpoint(*env_.files, checkpoint.prefix, options_.synced, save.meta_graph_suffix);
  if (!status.ok()) env_.log->Write(Severity::kWarning, fmt::format("Ignoring: {}", MessageOf(status)));
  return status.ok();
}

void Keeper::DeleteOne(const Save& save) {
  if (too_many_.empty()) return;
  const KeptCheckpoint checkpoint = std::move(too_many_.front());
  too_many_.erase(too_many_.begin());
  DeleteOrPreserve(checkpoint, save);
}

void Keeper::DeleteAll(const Save& save) {
  const auto done = std::erase_if(too_many_, [&](const KeptCheckpoint& each) { return DeleteOrPreserve(each, save); });
  if (done == 0) return;
  // The state file lists what is gone now; that does no harm until the next save.
  const absl::Status status = WriteState(save);
  if (!status.ok()) env_.log->Write(Severity::kWarning, fmt::format("Ignoring: {}", MessageOf(status)));
}

void Keeper::DeleteUnfinishedSaves(const Save& save) {
  const auto [it, first] = unfinished_saves_.try_emplace(save.save_path);
  if (first) it->second = FindUnfinishedSaves(*env_.files, save.save_path, save.state_file);
  const std::string_view digits = StepText(save.written, save.save_path);
  std::int64_t step = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), step).ec != std::errc()) return;
  if (it->second.empty()) return;
  // Just written: the file system's clock, which need not be this machine's.
  const absl::StatusOr<FileInfo> state = env_.files->Stat(JoinPath(save.directory, save.state_file));
  if (!state.ok()) return;
  std::erase_if(it->second, [&](const UnfinishedSave& unfinished) {
    if (unfinished.step > step) return false;
    const absl::StatusOr<bool> abandoned = IsAbandoned(*env_.files, unfinished, state->modified);
    if (abandoned.ok() && !*abandoned) return false;
    const absl::Status status = abandoned.ok() ? RemoveUnfinishedSave(*env_.files, unfinished) : abandoned.status();
    if (!status.ok()) env_.log->Write(Severity::kWarning, fmt::format("Ignoring: {}", MessageOf(status)));
    return status.ok();
  });
}

}  // namespace vigil
