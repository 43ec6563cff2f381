#include "vigil/cli/output.h"

#include "fmt/format.h"
#include "vigil/cli/system.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/traces/input.h"

namespace vigil::cli {

absl::Status WriteOutput(Files& files, const std::string& path, std::string_view data) {
  if (IsSpecialFile(path)) return WriteSpecialFile(path, data);
  const std::string target = BehindLinks(path);
  return WriteAtomically(files, target, data);
}

absl::Status CheckOutput(Files& files, const std::string& path) {
  if (IsSpecialFile(path)) return absl::OkStatus();
  const std::string target = BehindLinks(path);
  const absl::StatusOr<FileInfo> info = files.Stat(target);
  if (info.ok() && info->is_directory) return MakeStatus(Code::kFailedPrecondition, "it is a folder");
  const std::string temporary = target + ".tmp";
  const absl::Status opened = files.Open(temporary, OpenMode::kTemporary).status();
  if (CodeOf(opened) == Code::kAlreadyExists) return absl::OkStatus();  // somebody else's: it can be written there
  VIGIL_RETURN_IF_ERROR(opened);
  return files.Remove(temporary);
}

absl::Status CheckNothingIsLost(const std::vector<OutputFile>& outputs, const std::vector<std::string>& inputs) {
  for (auto one = outputs.begin(); one != outputs.end(); ++one) {
    for (auto other = outputs.begin(); other != one; ++other) {
      if (SameFile(other->path, one->path))
        return MakeStatus(Code::kUsage, fmt::format("{} and {} name the same file", other->option, one->option));
    }
    for (const std::string& input : inputs) {
      const bool same = SameFile(one->path, input);
      if (!same && !(IsBelow(one->path, input) && replays::IsScenarioFile(one->path))) continue;
      const char* const harm =
          same || IsFile(one->path) ? "would overwrite what is read" : "would be read as a scenario";
      return MakeStatus(Code::kUsage, fmt::format("{} {} {}: {}", one->option, replays::Quoted(one->path), harm,
                                                  replays::Quoted(input)));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckFolder(Files& files, const std::string& path) {
  if (path.empty()) return MakeStatus(Code::kUsage, "a folder has a name");
  std::string existing = path;
  while (!existing.empty() && !files.Stat(existing).ok()) existing = Dirname(existing);
  if (existing.empty()) existing = ".";
  VIGIL_ASSIGN_OR_RETURN(const FileInfo info, files.Stat(existing));
  if (!info.is_directory) return MakeStatus(Code::kFailedPrecondition, fmt::format("{} is no folder", existing));
  return CheckOutput(files, JoinPath(existing, ".vigil"));
}

}  // namespace vigil::cli
