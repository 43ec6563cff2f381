#include "vigil/properties/campaign/run_diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "vigil/core/base/check.h"
#include "vigil/core/base/time.h"
#include "vigil/properties/judge/play_twice.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/json_writer.h"
#include "vigil/replays/judge/result.h"
#include "vigil/replays/show/timeline.h"

namespace vigil::properties {
namespace {

constexpr std::size_t kWidestSide = 72;

std::vector<std::string> LinesOf(const replays::Outcome& outcome) {
  VIGIL_CHECK(outcome.timeline != nullptr);
  const bool several = outcome.timeline->nodes.size() > 1;
  std::vector<std::string> lines;
  for (const replays::StoryLine& line : outcome.timeline->lines) {
    std::string who = several ? line.node : "";
    if (!line.task.empty()) who += fmt::format("{}[{}]", who.empty() ? "" : " ", line.task);
    lines.push_back(fmt::format("{:>9.3f} {}{}{}", ToSeconds(line.at), who, who.empty() ? "" : "  ", line.text));
  }
  // A unit has no events: what it says is all there is.
  if (lines.empty()) lines = outcome.events;
  std::string end = fmt::format("ends: {}", replays::VerdictName(outcome.verdict));
  if (!outcome.reason.empty()) end += fmt::format(", {}", outcome.reason);
  lines.push_back(std::move(end));
  for (std::string& line : lines) line = replays::Escaped(line);
  return lines;
}

std::vector<std::string> Part(const std::vector<std::string>& lines, std::size_t from, std::size_t to) {
  const auto at = [&](std::size_t i) { return lines.begin() + static_cast<std::ptrdiff_t>(std::min(i, lines.size())); };
  return {at(from), at(to)};
}

void AppendRow(std::string& text, char mark, std::string_view number, const std::string& left, const std::string& right,
               std::size_t width) {
  const std::string cut = replays::Shortened(left, kWidestSide);
  const std::size_t missing = width - std::min(cut.size(), width);
  std::string row = fmt::format("{} {:>6}  {}{} | {}", mark, number, cut, std::string(missing, ' '),
                                replays::Shortened(right, kWidestSide));
  row.erase(row.find_last_not_of(' ') + 1);
  text += row + "\n";
}

void WriteSide(replays::JsonWriter& w, std::string_view key, std::string_view name,
               const std::vector<std::string>& lines) {
  w.Key(key).Open('{').Key("name").String(name).Key("lines").Open('[');
  for (const std::string& line : lines) w.String(line);
  w.Close(']').Close('}');
}

}  // namespace

RunDiff CompareRuns(const replays::Outcome& first, const replays::Outcome& second) {
  const std::vector<std::string> a = LinesOf(first);
  const std::vector<std::string> b = LinesOf(second);
  RunDiff diff;
  diff.lines = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  diff.before = Part(a, diff.lines - std::min(diff.lines, kDiffContext), diff.lines);
  diff.first = Part(a, diff.lines, diff.lines + kDiffContext);
  diff.second = Part(b, diff.lines, diff.lines + kDiffContext);
  diff.same = diff.first.empty() && diff.second.empty() && first.hash == second.hash;
  if (!diff.same) diff.detail = FirstDifference(first, second);
  return diff;
}

std::string RunDiffText(const RunDiff& diff, std::string_view first, std::string_view second) {
  if (diff.same) return fmt::format("the same run: {} lines\n", diff.lines);
  if (diff.first.empty() && diff.second.empty())
    return fmt::format("the same {} lines, but not the same run\n{}", diff.lines, diff.detail);
  std::string text = fmt::format("the first {} lines are the same\n", diff.lines);
  const std::string left = replays::Shortened(replays::Escaped(first), kWidestSide);
  std::size_t width = left.size();
  for (const auto* const side : {&diff.before, &diff.first}) {
    for (const std::string& line : *side) width = std::max(width, std::min(line.size(), kWidestSide));
  }
  AppendRow(text, ' ', "", left, replays::Escaped(second), width);
  std::size_t number = diff.lines - diff.before.size();
  for (const std::string& line : diff.before) AppendRow(text, ' ', fmt::to_string(++number), line, line, width);
  for (std::size_t i = 0; i < std::max(diff.first.size(), diff.second.size()); ++i) {
    const std::string none;
    const std::string& a = i < diff.first.size() ? diff.first[i] : none;
    const std::string& b = i < diff.second.size() ? diff.second[i] : none;
    AppendRow(text, a == b ? ' ' : '!', fmt::to_string(++number), a, b, width);
  }
  return text + diff.detail;
}

std::string RunDiffJson(const RunDiff& diff, std::string_view first, std::string_view second) {
  replays::JsonWriter w;
  w.Open('{').Key("same").Bool(diff.same).Key("lines").Natural(diff.lines).Key("before").Open('[');
  for (const std::string& line : diff.before) w.String(line);
  w.Close(']');
  WriteSide(w, "first", first, diff.first);
  WriteSide(w, "second", second, diff.second);
  w.Key("detail").String(diff.detail).Close('}');
  return w.Take() + "\n";
}

}  // namespace vigil::properties
