#include "vigil/properties/shrink/failure_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>

#include "vigil/core/base/code.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/print.h"

namespace vigil::properties {
namespace {

std::string FileNameOf(std::string_view what) {
  std::string name(what);
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
  };
  std::replace_if(
      name.begin(), name.end(), [&plain](char c) { return !plain(c); }, '_');
  return name;
}

}  // namespace

absl::StatusOr<std::string> FailureFolder::Save(std::string_view name, const replays::Scenario& scenario,
                                                const replays::Expectation* expect) {
  return SaveRecord(name, replays::PrintRecord(scenario, expect));
}

absl::StatusOr<std::string> FailureFolder::SaveRecord(std::string_view name, std::string_view record) {
  const std::string stem = JoinPath(folder_, FileNameOf(name));
  std::string path = stem + ".json";
  for (int number = 2; IsTaken(path); ++number) path = fmt::format("{}-{}.json", stem, number);
  used_.insert(path);
  const std::string line = std::string(record) + "\n";
  absl::Status status = files_.MakeDirectory(folder_);
  if (status.ok()) status = WriteAtomically(files_, path, line);
  if (status.ok()) return path;
  return WithMessage(status,
                     fmt::format("cannot save {}: {}", replays::Quoted(path), replays::Escaped(MessageOf(status))));
}

void FailureFolder::Keep(const std::string& path) {
  const absl::StatusOr<FileInfo> info = files_.Stat(path);
  if (info.ok() && info->identity != decltype(FileInfo::identity)()) kept_.insert(info->identity);
  used_.insert(path);
}

bool FailureFolder::IsTaken(const std::string& path) const {
  if (used_.contains(path)) return true;
  const absl::StatusOr<FileInfo> info = files_.Stat(path);
  return info.ok() && kept_.contains(info->identity);
}

std::string ReplayLine(std::string_view path, const replays::ReplayHow& how) {
  return fmt::format("  {}\n", replays::ReplayCommand(replays::ShellWord(path), how));
}

std::string PlayLimitOf(std::string_view rule, const replays::PlayLimits& limits) {
  if (rule != "crash.timeout" || limits.cpu == replays::PlayLimits().cpu) return "";
  return fmt::format("{}s", std::chrono::duration_cast<std::chrono::seconds>(limits.cpu).count());
}

}  // namespace vigil::properties
