#include "vigil/properties/overhead/overhead_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "vigil/replays/format/escape.h"

namespace vigil {
namespace {

constexpr double kRow = 22;
constexpr double kTop = 34;
constexpr double kPlot = 420;  // the width of the bars' field

std::size_t LongestName(const OverheadReport& report) {
  std::size_t longest = 4;
  for (const HookOverhead& hook : report.hooks) longest = std::max(longest, hook.name.size());
  return longest;
}

}  // namespace

std::string OverheadTable(const OverheadReport& report) {
  const std::size_t width = LongestName(report);
  std::string text = fmt::format("{:<{}}  {:>9}  {:>19}  {:>10}  {:>6}\n", "hook", width, "ns a run", "quartiles",
                                 "ns later", "allocs");
  for (const HookOverhead& hook : report.hooks) {
    const std::string quartiles = fmt::format("{:.0f} to {:.0f}", hook.low, hook.high);
    const std::string allocations =
        report.counts_allocations ? fmt::format("{:.2f}", hook.allocations) : std::string("-");
    text += fmt::format("{:<{}}  {:>9.0f}  {:>19}  {:>10.2f}  {:>6}\n", hook.name, width, hook.ns, quartiles,
                        hook.ns_later, allocations);
  }
  text += fmt::format(
      "A run without hooks takes {:.0f} ns. Each hook: {} pairs of {} runs, with it less without; \"ns later\" is by\n"
      "which a run becomes dearer with each thousand runs.\n",
      report.run_ns, report.blocks, report.runs);
  return text;
}

std::string OverheadJson(const OverheadReport& report) {
  std::string hooks;
  for (const HookOverhead& hook : report.hooks) {
    hooks += hooks.empty() ? "\n" : ",\n";
    hooks += "    {\"name\": ";
    replays::AppendJsonString(hooks, hook.name);
    hooks +=
        fmt::format(", \"ns\": {:.1f}, \"low\": {:.1f}, \"high\": {:.1f}, \"ns_later\": {:.3f}, \"allocations\": {}}}",
                    hook.ns, hook.low, hook.high, hook.ns_later,
                    report.counts_allocations ? fmt::format("{:.3f}", hook.allocations) : std::string("null"));
  }
  return fmt::format("{{\n  \"run_ns\": {:.1f},\n  \"blocks\": {},\n  \"runs\": {},\n  \"hooks\": [{}\n  ]\n}}\n",
                     report.run_ns, report.blocks, report.runs, hooks);
}

std::string OverheadSvg(const OverheadReport& report) {
  double most = 10;
  for (const HookOverhead& hook : report.hooks) most = std::max({most, hook.ns, hook.high});
  const double decades = std::ceil(std::log10(most));
  const double left = 14 + 7.2 * static_cast<double>(LongestName(report));
  const double bottom = kTop + kRow * static_cast<double>(report.hooks.size());
  const auto x = [&](double ns) { return left + kPlot * std::log10(std::max(1.0, ns)) / decades; };
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" font-family=\"monospace\" "
      "font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{:.0f}\" y=\"16\">ns a run, "
      "more than "
      "the {:.0f} of a session without hooks</text>\n",
      left + kPlot + 80, bottom + 12, left, report.run_ns);
  double tick = 1;
  for (int i = 0; i <= static_cast<int>(decades); ++i, tick *= 10) {
    text += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.0f}\" y2=\"{2:.0f}\" stroke=\"#ccc\"/>"
        "<text x=\"{0:.1f}\" y=\"{3:.0f}\" fill=\"#777\" text-anchor=\"middle\" font-size=\"10\">{4:.0f}</text>\n",
        x(tick), kTop - 4, bottom, kTop - 6, tick);
  }
  double y = kTop;
  for (const HookOverhead& hook : report.hooks) {
    text += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text><rect x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" "
        "height=\"12\" "
        "fill=\"#4878a8\"/><line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.0f}\" y2=\"{:.0f}\" stroke=\"black\"/><text "
        "x=\"{:.1f}\" "
        "y=\"{:.0f}\">{:.0f}</text>\n",
        left - 6, y + 14, replays::XmlText(hook.name), left, y + 4, x(hook.ns) - left, x(hook.low), x(hook.high),
        y + 10, y + 10, x(std::max(hook.ns, hook.high)) + 5, y + 14, hook.ns);
    y += kRow;
  }
  return text + "</svg>\n";
}

}  // namespace vigil
