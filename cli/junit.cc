#include "vigil/cli/junit.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "fmt/format.h"
#include "vigil/replays/format/escape.h"

namespace vigil::cli {
namespace {

using properties::CheckFailure;
using properties::CheckSummary;
using properties::SuiteCount;
using replays::XmlAttribute;
using replays::XmlText;

std::string Open(std::string_view suite, std::string_view name) {
  return fmt::format("    <testcase classname=\"vigil.{}\" name=\"{}\"", XmlAttribute(suite), XmlAttribute(name));
}

std::string Failed(std::string_view suite, std::string_view name, std::string_view message, std::string_view text) {
  return fmt::format("{}>\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n", Open(suite, name),
                     XmlAttribute(message), XmlText(text));
}

std::string Head(std::string_view name, std::uint64_t tests, std::uint64_t failures, std::uint64_t errors) {
  return fmt::format("  <testsuite name=\"vigil.{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\">\n",
                     XmlAttribute(name), tests, failures, errors);
}

std::string SuiteXml(const std::string& name, const SuiteCount& count, const std::vector<CheckFailure>& failures) {
  const std::uint64_t errors = count.unreadable + (count.given_up ? 1 : 0);
  std::string text = Head(name, count.played() + errors, count.failed, errors);
  if (count.seeds.has_value()) {
    text += fmt::format("    <properties><property name=\"seeds\" value=\"{}..{}\"/></properties>\n",
                        count.seeds->first, count.seeds->second);
  }
  if (count.passed > 0) text += Open(name, fmt::format("{} passed", count.passed)) + "/>\n";
  std::uint64_t told = 0;
  for (const CheckFailure& failure : failures) {
    if (failure.suite != name) continue;
    ++told;
    text += Failed(name, failure.id, failure.rule.empty() ? "failed" : failure.rule, failure.text);
  }
  if (count.failed > told) {
    const std::string further = fmt::format("{} further failures", count.failed - told);
    text += Failed(name, further, further, "They are not explained.");
  }
  if (count.unreadable > 0) {
    text += fmt::format("{}>\n      <error message=\"see standard error\"/>\n    </testcase>\n",
                        Open(name, fmt::format("{} could not be read", count.unreadable)));
  }
  if (count.given_up) {
    text += fmt::format("{}>\n      <error message=\"the rest was not played\"/>\n    </testcase>\n",
                        Open(name, "given up"));
  }
  return text + "  </testsuite>\n";
}

// A whole file: what `vigil NAME` says.
std::string Document(std::string_view name, std::string_view suites) {
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"vigil {}\">\n{}</testsuites>\n",
                     XmlAttribute(name), suites);
}

// What is in the file is not all there is. "" if it is.
std::string Interrupted(std::string_view suite, bool interrupted) {
  if (!interrupted) return "";
  return fmt::format("{}>\n      <error message=\"this is what was found until then\"/>\n    </testcase>\n",
                     Open(suite, "interrupted"));
}

std::string CampaignXml(const std::vector<std::string>& incomplete, const std::vector<std::string>& missing,
                        bool interrupted) {
  const std::uint64_t errors = missing.size() + (interrupted ? 1 : 0);
  std::string text = Head("campaign", incomplete.size() + errors, incomplete.size(), errors);
  for (const std::string& what : incomplete) text += Failed("campaign", what, what, "");
  for (const std::string& what : missing)
    text +=
        fmt::format("{}>\n      <error message=\"there is no result\"/>\n    </testcase>\n", Open("campaign", what));
  text += Interrupted("campaign", interrupted);
  return text + "  </testsuite>\n";
}

}  // namespace

std::string JUnit(const CheckSummary& summary, const std::vector<CheckFailure>& failures,
                  const std::vector<std::string>& missing) {
  std::string text;
  for (const auto& [name, count] : summary.suites) text += SuiteXml(name, count, failures);
  const std::vector<std::string> incomplete = summary.enough ? summary.incomplete : std::vector<std::string>();
  if (!incomplete.empty() || !missing.empty() || summary.stopped)
    text += CampaignXml(incomplete, missing, summary.stopped);
  return Document("check", text);
}

std::string JUnit(std::string_view name, const std::vector<JUnitCase>& cases, bool interrupted) {
  const std::uint64_t errors = interrupted ? 1 : 0;
  std::string text;
  std::uint64_t failures = 0;
  for (const JUnitCase& one : cases) {
    failures += one.failure.empty() ? 0 : 1;
    text += one.failure.empty() ? Open(name, one.name) + "/>\n" : Failed(name, one.name, one.failure, one.text);
  }
  return Document(name, Head(name, cases.size() + errors, failures, errors) + text + Interrupted(name, interrupted) +
                            "  </testsuite>\n");
}

}  // namespace vigil::cli
