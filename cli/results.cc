#include "vigil/cli/results.h"

#include <algorithm>

#include "fmt/format.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/parse_command.h"
#include "vigil/core/base/code.h"
#include "vigil/replays/format/escape.h"

namespace vigil::cli {

bool Results::CanWrite(std::vector<OutputFile> outputs, const std::vector<std::string>& inputs) {
  outputs.insert(outputs.begin(), {"--json", json_ == "-" ? "" : json_});
  std::erase_if(outputs, [](const OutputFile& output) { return output.path.empty(); });
  if (const absl::Status clash = CheckNothingIsLost(outputs, inputs); !clash.ok()) {
    TellMisuse(command_, MessageOf(clash));
    return false;
  }
  return std::ranges::all_of(
      outputs, [this](const OutputFile& output) { return Told(output.path, CheckOutput(files_, output.path)); });
}

bool Results::CanSaveIn(const std::string& folder) { return Told(folder, CheckFolder(files_, folder)); }

void Results::Print(std::string_view text) {
  if (json_ == "-") {
    console_.Err(text);
  } else {
    console_.Out(text);
  }
}

void Results::Fail(std::string_view what) {
  console_.Err(fmt::format("error: {}\n", what));
  failed_ = true;
}

int Results::Refuse(const absl::Status& status) {
  Fail(replays::Escaped(MessageOf(status)));
  return kMisuse;
}

void Results::Tick(std::string_view progress) {
  console_.Flush();
  console_.Progress(progress);
}

void Results::Write(const std::string& path, std::string_view data) {
  if (path.empty()) return;
  console_.Flush();  // it may be standard output
  Told(path, WriteOutput(files_, path, data));
}

void Results::WriteJson(std::string_view document) {
  if (json_ == "-") return console_.Out(document);
  Write(json_, document);
}

int Results::End(bool passed) {
  const int code = Finished(console_, failed_ ? kMisuse : passed ? kPassed : kFailed);
  return signals_.signal() != 0 ? kSignalled + signals_.signal() : code;
}

bool Results::Told(const std::string& path, const absl::Status& status) {
  if (!status.ok())
    Fail(fmt::format("cannot write {}: {}", replays::Quoted(path), replays::Escaped(MessageOf(status))));
  return status.ok();
}

int Finished(Console& console, int code) {
  console.EndProgress();
  console.Flush();
  if (console.status().ok()) return code;
  console.Err(fmt::format("error: {}\n", MessageOf(console.status())));
  return kMisuse;
}

int Show(std::string_view text) {
  Console console;
  console.Out(text);
  return Finished(console, kPassed);
}

}  // namespace vigil::cli
