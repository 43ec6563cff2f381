#include "vigil/core/checkpoint/unfinished_saves.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <set>
#include <string_view>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/saver_ops.h"
#include "vigil/core/io/tensor_bundle.h"

namespace vigil {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kHexDigits = "0123456789abcdef";

bool ConsistsOf(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == std::string_view::npos;
}

// ".tmp", ".tmp1", ...: what WriteAtomically makes of a name.
bool EndsAsTemporary(std::string_view name) {
  const std::string_view kTmp = ".tmp";
  const std::size_t at = name.rfind(kTmp);
  return at != std::string_view::npos && ConsistsOf(name.substr(at + kTmp.size()), kDigits);
}

// What follows the step in the name of something temporary.
bool IsTemporary(std::string_view rest) {
  if (rest.starts_with(kTemporaryFolder)) {
    rest.remove_prefix(kTemporaryFolder.size());
    return rest.empty() || (rest.size() > 1 && rest.front() == '_' && ConsistsOf(rest.substr(1), kHexDigits));
  }
  if (!rest.starts_with('.')) return false;
  if (EndsAsTemporary(rest)) return true;
  const std::string_view kTempState = ".tempstate";
  const std::size_t at = rest.rfind(kTempState);
  if (at == std::string_view::npos) return false;
  const std::string_view number = rest.substr(at + kTempState.size());
  return !number.empty() && ConsistsOf(number, kDigits);
}

struct Stepped {
  std::int64_t step = 0;
  std::string_view prefix;  // with the step
  std::string_view rest;
};

// "<base>-<step><rest>".
std::optional<Stepped> SplitName(std::string_view name, std::string_view base) {
  std::string_view left = name;
  if (!left.starts_with(base)) return std::nullopt;
  left.remove_prefix(base.size());
  if (!left.starts_with('-')) return std::nullopt;
  left.remove_prefix(1);
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(left.data(), left.data() + left.size(), step);
  if (error != std::errc() || step < 0) return std::nullopt;
  left.remove_prefix(static_cast<std::size_t>(end - left.data()));
  return Stepped{step, name.substr(0, name.size() - left.size()), left};
}

absl::Status FineIfGone(const absl::Status& status) {
  return CodeOf(status) == Code::kNotFound ? absl::OkStatus() : status;
}

}  // namespace

std::vector<UnfinishedSave> FindUnfinishedSaves(Files& files, const std::string& save_path,
                                                std::string_view state_file) {
  const std::string directory = Dirname(save_path);
  const std::string base = Basename(save_path);
  std::vector<UnfinishedSave> out;
  const absl::StatusOr<std::vector<std::string>> names = files.List(directory.empty() ? "." : directory);
  if (!names.ok()) return out;
  const std::set<std::string, std::less<>> all(names->begin(), names->end());
  for (const std::string& name : *names) {
    const std::string path = JoinPath(directory, name);
    if (!state_file.empty() && name.starts_with(state_file) && name.size() > state_file.size() &&
        name.rfind(".tmp") == state_file.size() && EndsAsTemporary(name)) {
      out.push_back({path, 0});
    }
    const std::optional<Stepped> parts = SplitName(name, base);
    if (!parts.has_value()) continue;
    if (IsTemporary(parts->rest)) {
      out.push_back({path, parts->step});
    } else if (parts->rest.starts_with(".data-") && !all.contains(IndexFileName(parts->prefix))) {
      out.push_back({path, parts->step, IndexFileName(JoinPath(directory, parts->prefix))});
    }
  }
  return out;
}

absl::StatusOr<bool> IsAbandoned(Files& files, const UnfinishedSave& unfinished, Time now) {
  const absl::StatusOr<FileInfo> info = files.Stat(unfinished.path);
  if (CodeOf(info.status()) == Code::kNotFound) return true;
  VIGIL_RETURN_IF_ERROR(info.status());
  Time changed = info->modified;
  if (info->is_directory) {
    VIGIL_ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(unfinished.path));
    for (const std::string& name : names) {
      const absl::StatusOr<FileInfo> part = files.Stat(JoinPath(unfinished.path, name));
      if (CodeOf(part.status()) == Code::kNotFound) return false;  // somebody is at it
      VIGIL_RETURN_IF_ERROR(part.status());
      changed = std::max(changed, part->modified);
    }
  }
  return now - changed >= kAbandonedAfter;
}

absl::Status RemoveUnfinishedSave(Files& files, const UnfinishedSave& unfinished) {
  if (!unfinished.unless.empty()) {
    VIGIL_ASSIGN_OR_RETURN(const bool in_use, Exists(files, unfinished.unless));
    if (in_use) return absl::OkStatus();  // it goes with its checkpoint
  }
  const absl::StatusOr<FileInfo> info = files.Stat(unfinished.path);
  if (!info.ok()) return FineIfGone(info.status());
  if (info->is_directory) {
    VIGIL_ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(unfinished.path));
    for (const std::string& name : names) {
      VIGIL_RETURN_IF_ERROR(FineIfGone(files.Remove(JoinPath(unfinished.path, name))));
    }
  }
  return FineIfGone(files.Remove(unfinished.path));
}

}  // namespace vigil
