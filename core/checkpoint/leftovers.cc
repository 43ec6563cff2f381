#include "vigil/core/checkpoint/leftovers.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {
namespace {

// What follows the step in the name of something temporary.
bool IsTemporary(std::string_view rest) {
  if (rest == "_temp") return true;
  if (!rest.starts_with('.')) return false;
  if (rest.ends_with(".tmp")) return true;
  const std::string_view kTempState = ".tempstate";
  const std::size_t at = rest.rfind(kTempState);
  if (at == std::string_view::npos) return false;
  const std::string_view number = rest.substr(at + kTempState.size());
  return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
}

// The step in "<base>-<step><something temporary>".
std::optional<std::int64_t> StepOfTemporary(std::string_view name, std::string_view base) {
  if (!name.starts_with(base)) return std::nullopt;
  name.remove_prefix(base.size());
  if (!name.starts_with('-')) return std::nullopt;
  name.remove_prefix(1);
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc() || step < 0) return std::nullopt;
  name.remove_prefix(static_cast<std::size_t>(end - name.data()));
  return IsTemporary(name) ? std::optional(step) : std::nullopt;
}

absl::Status FineIfGone(const absl::Status& status) {
  return CodeOf(status) == Code::kNotFound ? absl::OkStatus() : status;
}

}  // namespace

std::vector<Leftover> FindLeftovers(Files& files, const std::string& save_path) {
  const std::string directory = Dirname(save_path);
  const std::string base = Basename(save_path);
  std::vector<Leftover> out;
  const absl::StatusOr<std::vector<std::string>> names = files.List(directory.empty() ? "." : directory);
  if (!names.ok()) return out;
  for (const std::string& name : *names) {
    if (const std::optional<std::int64_t> step = StepOfTemporary(name, base)) {
      out.push_back({JoinPath(directory, name), *step});
    }
  }
  return out;
}

absl::Status RemoveLeftover(Files& files, const Leftover& leftover) {
  const absl::StatusOr<FileInfo> info = files.Stat(leftover.path);
  if (!info.ok()) return FineIfGone(info.status());
  if (info->is_directory) {
    VIGIL_ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(leftover.path));
    for (const std::string& name : names) {
      VIGIL_RETURN_IF_ERROR(FineIfGone(files.Remove(JoinPath(leftover.path, name))));
    }
  }
  return FineIfGone(files.Remove(leftover.path));
}

}  // namespace vigil
