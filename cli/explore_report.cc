#include "vigil/cli/explore_report.h"

#include <algorithm>
#include <cstdint>

#include "fmt/format.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/replays/crew/crew.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/json_writer.h"

namespace vigil::cli {
namespace {

using properties::ExploreCounts;
using properties::ExploreOptions;
using properties::ExploreSummary;
using properties::Grouped;

std::string ExploreRow(std::uint64_t count, std::string_view what) {
  return fmt::format("{:>12}  {}\n", Grouped(count), what);
}

}  // namespace

std::string ExploreText(const ExploreOptions& options, const ExploreSummary& summary) {
  const ExploreCounts& counts = summary.counts;
  std::string text = ExploreRow(counts.played, "scenarios played by the core and by the model");
  if (summary.planned == 0) text += fmt::format("{:>12}  the shard is empty\n", "");
  if (summary.resumed > 0) text += ExploreRow(summary.resumed, "of them before, as the state file says");
  text += ExploreRow(counts.traces.size(), "distinct traces");
  text += ExploreRow(counts.all_fired, "scenarios in which every fault took place");
  const auto armed = std::count_if(counts.armed.begin(), counts.armed.end(), [](std::uint64_t n) { return n > 0; });
  text += ExploreRow(static_cast<std::uint64_t>(armed), fmt::format("of {} rules armed", counts.armed.size()));
  text += "\nhow they ended\n";
  for (const auto& [what, count] : counts.ends) text += ExploreRow(count, replays::Escaped(what));
  text += "\n";
  for (const auto& [rule, count] : counts.violated)
    text += fmt::format("FAILED {}: {} scenarios\n", rule, Grouped(count));
  if (summary.given_up) text += replays::kGivenUp;
  if (summary.stopped) {
    text += fmt::format("interrupted: {} scenarios were left out\n", Grouped(summary.planned - counts.played));
    if (!options.state.empty()) text += "the same command goes on from here\n";
  }
  return text + fmt::format("{} disagreements of core and model, {} scenarios broke a rule\n",
                            Grouped(counts.disagreements), Grouped(counts.violations));
}

std::string ExploreJson(const ExploreOptions& options, const ExploreSummary& summary,
                        const std::vector<properties::ExploreFailure>& failures) {
  const ExploreCounts& counts = summary.counts;
  replays::JsonWriter w;
  w.Open('{').Key("hooks").Integer(options.scope.hooks).Key("runs").Integer(options.scope.runs);
  w.Key("faults").Integer(options.scope.faults);
  w.Key("shard").String(fmt::format("{}/{}", options.shard, options.shards)).Key("formula").String(summary.formula);
  w.Newline().Key("scenarios").Natural(summary.total).Key("planned").Natural(summary.planned);
  w.Key("played").Natural(counts.played).Key("interrupted").Bool(summary.stopped);
  if (summary.given_up) w.Key("given_up").Bool(true);
  w.Newline().Key("traces").Natural(counts.traces.size()).Key("every_fault_fired").Natural(counts.all_fired);
  w.Key("disagreements").Natural(counts.disagreements).Key("broke_a_rule").Natural(counts.violations);
  w.Newline().Key("ends").Open('{');
  for (const auto& [what, count] : counts.ends) w.Newline().Key(what).Natural(count);
  w.Close('}').Newline().Key("rules").Open('[');
  for (std::size_t i = 0; i < counts.armed.size(); ++i) {
    const std::string id(properties::AllRules()[i]()->info().id);
    const auto violated = counts.violated.find(id);
    w.Newline().Open('{').Key("id").String(id).Key("armed").Natural(counts.armed[i]);
    w.Key("violated").Natural(violated == counts.violated.end() ? 0 : violated->second).Close('}');
  }
  w.Close(']').Newline().Key("failures").Open('[');
  for (const properties::ExploreFailure& failure : failures) {
    w.Newline().Open('{').Key("id").String(failure.id).Key("rule").String(failure.rule);
    w.Key("file").String(failure.file).Close('}');
  }
  w.Close(']').Close('}');
  return w.Take() + "\n";
}

}  // namespace vigil::cli
