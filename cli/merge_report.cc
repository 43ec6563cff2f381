#include "vigil/cli/merge_report.h"

#include <algorithm>
#include <cstdint>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "vigil/cli/check_report.h"
#include "vigil/properties/campaign/suites.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/json_writer.h"

namespace vigil::cli {
namespace {

using properties::CampaignFinding;
using properties::CampaignReport;
using properties::CheckFailure;
using properties::SuiteReach;
using replays::XmlText;

std::string FindingText(const CampaignFinding& finding) {
  std::string text = finding.failure.text;
  if (!finding.others.empty())
    text += fmt::format("  the same shape: {}\n", replays::Escaped(fmt::format("{}", fmt::join(finding.others, ", "))));
  return text + finding.failure.line;
}

std::string Saturation(const SuiteReach& reach) {
  if (reach.new_in_second_half == 0) return "saturated: the second half of the seeds reached nothing new";
  return fmt::format("not saturated: {} of them are new in the second half of the seeds", reach.new_in_second_half);
}

std::string ReachText(const std::string& suite, const SuiteReach& reach) {
  std::string text = fmt::format("suite {}: {} distinct traces, {} pairs of a rule's state and events\n", suite,
                                 reach.traces, reach.pairs);
  if (reach.curve.empty()) return text;
  return text + CurveText("seeds", reach.curve) + "  " + Saturation(reach) + "\n";
}

// Pairs over seeds, the seeds doubling from left to right.
std::string CurveSvg(const SuiteReach& reach) {
  constexpr double kWidth = 480;
  constexpr double kHeight = 160;
  if (reach.curve.size() < 2 || reach.pairs == 0) return "";
  std::string points;
  for (std::size_t i = 0; i < reach.curve.size(); ++i) {
    const double x = kWidth * static_cast<double>(i) / static_cast<double>(reach.curve.size() - 1);
    const double y = kHeight - kHeight * static_cast<double>(reach.curve[i].second) / static_cast<double>(reach.pairs);
    points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", x, y);
  }
  return fmt::format(
      "<svg width=\"500\" height=\"180\" viewBox=\"-10 -10 500 180\" role=\"img\" aria-label=\"pairs over seeds\">"
      "<polyline points=\"{}\" fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"2\"/></svg>\n"
      "<p>from 1 to {} seeds, each step twice as many</p>\n",
      points, reach.curve.back().first);
}

constexpr char kPageHead[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>vigil campaign</title>\n"
    "<style>body{font:16px/1.5 sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222;background:#fff}"
    "pre{background:#f4f4f4;padding:1em;overflow-x:auto}.bad{color:#a01010}</style></head><body>\n";

}  // namespace

properties::CheckOptions OptionsOf(const CampaignReport& report) {
  properties::CheckOptions options;
  const auto seeds = [&report](std::string_view suite, std::uint64_t& first, std::uint64_t& last) {
    const auto found = report.summary.suites.find(std::string(suite));
    if (found == report.summary.suites.end() || !found->second.seeds.has_value()) return;
    first = found->second.seeds->first;
    last = found->second.seeds->second;
  };
  seeds(properties::suites::kRandom.name, options.first_seed, options.last_seed);
  seeds(properties::suites::kCluster.name, options.first_job, options.last_job);
  options.plant = report.key.plant;
  return options;
}

std::vector<CheckFailure> FailuresOf(const CampaignReport& report) {
  std::vector<CheckFailure> failures;
  for (const CampaignFinding& finding : report.findings) {
    failures.push_back(finding.failure);
    failures.back().text = FindingText(finding);
  }
  return failures;
}

std::string MissingText(const properties::MissingSeeds& missing) {
  return fmt::format("{}: seeds {}..{} are missing", missing.suite, missing.seeds.first, missing.seeds.second);
}

std::string MergeText(const CampaignReport& report) {
  std::string text;
  for (const CampaignFinding& finding : report.findings) text += FindingText(finding) + "\n";
  for (const auto& [suite, reach] : report.reach) text += ReachText(suite, reach) + "\n";
  text += CheckText(OptionsOf(report), report.summary);
  for (const properties::MissingSeeds& missing : report.missing) text += MissingText(missing) + "\n";
  return text + fmt::format("{} findings\n", report.findings.size());
}

std::string MergeJson(const CampaignReport& report) {
  replays::JsonWriter w;
  w.Open('{').Key("version").String(report.key.version).Key("plant").String(report.key.plant);
  w.Key("player").String(report.key.player).Key("missing").Open('[');
  for (const properties::MissingSeeds& missing : report.missing) {
    w.Open('{').Key("suite").String(missing.suite).Key("first").Natural(missing.seeds.first);
    w.Key("last").Natural(missing.seeds.second).Close('}');
  }
  w.Close(']').Newline().Key("reached").Open('{');
  for (const auto& [suite, reach] : report.reach) {
    w.Key(suite).Open('{').Key("traces").Natural(reach.traces).Key("pairs").Natural(reach.pairs);
    WriteCurve(w.Key("curve"), reach.curve);
    w.Key("new_in_second_half").Natural(reach.new_in_second_half).Close('}');
  }
  w.Close('}').Newline().Key("findings").Open('[');
  for (const CampaignFinding& finding : report.findings) {
    const std::size_t begin = finding.failure.line.find_first_not_of(' ');
    const std::size_t end = finding.failure.line.find('\n');
    w.Newline().Open('{').Key("rule").String(finding.rule).Key("shape").String(finding.shape);
    w.Key("id").String(finding.failure.id).Key("file").String(finding.failure.file).Key("replay");
    w.String(begin == std::string::npos ? "" : finding.failure.line.substr(begin, end - begin));
    w.Key("others").Open('[');
    for (const std::string& id : finding.others) w.String(id);
    w.Close(']').Close('}');
  }
  const std::string check = CheckJson(OptionsOf(report), report.summary, FailuresOf(report));
  w.Close(']').Newline().Key("check").Raw(check.substr(0, check.size() - 1)).Close('}');
  return w.Take() + "\n";
}

std::string MergeHtml(const CampaignReport& report) {
  std::string page = kPageHead;
  page += fmt::format("<h1>Campaign: {} passed, <span class=\"bad\">{} failed</span></h1>\n<p>vigil {}</p>\n",
                      report.summary.passed(), report.summary.failed(), XmlText(report.key.version));
  for (const properties::MissingSeeds& missing : report.missing)
    page += fmt::format("<p class=\"bad\">{}</p>\n", XmlText(MissingText(missing)));
  page += fmt::format("<h2>{} findings</h2>\n", report.findings.size());
  for (const CampaignFinding& finding : report.findings) {
    page += fmt::format("<h3>{}</h3>\n<pre>{}</pre>\n", XmlText(finding.rule.empty() ? "no rule" : finding.rule),
                        XmlText(FindingText(finding)));
  }
  for (const auto& [suite, reach] : report.reach) {
    page += fmt::format("<h2>Reached by suite {}</h2>\n<p>{} distinct traces, {} pairs; {}</p>\n{}", XmlText(suite),
                        reach.traces, reach.pairs, XmlText(Saturation(reach)), CurveSvg(reach));
  }
  page += fmt::format("<h2>Counts</h2>\n<pre>{}</pre>\n", XmlText(CheckText(OptionsOf(report), report.summary)));
  return page + "</body></html>\n";
}

}  // namespace vigil::cli
