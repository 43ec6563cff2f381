#include "vigil/replays/stage/log_notes.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "vigil/replays/stage/notes.h"

namespace vigil::replays {
namespace {

constexpr std::size_t kLongestLine = 120;

// A tag and what follows it: the tensors of scenarios and the rate of the global step.
constexpr std::array<std::string_view, 4> kTags = {"step", "fed", "loss", "global_step/sec"};
constexpr std::array<std::string_view, 10> kBeginnings = {
    "Recording summary", "Saving checkpoint to path", "Standard services need", "It seems that global step",
    "Model diverged", "Input queue", "An OutOfRange",
    // Of the library's own, which no recording of TensorFlow has:
    "Nothing is saved into", "The model has diverged", "Checkpoint "};

bool IsRecorded(std::string_view line) {
  const auto begins = [line](std::string_view beginning) { return line.starts_with(beginning); };
  if (std::ranges::any_of(kBeginnings, begins)) return true;
  return std::ranges::any_of(kTags, [line](std::string_view tag) {
    const std::string_view rest = line.substr(std::min(tag.size(), line.size()));
    return line.starts_with(tag) && (rest.starts_with(" =") || rest.starts_with(":"));
  });
}

}  // namespace

std::optional<std::string> RecordedLine(std::string_view line, std::string_view directory) {
  if (!IsRecorded(line)) return std::nullopt;
  std::string out(line);
  for (std::size_t at = out.find(directory); at != out.npos; at = out.find(directory, at)) {
    out.replace(at, directory.size(), "DIR");
  }
  out.resize(std::min({out.size(), out.find("    "), out.find(". "), kLongestLine}));
  return out;
}

void NotingLog::Write(Severity severity, std::string_view line) {
  inner_.Write(severity, line);
  const std::optional<std::string> recorded = RecordedLine(line, directory_);
  if (!recorded.has_value()) return;
  events_.Emit({.kind = EventKind::kNote,
                .call = static_cast<std::uint8_t>(Note::kLog),
                .index = static_cast<std::int32_t>(severity),
                .subject = *recorded});
}

}  // namespace vigil::replays
