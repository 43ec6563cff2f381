#include "vigil/replays/judge/compare.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "vigil/replays/format/escape.h"

namespace vigil::replays {
namespace {

constexpr std::size_t kShownBytes = 300;  // of one line
constexpr std::string_view kEllipsis = "          ...\n";
constexpr std::size_t kAligned = 64;  // lines of each side that are looked at to align them
constexpr std::size_t kShown =
    kContextLines + 1;  // lines of each side that are printed: the difference and what follows

void AppendLine(std::string& out, char mark, std::size_t number, std::string_view event) {
  out += fmt::format("  {} {:>4}  {}\n", mark, number, Shortened(event, kShownBytes));
}

std::span<const std::string> Window(const std::vector<std::string>& events, std::size_t first) {
  const std::size_t begin = std::min(first, events.size());
  return {events.data() + begin, std::min(kAligned, events.size() - begin)};
}

enum class Side { kBoth, kExpected, kPlayed };

// The steps of a longest common subsequence of both windows; lines that differ come with the expected ones first.
std::vector<Side> Align(std::span<const std::string> a, std::span<const std::string> b) {
  std::vector<std::array<std::size_t, kAligned + 1>> common(kAligned + 1);
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::vector<Side> steps;
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      steps.push_back(Side::kBoth);
    } else if (i < a.size() && (j == b.size() || common[i + 1][j] >= common[i][j + 1])) {
      steps.push_back(Side::kExpected);
    } else {
      steps.push_back(Side::kPlayed);
    }
    i += steps.back() != Side::kPlayed;
    j += steps.back() != Side::kExpected;
  }
  return steps;
}

// Up to kShown lines of each side, aligned, starting with event `number` (from 0) of both.
void AppendAligned(std::string& out, std::span<const std::string> a, std::span<const std::string> b,
                   std::size_t number) {
  std::size_t i = 0;
  std::size_t j = 0;
  bool skipped = false;
  for (const Side side : Align(a, b)) {
    const bool show = (side != Side::kPlayed && i < kShown) || (side != Side::kExpected && j < kShown);
    if (show && skipped) out += kEllipsis;
    skipped = !show;
    if (show && side == Side::kExpected) AppendLine(out, '-', number + i + 1, a[i]);
    if (show && side == Side::kPlayed) AppendLine(out, '+', number + j + 1, b[j]);
    if (show && side == Side::kBoth) AppendLine(out, ' ', number + j + 1, b[j]);
    i += side != Side::kPlayed;
    j += side != Side::kExpected;
  }
  if (skipped || a.size() == kAligned || b.size() == kAligned) out += kEllipsis;
}

void CompareEvents(const std::vector<std::string>& played, const std::vector<std::string>& expected, Difference& out) {
  const auto [e, p] = std::mismatch(expected.begin(), expected.end(), played.begin(), played.end());
  if (e == expected.end() && p == played.end()) return;
  const auto at = static_cast<std::size_t>(e - expected.begin());
  EventDifference& difference = out.first_event.emplace();
  difference.event = at + 1;
  if (e != expected.end()) difference.expected = *e;
  if (p != played.end()) difference.played = *p;

  out.report +=
      fmt::format("  first difference: event {} ({} expected, {} played)\n", at + 1, expected.size(), played.size());
  if (at > kContextLines) out.report += kEllipsis;
  for (std::size_t i = at - std::min(at, kContextLines); i < at; ++i) AppendLine(out.report, ' ', i + 1, played[i]);
  AppendAligned(out.report, Window(expected, at), Window(played, at), at);
  if (p == played.end()) out.report += "  played ends here\n";
  if (e == expected.end()) out.report += "  expected ends here\n";
}

}  // namespace

std::string FinalText(const FinalState& state) {
  std::string text = "checkpoints";
  for (const std::int64_t step : state.checkpoints) text += fmt::format(" {}", step);
  if (state.checkpoints.empty()) text += " none";
  text += ", latest " + (state.latest.has_value() ? Shortened(*state.latest, kShownBytes) : "none");
  text += state.all.has_value() ? ", all" : ", all none";
  for (const std::string& name : state.all.value_or(std::vector<std::string>())) {
    text += " " + Shortened(name, kShownBytes);
  }
  if (state.events_files.has_value()) text += fmt::format(", events files {}", *state.events_files);
  return text;
}

Difference Compare(const PlainOutcome& played, const Expectation& expected) {
  Difference out;
  CompareEvents(played.events, expected.events, out);
  if (!expected.final.has_value()) return out;
  FinalState final = played.final;
  if (!expected.final->events_files.has_value()) final.events_files.reset();
  if (*expected.final == final) return out;
  out.final_differs = true;
  out.report +=
      fmt::format("  final state\n  -       {}\n  +       {}\n", FinalText(*expected.final), FinalText(final));
  return out;
}

}  // namespace vigil::replays
