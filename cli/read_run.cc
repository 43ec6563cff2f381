#include "vigil/cli/read_run.h"

#include <optional>
#include <utility>

#include "fmt/format.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/traces/input.h"
#include "vigil/replays/traces/trace_file.h"

namespace vigil::cli {

RunName SplitRunName(Files& files, const std::string& name) {
  const std::size_t hash = name.rfind('#');
  const bool whole = hash == std::string::npos || hash == 0 || hash + 1 == name.size() || files.Stat(name).ok();
  return whole ? RunName{name, ""} : RunName{name.substr(0, hash), name.substr(hash + 1)};
}

absl::StatusOr<replays::Recording> ReadRun(Files& files, const RunName& name) {
  const auto& [path, id] = name;
  if (path == "-") return MakeStatus(Code::kUsage, "-: this command reads a file, not standard input");
  std::optional<replays::Recording> found;
  absl::Status status;
  replays::ReadRecords(files, nullptr, {path}, [&, &path = path, &id = id](const replays::RawRecord& raw) {
    absl::StatusOr<replays::Recording> read = !raw.error.ok() ? raw.error
                                              : raw.is_trace
                                                  ? replays::ParseTrace(raw.text, raw.source)
                                                  : replays::ParseRecording(raw.text, raw.source, raw.record);
    if (!read.ok()) {
      status = read.status();
    } else if (!id.empty() && read->scenario.id != id) {
      return true;
    } else if (found.has_value() && id.empty()) {
      status = MakeStatus(Code::kUsage, fmt::format("{} holds several scenarios: name one as {}#ID, for example {}#{}",
                                                    path, path, path, found->scenario.id));
    } else {
      found = *std::move(read);
      return id.empty();  // of one id the first
    }
    return false;
  });
  VIGIL_RETURN_IF_ERROR(status);
  if (!found.has_value()) return MakeStatus(Code::kUsage, fmt::format("{} holds no scenario called '{}'", path, id));
  return *std::move(found);
}

}  // namespace vigil::cli
