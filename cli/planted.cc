#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "vigil/cli/commands.h"
#include "vigil/cli/results.h"
#include "vigil/cli/system.h"
#include "vigil/core/base/code.h"
#include "vigil/core/env/real/system_clock.h"
#include "vigil/properties/planted/campaign.h"

namespace vigil::cli {
namespace {

std::vector<std::string> SplitAtCommas(const std::vector<std::string>& given) {
  std::vector<std::string> out;
  for (const std::string& each : given) {
    for (std::size_t from = 0; from <= each.size();) {
      const std::size_t comma = std::min(each.find(',', from), each.size());
      if (comma > from) out.push_back(each.substr(from, comma - from));
      from = comma + 1;
    }
  }
  return out;
}

std::string PlantedListText() {
  std::string text;
  for (const properties::PlantedBug& bug : properties::PlantedBugs()) {
    text += fmt::format("{:<40} {}\n{:<40} {}{}must be found by {}\n", bug.id, bug.mistake, "", bug.NeedsText(),
                        bug.needs == 0 ? "" : "; ", bug.rules);
  }
  return text;
}

}  // namespace

int CheckPlanted(const PlantedArguments& arguments) {
  Results results("vigil check", arguments.json);
  properties::PlantedOptions options{.ids = SplitAtCommas(arguments.ids), .jobs = JobsOf({.jobs = arguments.jobs})};
  if (!arguments.suite.empty())
    options.suite =
        arguments.suite == "cluster" ? properties::PlantedSuite::kCluster : properties::PlantedSuite::kRandom;
  if (arguments.most > 0) options.scenarios = options.seeds = arguments.most;
  for (const std::string_view alone : {"all", "list"}) {
    if (options.ids.size() > 1 && std::ranges::find(options.ids, alone) != options.ids.end())
      return results.Refuse(UsageError(fmt::format("--planted: {} stands alone, without further ids", alone)));
  }
  if (options.ids == std::vector<std::string>{"list"}) {
    results.Print(PlantedListText());
    return results.End(true);
  }
  if (options.ids.empty())
    return results.Refuse(UsageError("--planted names no bug; say all, list or the ids of some"));
  if (options.ids == std::vector<std::string>{"all"}) options.ids.clear();
  SystemClock clock;
  if (arguments.shrink) options.now = [&clock] { return clock.Monotonic(); };
  if (!results.CanWrite({}, {})) return kMisuse;
  std::uint64_t played = 0;
  properties::PlantedCallbacks callbacks;
  callbacks.on_bug = [&](const properties::PlantedFinding& finding) {
    ++played;
    results.Print(properties::PlantedLine(finding));
    results.Flush();
  };
  callbacks.on_tick = [&] { results.Tick(fmt::format("planted: {} bugs played", played)); };
  const absl::StatusOr<properties::PlantedReport> report =
      properties::RunPlanted(options, callbacks, results.stopped());
  results.EndProgress();
  if (!report.ok()) return results.Refuse(report.status());
  results.Print(properties::PlantedText(*report));
  if (results.wants_json()) results.WriteJson(properties::PlantedJson(*report));
  return results.End(report->passed());
}

}  // namespace vigil::cli
