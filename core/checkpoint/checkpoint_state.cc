#include "vigil/core/checkpoint/checkpoint_state.h"

#include <fmt/format.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/checkpoint_state.pb.h"
#include "vigil/core/io/tensor_bundle.h"

namespace vigil {
namespace {

using google::protobuf::TextFormat;

// Keeps the first complaint; without a collector protobuf writes to standard error.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) text_ = fmt::format("{}:{}: {}", line + 1, column + 1, message);
  }
  void AddWarning(int, int, const std::string&) override {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

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

}  // namespace

absl::StatusOr<std::optional<CheckpointState>> GetCheckpointState(const Env& env, const std::string& directory,
                                                                  std::string_view state_file) {
  const std::string path = JoinPath(directory, state_file);
  if (!Exists(*env.files, path)) return std::nullopt;
  const absl::StatusOr<std::string> text = ReadAll(*env.files, path);
  proto::CheckpointState parsed;
  FirstError error;
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!text.ok() || !parser.ParseFromString(*text, &parsed)) {
    const std::string_view why = text.ok() ? std::string_view(error.text()) : MessageOf(text.status());
    env.log->Write(Severity::kWarning, fmt::format("{}: {}", path, why));
    env.log->Write(Severity::kWarning, fmt::format("{}: Checkpoint ignored", path));
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

absl::Status UpdateCheckpointState(const Env& env, const std::string& directory, CheckpointState state,
                                   bool relative_paths, std::string_view state_file) {
  std::vector<std::string>& all = state.all_model_checkpoint_paths;
  if (all.empty() || all.back() != state.model_checkpoint_path) all.push_back(state.model_checkpoint_path);
  const std::vector<double>& timestamps = state.all_model_checkpoint_timestamps;
  if (!timestamps.empty() && timestamps.size() != all.size()) {
    return UsageError(
        fmt::format("Checkpoint timestamps, if provided, must match checkpoint paths (got {} paths and {} timestamps)",
                    all.size(), timestamps.size()));
  }
  const std::string path = JoinPath(directory, state_file);
  if (path == state.model_checkpoint_path) {
    return UsageError(fmt::format(
        "Save path '{}' conflicts with path used for checkpoint state.  Please use a different save path.", path));
  }
  // Relative to the directory: what is asked to be, and what is relative to where the process runs.
  const auto written = [&](const std::string& each) {
    const bool same_kind = IsAbsolute(each) == IsAbsolute(directory);
    return same_kind && (relative_paths || !IsAbsolute(directory)) ? RelativeTo(each, directory) : each;
  };
  proto::CheckpointState out;
  out.set_model_checkpoint_path(written(state.model_checkpoint_path));
  for (const std::string& each : all) out.add_all_model_checkpoint_paths(written(each));
  for (const double timestamp : timestamps) out.add_all_model_checkpoint_timestamps(timestamp);
  if (state.last_preserved_timestamp.has_value()) out.set_last_preserved_timestamp(*state.last_preserved_timestamp);
  std::string text;
  if (!TextFormat::PrintToString(out, &text))
    return MakeStatus(Code::kInternal, "the checkpoint state cannot be printed");
  return WriteAtomically(*env.files, path, text);
}

bool CheckpointExists(const Env& env, const std::string& prefix) {
  return Exists(*env.files, IndexFileName(prefix)) || Exists(*env.files, prefix);
}

}  // namespace vigil
