#include "vigil/properties/failure_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "vigil/core/base/code.h"
#include "vigil/replays/escape.h"
#include "vigil/replays/print.h"

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

absl::StatusOr<std::string> SaveFailure(Files& files, const std::string& folder, std::string_view name,
                                        const replays::Scenario& scenario, const replays::Expectation* expect) {
  const std::string path = JoinPath(folder, FileNameOf(name));
  const std::string line = replays::PrintRecord(scenario, expect) + "\n";
  absl::Status status = files.MakeDirectory(folder);
  if (status.ok()) status = WriteAtomically(files, path, line);
  if (status.ok()) return path;
  return WithMessage(status,
                     fmt::format("cannot save {}: {}", replays::Quoted(path), replays::Escaped(MessageOf(status))));
}

std::string ReplayLine(std::string_view path) { return fmt::format("  ./vigil replay {}\n", replays::ShellWord(path)); }

}  // namespace vigil::properties
