#include "vigil/core/checkpoint/restore_newest.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/io/tensor_bundle.h"

namespace vigil {
namespace {

// "model.ckpt-7.index" -> 7.
std::optional<std::int64_t> StepOfIndex(std::string_view name) {
  constexpr std::string_view kSuffix = ".index";
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(name.data() + dash + 1, name.data() + name.size(), step);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(step) : std::nullopt;
}

// "input.ckpt-7.index" belongs to "checkpoint_input", where that is there: such a checkpoint is not a model's.
std::string StateFileOf(const std::set<std::string>& names, std::string_view index) {
  const std::string_view base = index.substr(0, index.rfind('-'));
  const std::string_view kSuffix = ".ckpt";
  if (!base.ends_with(kSuffix)) return std::string(kDefaultStateFile);
  std::string own = fmt::format("{}_{}", kDefaultStateFile, base.substr(0, base.size() - kSuffix.size()));
  return names.contains(own) ? own : std::string(kDefaultStateFile);
}

// What is in the directory, the newest last: by when it was written, then by its step.
absl::StatusOr<std::vector<std::string>> CheckpointsIn(const Env& env, const std::string& directory,
                                                       std::string_view state_file) {
  std::vector<std::tuple<Time, std::int64_t, std::string>> found;
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::string> listed, env.files->List(directory));
  const std::set<std::string> names(listed.begin(), listed.end());
  for (const std::string& name : names) {
    const std::optional<std::int64_t> step = StepOfIndex(name);
    if (!step.has_value() || StateFileOf(names, name) != state_file) continue;
    const absl::StatusOr<FileInfo> info = env.files->Stat(JoinPath(directory, name));
    if (CodeOf(info.status()) == Code::kNotFound) continue;  // deleted since
    VIGIL_RETURN_IF_ERROR(info.status());
    found.emplace_back(info->modified, *step, JoinPath(directory, name.substr(0, name.rfind('.'))));
  }
  std::ranges::sort(found);
  std::vector<std::string> out;
  for (auto& [modified, step, prefix] : found) out.push_back(std::move(prefix));
  return out;
}

// What another checkpoint helps against. All else (no descriptors, a disk that does not answer, no permission) is no
// reason to go back.
bool IsDamage(const absl::Status& status) {
  const Code code = CodeOf(status);
  return code == Code::kDataLoss || code == Code::kNotFound;
}

// The saver has found no checkpoint there: a look at it says how, if it can, but decides nothing.
bool IsNotThere(const absl::Status& restored) { return CodeOf(restored) == Code::kUsage; }

// The state file is there and its bytes say nothing (rather than: it could not be read).
bool IsInvalidState(const absl::Status& status) { return CodeOf(status) == Code::kUsage; }

}  // namespace

absl::StatusOr<std::optional<CheckpointState>> FindCheckpoints(const Env& env, const std::string& directory,
                                                               bool fallback, std::string_view state_file) {
  absl::StatusOr<std::optional<CheckpointState>> state = GetCheckpointState(env, directory, state_file);
  const bool says_something = state.ok() && state->has_value();
  const std::string path = JoinPath(directory, state_file);
  if (!fallback && !state.ok() && !IsInvalidState(state.status())) {
    // As TensorFlow: what keeps it from being read now is as good as no file.
    WarnOfIgnoredState(env, path, state.status());
    return std::nullopt;
  }
  if (!fallback || says_something || (!state.ok() && !IsInvalidState(state.status()))) return state;
  // Without the file the directory was never used, or its owner wants to begin anew.
  VIGIL_ASSIGN_OR_RETURN(const bool there, Exists(*env.files, path));
  if (!there) return state;
  VIGIL_ASSIGN_OR_RETURN(std::vector<std::string> found, CheckpointsIn(env, directory, state_file));
  env.log->Write(Severity::kWarning,
                 fmt::format("{} does not say which checkpoint is the newest; {}", path,
                             found.empty() ? "there is none in the directory" : "the directory says " + found.back()));
  if (found.empty()) return std::nullopt;
  CheckpointState out{.model_checkpoint_path = found.back()};
  out.all_model_checkpoint_paths = std::move(found);
  out.found = true;
  return out;
}

absl::Status RestoreNewest(const Env& env, Saver& saver, Session& session, const CheckpointState& state, bool fallback,
                           const std::vector<std::string>& missing) {
  std::vector<std::string> candidates = {state.model_checkpoint_path};
  if (fallback) {
    std::set<std::string> listed = {state.model_checkpoint_path};
    const std::vector<std::string>& all = state.all_model_checkpoint_paths;
    for (auto each = all.rbegin(); each != all.rend(); ++each) {
      if (listed.insert(*each).second) candidates.push_back(*each);
    }
  }
  absl::Status first;
  for (const std::string& prefix : candidates) {
    const absl::Status restored = saver.RestoreMissingLast(session, prefix, missing);
    if (restored.ok() && state.found) return saver.RecoverLastCheckpoints({prefix});
    if (restored.ok()) return saver.RecoverLastCheckpoints(state.all_model_checkpoint_paths);
    if (first.ok()) first = restored;
    if (!fallback) break;
    // A preemption, a graph that does not fit, files that cannot be read now: another checkpoint would not help, or
    // would hide it. What this look itself meets is nobody's answer.
    const absl::Status damage = VerifyBundle(*env.files, prefix);
    const bool is_gone = IsNotThere(restored) && !damage.ok();
    if (!(IsDamage(damage) || is_gone) || IsPreemption(restored)) return restored;
    env.log->Write(Severity::kWarning,
                   fmt::format("Checkpoint {} is not complete and is passed over: {}", prefix, MessageOf(damage)));
  }
  return first;
}

}  // namespace vigil
