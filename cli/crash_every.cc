#include "vigil/cli/crash_every.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/plant.h"
#include "vigil/cli/read_run.h"
#include "vigil/cli/results.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/real/system_clock.h"
#include "vigil/replays/crew/crew.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/json_writer.h"

namespace vigil::cli {
namespace {

using properties::CourseFault;
using properties::CrashEveryOptions;
using properties::CrashEverySummary;
using properties::Grouped;
using PointKind = sim::FaultPoint::Kind;

std::string CourseRow(std::uint64_t count, std::string_view what) {
  return fmt::format("{:>12}  {}\n", Grouped(count), what);
}

std::string_view PointWords(std::size_t kind) {
  switch (static_cast<PointKind>(kind)) {
    case PointKind::kSent:
      return "messages sent";
    case PointKind::kDelivered:
      return "messages delivered";
    case PointKind::kFileOp:
      return "operations on files";
  }
  return "";
}

std::string_view FaultWords(std::size_t kind) {
  switch (static_cast<CourseFault::Kind>(kind)) {
    case CourseFault::Kind::kRestart:
      return "crashes with a restart";
    case CourseFault::Kind::kPowerCut:
      return "power cuts, with what is not synced";
    case CourseFault::Kind::kCut:
      return "cuts of a link";
    case CourseFault::Kind::kLostReply:
      return "lost replies";
  }
  return "";
}

class CrashEveryCommand {
 public:
  explicit CrashEveryCommand(CrashEveryArguments arguments)
      : arguments_(std::move(arguments)), results_("vigil explore", arguments_.json) {}

  int Run() {
    CrashEveryOptions& options = arguments_.options;
    if (const absl::Status found = FindCluster(results_.files(), arguments_.cluster, options.scenario, options.source);
        !found.ok())
      return results_.Refuse(found);
    if (!results_.CanWrite({{"--state", options.state}}, {options.source, options.failures})) return kMisuse;
    if (arguments_.failures_given && !results_.CanSaveIn(options.failures)) return kMisuse;
    std::optional<properties::PlantedBugScope> planted;
    if (const absl::Status status = Plant(options.plant, planted); !status.ok()) return results_.Refuse(status);
    const absl::StatusOr<CrashEverySummary> summary =
        properties::RunCrashEvery(options, results_.files(), Callbacks(), results_.stopped());
    results_.EndProgress();
    if (!summary.ok()) return results_.Refuse(summary.status());
    results_.Print(CrashEveryText(options, *summary));
    if (results_.wants_json()) results_.WriteJson(CrashEveryJson(options, *summary, failures_));
    return results_.End(summary->counts.failed == 0 && !summary->given_up);
  }

