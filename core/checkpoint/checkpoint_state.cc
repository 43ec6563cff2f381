#include "vigil/core/checkpoint/checkpoint_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/checkpoint_state.pb.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/core/tensor/proto_util.h"

namespace vigil {
namespace {

bool IsAbsolute(std::string_view path) { return !path.empty() && path.front() == '/'; }

// The names along a path, without "." and with ".." resolved where that is possible.
std::vector<std::string> Components(std::string_view path) {
  std::vector<std::string> out;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (name.empty() || name == ".") continue;
    if (name == ".." && !out.empty() && out.back() != "..") {
      out.pop_back();
    } else {
      out.emplace_back(name);
    }
  }
  return out;
}

// Python's os.path.relpath for two paths that are both absolute or both relative.
std::string RelativeTo(const std::string& path, const std::string& directory) {
  const std::vector<std::string> from = Components(directory);
  const std::vector<std::string> to = Components(path);
  std::size_t shared = 0;
  while (shared < from.size() && shared < to.size() && from[shared] == to[shared]) ++shared;
  std::vector<std::string> parts(from.size() - shared, "..");
  parts.insert(parts.end(), to.begin() + static_cast<std::ptrdiff_t>(shared), to.end());
  return parts.empty() ? "." : fmt::format("{}", fmt::join(parts, "/"));
}

// Whether `name` is a data file of that checkpoint, of any shard. In the pattern '#' stands for any character.
bool IsDataFile(std::string_view name, std::string_view base) {
  constexpr std::string_view kPattern = ".data-#####-of-#####";
  if (!name.starts_with(base)) return false;
  name.remove_prefix(base.size());
  return std::ranges::equal(name, kPattern, [](char c, char wanted) { return wanted == '#' || c == wanted; });
}

// Of the file that makes the checkpoint: its index, or the first of TensorFlow's first format.
absl::StatusOr<FileInfo> InfoOf(Files& files, const std::string& prefix) {
  const absl::StatusOr<FileInfo> index = files.Stat(IndexFileName(prefix));
  if (CodeOf(index.status()) != Code::kNotFound) return index;
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::string> shards, V1ShardsOf(files, prefix));
  return files.Stat(shards.front());
}

// Another process may be deleting it, too.
absl::Status RemoveIfThere(Files& files, const std::string& path) {
  const absl::Status removed = files.Remove(path);
  return CodeOf(removed) == Code::kNotFound ? absl::OkStatus() : removed;
}

}  // namespace

void WarnOfIgnoredState(const Env& env, const std::string& path, const absl::Status& why) {
  env.log->Write(Severity::kWarning, fmt::format("{}: {}", path, MessageOf(why)));
  env.log->Write(Severity::kWarning, fmt::format("{}: Checkpoint ignored", path));
}

absl::StatusOr<std::optional<CheckpointState>> GetCheckpointState(const Env& env, const std::string& directory,
                                                                  std::string_view state_file) {
  const std::string path = JoinPath(directory, state_file);
  VIGIL_ASSIGN_OR_RETURN(const bool there, Exists(*env.files, path));
  if (!there) return std::nullopt;
  const absl::StatusOr<std::string> text = ReadAll(*env.files, path);
  if (CodeOf(text.status()) == Code::kNotFound) return std::nullopt;  // removed since
  VIGIL_RETURN_IF_ERROR(text.status());
  proto::CheckpointState parsed;
  const absl::Status read = ParseProtoText(*text, &parsed, UnknownFields::kRefused);
  if (!read.ok()) {
    WarnOfIgnoredState(env, path, read);
    return std::nullopt;
  }
  if (parsed.model_checkpoint_path().empty()) {
    return UsageError(fmt::format("Invalid checkpoint state loaded from {}", directory));
  }
  CheckpointState state;
  state.model_checkpoint_path = JoinPath(directory, parsed.model_checkpoint_path());
  for (const std::string& each : parsed.all_model_checkpoint_paths()) {
    state.all_model_checkpoint_paths.push_back(JoinPath(directory, each));
  }
  state.all_model_checkpoint_timestamps.assign(parsed.all_model_checkpoint_timestamps().begin(),
                                               parsed.all_model_checkpoint_timestamps().end());
  if (parsed.has_last_preserved_timestamp()) state.last_preserved_timestamp = parsed.last_preserved_timestamp();
  return state;
}

Time TimeOfTimestamp(double seconds) {
  constexpr double kLongest = 9e9;  // what a Time can say
  return Time{Seconds(seconds > 0 ? std::min(seconds, kLongest) : 0)};
}

