// `vigil explore --cluster SPEC --guided N`: a small job with chains of faults.
#include <cstdint>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/crash_every.h"
#include "vigil/cli/plant.h"
#include "vigil/cli/results.h"
#include "vigil/core/base/code.h"
#include "vigil/core/env/real/system_clock.h"
#include "vigil/replays/crew/crew.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/json_writer.h"

namespace vigil::cli {
namespace {

using properties::Grouped;
using properties::GuidedOptions;
using properties::GuidedSummary;

std::string Row(std::uint64_t count, std::string_view what) {
  return fmt::format("{:>12}  {}\n", Grouped(count), what);
}

std::string GuidedText(const GuidedOptions& options, const GuidedSummary& summary) {
  const properties::ExploreCounts& counts = summary.counts;
  std::string text = fmt::format("{}, chains of faults, {}seed {}\n", replays::Escaped(options.scenario.id),
                                 options.blind ? "blind, " : "", options.seed);
  text += Row(counts.played, "plays");
  for (std::size_t i = 0; i < summary.lengths.size(); ++i)
    text += Row(summary.lengths[i], fmt::format("with {} fault{}", i + 1, i == 0 ? "" : "s"));
  text += Row(counts.all_fired, "plays in which every fault changed something");
  text += Row(counts.traces.size(), "distinct traces");
  text += Row(summary.kept, "chains that reached a new pair of fault and state");
  text += "\npairs of fault and state\n";
  for (const auto& [plays, pairs] : summary.growth) text += Row(pairs, fmt::format("by {} plays", Grouped(plays)));
  text += "\nhow they ended\n";
  for (const auto& [what, count] : counts.ends) text += Row(count, replays::Escaped(what));
  text += "\n";
  for (const auto& [rule, count] : counts.violated) text += fmt::format("FAILED {}: {} plays\n", rule, Grouped(count));
  if (summary.first_failure > 0) text += fmt::format("the first by play {}\n", Grouped(summary.first_failure));
  if (summary.given_up) text += replays::kGivenUp;
  if (summary.stopped)
    text += fmt::format("interrupted: {} plays were left out\n", Grouped(options.plays - counts.played));
  return text + fmt::format("{} passed, {} failed\n", counts.played - counts.failed, counts.failed);
}

std::string GuidedJson(const GuidedOptions& options, const GuidedSummary& summary,
                       const std::vector<properties::ExploreFailure>& failures) {
  const properties::ExploreCounts& counts = summary.counts;
  replays::JsonWriter w;
  w.Open('{').Key("cluster").String(options.scenario.id).Key("seed").Natural(options.seed);
  w.Key("blind").Bool(options.blind).Key("interrupted").Bool(summary.stopped);
  if (summary.given_up) w.Key("given_up").Bool(true);
  w.Newline().Key("played").Natural(counts.played).Key("failed").Natural(counts.failed);
  w.Key("first_failure").Natural(summary.first_failure).Key("traces").Natural(counts.traces.size());
  w.Key("every_fault_changed_something").Natural(counts.all_fired);
  w.Newline().Key("kept").Natural(summary.kept).Key("pairs").Natural(summary.pairs);
  w.Newline().Key("growth").Open('[');
  for (const auto& [plays, pairs] : summary.growth)
    w.Open('{').Key("plays").Natural(plays).Key("pairs").Natural(pairs).Close('}');
  w.Close(']').Newline().Key("ends").Open('{');
  for (const auto& [what, count] : counts.ends) w.Newline().Key(what).Natural(count);
  w.Close('}').Newline().Key("violated").Open('{');
  for (const auto& [rule, count] : counts.violated) w.Newline().Key(rule).Natural(count);
  w.Close('}').Newline().Key("failures").Open('[');
  for (const properties::ExploreFailure& failure : failures) {
    w.Newline().Open('{').Key("id").String(failure.id).Key("rule").String(failure.rule);
    w.Key("file").String(failure.file).Close('}');
  }
  w.Close(']').Close('}');
  return w.Take() + "\n";
}

class GuidedCommand {
 public:
  explicit GuidedCommand(CrashEveryArguments arguments)
      : arguments_(std::move(arguments)), results_("vigil explore", arguments_.json) {}

  int Run() {
    GuidedOptions& options = arguments_.chains;
    if (const absl::Status found = FindCluster(results_.files(), arguments_.cluster, options.scenario, options.source);
        !found.ok())
      return results_.Refuse(found);
    if (!results_.CanWrite({}, {options.source, options.failures})) return kMisuse;
    if (arguments_.failures_given && !results_.CanSaveIn(options.failures)) return kMisuse;
    std::optional<properties::PlantedBugScope> planted;
    if (const absl::Status status = Plant(options.plant, planted); !status.ok()) return results_.Refuse(status);
    const absl::StatusOr<GuidedSummary> summary =
        properties::RunGuided(options, results_.files(), Callbacks(), results_.stopped());
    results_.EndProgress();
    if (!summary.ok()) return results_.Refuse(summary.status());
    results_.Print(GuidedText(options, *summary));
    if (results_.wants_json()) results_.WriteJson(GuidedJson(options, *summary, failures_));
    return results_.End(summary->counts.failed == 0 && !summary->given_up);
  }

 private:
  properties::GuidedCallbacks Callbacks() {
    properties::GuidedCallbacks callbacks;
    callbacks.on_failure = [this](const properties::ExploreFailure& failure) {
      failures_.push_back(failure);
      results_.Print(failure.text + "\n");
    };
    callbacks.on_error = [this](const std::string& error) { results_.Fail(error); };
    callbacks.on_tick = [this](const GuidedSummary& summary) {
      const std::chrono::milliseconds now = Uptime();
      if (now - ticked_ < kTick) return;
      ticked_ = now;
      results_.Tick(fmt::format("{} of {} plays, {} pairs, {} failed", Grouped(summary.counts.played),
                                Grouped(arguments_.chains.plays), Grouped(summary.pairs),
                                Grouped(summary.counts.failed)));
    };
    callbacks.now = [this] { return clock_.Monotonic(); };
    return callbacks;
  }

  static constexpr std::chrono::milliseconds kTick{100};

  CrashEveryArguments arguments_;
  Results results_;
  SystemClock clock_;
  std::vector<properties::ExploreFailure> failures_;
  std::chrono::milliseconds ticked_{0};
};

}  // namespace

int ExploreGuided(CrashEveryArguments arguments) {
  GuidedOptions& chains = arguments.chains;
  chains.plays = arguments.guided;
  chains.jobs = arguments.options.jobs;
  chains.limits = arguments.options.limits;
  chains.failures = arguments.options.failures;
  chains.plant = arguments.options.plant;
  return GuidedCommand(std::move(arguments)).Run();
}

}  // namespace vigil::cli
