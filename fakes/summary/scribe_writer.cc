#include "vigil/fakes/summary/scribe_writer.h"

#include <fmt/format.h>

#include "vigil/core/base/code.h"
#include "vigil/core/io/event.pb.h"

namespace vigil::fakes {
namespace {

std::string StepText(std::optional<std::int64_t> step) {
  return step.has_value() ? fmt::format(" step={}", *step) : "";
}

}  // namespace

absl::Status ScribeWriter::Say(const std::string& line) {
  lines.push_back(line);
  if (line.substr(0, line.find(' ')) != failing) return absl::OkStatus();
  return MakeStatus(Code::kResourceExhausted, "the disk is full");
}

absl::Status ScribeWriter::AddSummary(const std::string& summary, std::optional<std::int64_t> global_step) {
  proto::Summary parsed;
  if (!parsed.ParseFromString(summary)) return Say("unreadable summary");
  std::string text = "summary" + StepText(global_step);
  for (const proto::Summary::Value& value : parsed.value()) {
    text += fmt::format(" {}={:g}", value.tag(), value.simple_value());
  }
  return Say(text);
}

absl::Status ScribeWriter::AddSessionLog(SessionLogStatus status, std::optional<std::int64_t> global_step,
                                         const std::string& checkpoint_path) {
  const std::string& name =
      proto::SessionLog::SessionStatus_Name(static_cast<proto::SessionLog::SessionStatus>(static_cast<int>(status)));
  return Say(fmt::format("session_log {}{}{}{}", name, StepText(global_step), checkpoint_path.empty() ? "" : " ",
                         checkpoint_path));
}

}  // namespace vigil::fakes