absl::StatusOr<CheckpointState> GenerateCheckpointState(const std::string& directory, CheckpointState state,
                                                        bool relative_paths) {
  std::vector<std::string>& all = state.all_model_checkpoint_paths;
  if (all.empty() || all.back() != state.model_checkpoint_path) all.push_back(state.model_checkpoint_path);
  const std::size_t timestamps = state.all_model_checkpoint_timestamps.size();
  if (timestamps != 0 && timestamps != all.size()) {
    return UsageError(
        fmt::format("Checkpoint timestamps, if provided, must match checkpoint paths (got {} paths and {} timestamps)",
                    all.size(), timestamps));
  }
  // Relative to the directory: what is asked to be, and what is relative to where the process runs.
  const auto shorten = [&](std::string& path) {
    const bool same_kind = IsAbsolute(path) == IsAbsolute(directory);
    if (same_kind && (relative_paths || !IsAbsolute(directory))) path = RelativeTo(path, directory);
  };
  shorten(state.model_checkpoint_path);
  for (std::string& path : all) shorten(path);
  return state;
}

absl::Status UpdateCheckpointState(const Env& env, const std::string& directory, CheckpointState state,
                                   const UpdateStateOptions& options) {
  const std::string given = state.model_checkpoint_path;
  VIGIL_ASSIGN_OR_RETURN(state, GenerateCheckpointState(directory, std::move(state), options.relative_paths));
  const std::string path = JoinPath(directory, options.state_file);
  if (path == state.model_checkpoint_path) {
    return UsageError(fmt::format(
        "Save path '{}' conflicts with path used for checkpoint state.  Please use a different save path.", given));
  }
  proto::CheckpointState out;
  out.set_model_checkpoint_path(state.model_checkpoint_path);
  for (const std::string& each : state.all_model_checkpoint_paths) out.add_all_model_checkpoint_paths(each);
  for (const double each : state.all_model_checkpoint_timestamps) out.add_all_model_checkpoint_timestamps(each);
  if (state.last_preserved_timestamp.has_value()) out.set_last_preserved_timestamp(*state.last_preserved_timestamp);
  return WriteAtomically(*env.files, path, PrintProtoText(out), options.synced);
}

absl::StatusOr<std::optional<std::string>> LatestCheckpoint(const Env& env, const std::string& directory,
                                                            std::string_view state_file) {
  VIGIL_ASSIGN_OR_RETURN(const std::optional<CheckpointState> state, GetCheckpointState(env, directory, state_file));
  if (!state.has_value()) return std::nullopt;
  VIGIL_ASSIGN_OR_RETURN(const bool there, CheckpointExists(env, state->model_checkpoint_path));
  if (there) return state->model_checkpoint_path;
  env.log->Write(Severity::kError, fmt::format("Couldn't match files for checkpoint {}", state->model_checkpoint_path));
  return std::nullopt;
}

absl::StatusOr<bool> CheckpointExists(const Env& env, const std::string& prefix) {
  const absl::Status status = InfoOf(*env.files, prefix).status();
  if (CodeOf(status) == Code::kNotFound) return false;
  VIGIL_RETURN_IF_ERROR(status);
  return true;
}

absl::StatusOr<std::vector<Time>> GetCheckpointMtimes(const Env& env, const std::vector<std::string>& prefixes) {
  std::vector<Time> out;
  for (const std::string& prefix : prefixes) {
    const absl::StatusOr<FileInfo> info = InfoOf(*env.files, prefix);
    if (CodeOf(info.status()) == Code::kNotFound) continue;
    VIGIL_RETURN_IF_ERROR(info.status());
    out.push_back(info->modified);
  }
  return out;
}

std::string MetaGraphFileName(std::string_view prefix, std::string_view suffix) {
  constexpr std::string_view kDigits = "0123456789";
  const auto ends_before = [](std::string_view text, std::string_view characters) {
    const std::size_t last = text.find_last_not_of(characters);
    return last == std::string_view::npos ? 0 : last + 1;
  };
  // What is before "-<digits or ?>-of-<digits>".
  std::string_view base = prefix;
  const std::size_t count = ends_before(base, kDigits);
  constexpr std::string_view kOf = "-of-";
  if (count < base.size() && base.substr(0, count).ends_with(kOf)) {
    const std::string_view shard = base.substr(0, count - kOf.size());
    const std::size_t number = ends_before(shard, "0123456789?");
    if (number > 0 && number < shard.size() && shard[number - 1] == '-') base = shard.substr(0, number - 1);
  }
  return fmt::format("{}.{}", base, suffix);
}

absl::Status RemoveCheckpoint(Files& files, const std::string& prefix, bool synced,
                              std::string_view meta_graph_suffix) {
  VIGIL_RETURN_IF_ERROR(RemoveIfThere(files, MetaGraphFileName(prefix, meta_graph_suffix)));
  VIGIL_RETURN_IF_ERROR(RemoveIfThere(files, IndexFileName(prefix)));
  const std::string directory = Dirname(prefix);
  if (synced) VIGIL_RETURN_IF_ERROR(files.SyncDirectory(directory));
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(directory.empty() ? "." : directory));
  for (const std::string& name : names) {
    if (IsDataFile(name, Basename(prefix))) VIGIL_RETURN_IF_ERROR(RemoveIfThere(files, JoinPath(directory, name)));
  }
  return absl::OkStatus();
}

}  // namespace vigil
