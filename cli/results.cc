#include "vigil/cli/results.h"

#include "fmt/format.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/output.h"
#include "vigil/core/base/code.h"
#include "vigil/replays/escape.h"

namespace vigil::cli {

bool Results::CanWrite(const std::vector<std::string>& paths) {
  std::vector<std::string> all = paths;
  all.insert(all.begin(), json_ == "-" ? "" : json_);
  for (const std::string& path : all) {
    if (!path.empty() && !Told(path, CheckOutput(files_, path))) return false;
  }
  return true;
}

bool Results::CanSaveIn(const std::string& folder) { return Told(folder, CheckFolder(files_, folder)); }

void Results::Print(std::string_view text) {
  if (json_ == "-") {
    console_.Err(text);
  } else {
    console_.Out(text);
  }
}

void Results::Complain(std::string_view what) { console_.Err(fmt::format("error: {}\n", what)); }

void Results::Fail(std::string_view what) {
  Complain(what);
  failed_ = true;
}

int Results::Refuse(const absl::Status& status) {
  Fail(replays::Escaped(MessageOf(status)));
  return kMisuse;
}

void Results::Tick(std::string_view progress) {
  signals_.Poll();
  console_.Flush();
  console_.Progress(progress);
}

void Results::Write(const std::string& path, std::string_view data) {
  if (!path.empty()) Told(path, WriteOutput(files_, path, data));
}

void Results::WriteJson(std::string_view document) {
  if (json_ == "-") return console_.Out(document);
  Write(json_, document);
}

int Results::End(bool passed) {
  console_.EndProgress();
  console_.Flush();
  if (!console_.status().ok()) Fail(MessageOf(console_.status()));
  if (signals_.signal() != 0) return kSignalled + signals_.signal();
  return failed_ ? kMisuse : passed ? kPassed : kFailed;
}

bool Results::Told(const std::string& path, const absl::Status& status) {
  if (!status.ok())
    Fail(fmt::format("cannot write {}: {}", replays::Quoted(path), replays::Escaped(MessageOf(status))));
  return status.ok();
}

}  // namespace vigil::cli
