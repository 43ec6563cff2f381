#include "vigil/cli/annotations.h"

#include <cstdlib>
#include <utility>

#include "fmt/format.h"

namespace vigil::cli {
namespace {

using Escapes = std::initializer_list<std::pair<char, std::string_view>>;

std::string Replaced(std::string_view text, Escapes escapes) {
  std::string out;
  for (const char c : text) {
    std::string_view as(&c, 1);
    for (const auto& [from, to] : escapes) {
      if (c == from) as = to;
    }
    out += as;
  }
  return out;
}

bool IsSet(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

CiService ServiceOf(std::string_view name) {
  if (name == "github") return CiService::kGithub;
  if (name == "azure") return CiService::kAzure;
  if (name == "teamcity") return CiService::kTeamcity;
  if (name != "auto") return CiService::kNone;
  if (IsSet("GITHUB_ACTIONS")) return CiService::kGithub;
  if (IsSet("TF_BUILD")) return CiService::kAzure;
  return IsSet("TEAMCITY_VERSION") ? CiService::kTeamcity : CiService::kNone;
}

std::string Annotation(CiService service, const properties::CheckFailure& failure) {
  const std::string title =
      fmt::format("vigil {}: {}", failure.suite, failure.rule.empty() ? failure.id : failure.rule);
  const std::string_view text(failure.text);
  switch (service) {
    case CiService::kNone:
      return "";
    case CiService::kGithub:
      return fmt::format("::error title={}::{}\n",
                         Replaced(title, {{'%', "%25"}, {'\r', "%0D"}, {'\n', "%0A"}, {':', "%3A"}, {',', "%2C"}}),
                         Replaced(text, {{'%', "%25"}, {'\r', "%0D"}, {'\n', "%0A"}}));
    case CiService::kAzure:
      return fmt::format("##vso[task.logissue type=error]{}: {}\n", title,
                         Replaced(text, {{'%', "%AZP25"}, {'\r', "%0D"}, {'\n', "%0A"}}));
    case CiService::kTeamcity: {
      const Escapes escapes = {{'|', "||"}, {'\'', "|'"}, {'[', "|["}, {']', "|]"}, {'\n', "|n"}, {'\r', "|r"}};
      return fmt::format("##teamcity[message text='{}' errorDetails='{}' status='ERROR']\n", Replaced(title, escapes),
                         Replaced(text, escapes));
    }
  }
  return "";
}

}  // namespace vigil::cli