 private:
  properties::CrashEveryCallbacks Callbacks() {
    properties::CrashEveryCallbacks callbacks;
    callbacks.on_plan = [this](const CrashEverySummary& summary) {
      results_.Print(CrashEveryPlan(arguments_.options, summary));
      results_.Flush();
    };
    callbacks.on_failure = [this](const properties::ExploreFailure& failure) {
      failures_.push_back(failure);
      results_.Print(failure.text + "\n");
    };
    callbacks.on_error = [this](const std::string& error) { results_.Fail(error); };
    callbacks.on_tick = [this](const CrashEverySummary& summary) {
      const std::chrono::milliseconds now = Uptime();
      if (now - ticked_ < kTick) return;
      ticked_ = now;
      results_.Tick(fmt::format("{} of {} {}, {} plays, {} failed", Grouped(summary.counts.begun),
                                Grouped(summary.planned), arguments_.options.pairs ? "first faults" : "faults",
                                Grouped(summary.counts.played), Grouped(summary.counts.failed)));
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

absl::Status FindCluster(Files& files, const std::string& cluster, replays::Scenario& scenario, std::string& source) {
  if (std::optional<replays::Scenario> small = properties::SmallJobOf(cluster)) {
    scenario = *std::move(small);
    return absl::OkStatus();
  }
  const RunName run = SplitRunName(files, cluster);
  absl::StatusOr<replays::Recording> recording = ReadRun(files, run);
  if (CodeOf(recording.status()) == Code::kNotFound) {
    std::vector<std::string_view> small;
    for (const properties::SmallJobInfo& job : properties::SmallJobs()) small.push_back(job.name);
    return MakeStatus(Code::kNotFound, fmt::format("{}; no small job is called so either: those are {}",
                                                   MessageOf(recording.status()), fmt::join(small, ", ")));
  }
  VIGIL_RETURN_IF_ERROR(recording.status());
  scenario = std::move(recording->scenario);
  source = run.path;
  return absl::OkStatus();
}

int ExploreCrashEvery(CrashEveryArguments arguments) { return CrashEveryCommand(std::move(arguments)).Run(); }

std::string CrashEveryPlan(const CrashEveryOptions& options, const CrashEverySummary& summary) {
  std::string text = fmt::format("{}, without faults\n", replays::Escaped(options.scenario.id));
  for (std::size_t i = 0; i < summary.points.size(); ++i) text += CourseRow(summary.points[i], PointWords(i));
  text += "faults at them\n";
  for (std::size_t i = 0; i < summary.faults.size(); ++i) text += CourseRow(summary.faults[i], FaultWords(i));
  if (options.pairs) text += "played in pairs\n";
  if (options.shards > 1) {
    text += fmt::format("shard {}/{}: {} {}\n", options.shard, options.shards, Grouped(summary.planned),
                        options.pairs ? "first faults" : "faults");
  }
  return text + "\n";
}

std::string CrashEveryText(const CrashEveryOptions& options, const CrashEverySummary& summary) {
  const properties::ExploreCounts& counts = summary.counts;
  std::string text = CourseRow(counts.played, "plays");
  if (options.pairs) text += CourseRow(counts.begun, "first faults, each with all that can follow");
  if (summary.resumed > 0) text += CourseRow(summary.resumed, "of the faults before, as the state file says");
  text += CourseRow(counts.all_fired, "plays in which every fault changed something");
  text += CourseRow(counts.traces.size(), "distinct traces");
  text += "\nhow they ended\n";
  for (const auto& [what, count] : counts.ends) text += CourseRow(count, replays::Escaped(what));
  text += "\n";
  for (const auto& [rule, count] : counts.violated) text += fmt::format("FAILED {}: {} plays\n", rule, Grouped(count));
  if (summary.given_up) text += replays::kGivenUp;
  if (summary.stopped) {
    text += fmt::format("interrupted: {} {} were left out\n", Grouped(summary.planned - counts.begun),
                        options.pairs ? "first faults" : "faults");
    if (!options.state.empty()) text += "the same command goes on from here\n";
  }
  return text + fmt::format("{} passed, {} failed\n", counts.played - counts.failed, counts.failed);
}

std::string CrashEveryJson(const CrashEveryOptions& options, const CrashEverySummary& summary,
                           const std::vector<properties::ExploreFailure>& failures) {
  const properties::ExploreCounts& counts = summary.counts;
  replays::JsonWriter w;
  w.Open('{').Key("cluster").String(options.scenario.id).Key("pairs").Bool(options.pairs);
  w.Key("shard").String(fmt::format("{}/{}", options.shard, options.shards));
  w.Newline().Key("points").Open('{');
  for (std::size_t i = 0; i < summary.points.size(); ++i)
    w.Key(std::string(properties::CoursePointName(static_cast<PointKind>(i)))).Natural(summary.points[i]);
  w.Close('}').Newline().Key("faults").Open('{');
  for (std::size_t i = 0; i < summary.faults.size(); ++i)
    w.Key(std::string(properties::CourseFaultName(static_cast<CourseFault::Kind>(i)))).Natural(summary.faults[i]);
  w.Close('}').Newline().Key("planned").Natural(summary.planned).Key("done").Natural(counts.begun);
  w.Key("interrupted").Bool(summary.stopped);
  if (summary.given_up) w.Key("given_up").Bool(true);
  w.Newline().Key("played").Natural(counts.played).Key("failed").Natural(counts.failed);
  w.Key("every_fault_changed_something").Natural(counts.all_fired).Key("traces").Natural(counts.traces.size());
  w.Newline().Key("ends").Open('{');
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

}  // namespace vigil::cli
