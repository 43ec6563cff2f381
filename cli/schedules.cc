#include "vigil/cli/schedules.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "fmt/format.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/read_run.h"
#include "vigil/cli/results.h"
#include "vigil/cli/system.h"
#include "vigil/core/env/real/system_clock.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/replays/crew/crew.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/json_writer.h"

namespace vigil::cli {
namespace {

using properties::Grouped;
using properties::ScheduleSearch;
using properties::SchedulesOptions;
using properties::SchedulesSummary;

std::string SchedulesRow(std::uint64_t count, std::string_view what) {
  return fmt::format("{:>12}  {}\n", Grouped(count), what);
}

class SchedulesCommand {
 public:
  explicit SchedulesCommand(const SchedulesArguments& arguments)
      : arguments_(arguments), results_("vigil explore", arguments.json) {}

  int Run() {
    const RunName run = arguments_.only.empty() ? SplitRunName(results_.files(), arguments_.file)
                                                : RunName{arguments_.file, arguments_.only};
    if (!results_.CanWrite({}, {run.path, arguments_.options.failures})) return kMisuse;
    if (arguments_.failures_given && !results_.CanSaveIn(arguments_.options.failures)) return kMisuse;
    const absl::StatusOr<replays::Recording> recording = ReadRun(results_.files(), run);
    if (!recording.ok()) return results_.Refuse(recording.status());
    const absl::StatusOr<SchedulesSummary> summary =
        properties::RunSchedules(arguments_.options, *recording, results_.files(), Callbacks(), results_.stopped());
    results_.EndProgress();
    if (!summary.ok()) return results_.Refuse(summary.status());
    results_.Print(SchedulesText(*summary));
    if (results_.wants_json())
      results_.WriteJson(SchedulesJson(recording->scenario.id, arguments_.options, *summary, failures_));
    return results_.End(summary->failed == 0 && !summary->given_up);
  }

 private:
  properties::SchedulesCallbacks Callbacks() {
    properties::SchedulesCallbacks callbacks;
    callbacks.on_failure = [this](const properties::SchedulesFailure& failure) {
      failures_.push_back(failure);
      results_.Print(failure.text + "\n");
    };
    callbacks.on_error = [this](const std::string& error) { results_.Fail(error); };
    callbacks.on_tick = [this](const SchedulesSummary& summary) {
      const std::chrono::milliseconds now = Uptime();
      if (now - ticked_ < kTick) return;
      ticked_ = now;
      results_.Tick(fmt::format("{} schedules played, {} failed", Grouped(summary.played), Grouped(summary.failed)));
    };
    callbacks.now = [this] { return clock_.Monotonic(); };
    return callbacks;
  }

  static constexpr std::chrono::milliseconds kTick{100};

  const SchedulesArguments& arguments_;
  Results results_;
  SystemClock clock_;
  std::vector<properties::SchedulesFailure> failures_;
  std::chrono::milliseconds ticked_{0};
};

}  // namespace

int ExploreSchedules(const SchedulesArguments& arguments) { return SchedulesCommand(arguments).Run(); }

std::string SchedulesText(const SchedulesSummary& summary) {
  std::string text =
      SchedulesRow(summary.played, summary.own ? "schedules played, that of the file's choices and the calm one first"
                                               : "schedules played, the calm one first");
  if (summary.all) text += fmt::format("{:>12}  that is all of them\n", "");
  if (!summary.left_out.empty()) text += fmt::format("{:>12}  {}\n", "", summary.left_out);
  if (summary.blocked > 0)
    text += SchedulesRow(summary.blocked, "more broken off: they had been played, but for steps that commute");
  text += SchedulesRow(summary.choices, "choices in the calm schedule");
  if (!summary.orders.empty())
    text +=
        SchedulesRow(summary.orders.size(), "distinct orders of steps that conflict: of tasks, deliveries and locks");
  text += SchedulesRow(summary.traces.size(), "distinct traces, of all tasks");
  if (summary.callers.has_value())
    text += SchedulesRow(summary.callers->size(), "distinct traces, of the session's caller and hooks");
  if (summary.as_expected.has_value()) text += SchedulesRow(*summary.as_expected, "gave what the file expects");
  if (!summary.armed.empty()) {
    const auto armed = std::ranges::count_if(summary.armed, [](std::uint64_t n) { return n > 0; });
    text += SchedulesRow(static_cast<std::uint64_t>(armed), fmt::format("of {} rules armed", summary.armed.size()));
  }
  text += "\nhow they ended\n";
  for (const auto& [what, count] : summary.ends) text += SchedulesRow(count, replays::Escaped(what));
  text += "\n";
  for (const auto& [rule, count] : summary.violated)
    text += fmt::format("FAILED {}: {} schedules\n", rule, Grouped(count));
  if (!summary.refused.empty())
    text += fmt::format("not held against the reference model, which does not model: {}\n",
                        replays::Escaped(summary.refused));
  if (summary.disagreements > 0)
    text +=
        fmt::format("FAILED the reference model says something else of {} schedules\n", Grouped(summary.disagreements));
  if (summary.given_up) text += replays::kGivenUp;
  if (summary.stopped) text += "interrupted: this is what was found so far\n";
  return text + fmt::format("{} passed, {} failed\n", summary.played - summary.failed, summary.failed);
}

std::string SchedulesJson(const std::string& id, const SchedulesOptions& options, const SchedulesSummary& summary,
                          const std::vector<properties::SchedulesFailure>& failures) {
  const std::string search = options.search == ScheduleSearch::kDepthFirst ? "dfs"
                             : options.search == ScheduleSearch::kReduced  ? "dpor"
                                                                           : "pct";
  replays::JsonWriter w;
  w.Open('{').Key("scenario").String(id).Key("schedules").String(search);
  w.Newline().Key("played").Natural(summary.played).Key("failed").Natural(summary.failed);
  if (options.search == ScheduleSearch::kReduced) w.Key("broken_off").Natural(summary.blocked);
  w.Key("all").Bool(summary.all).Key("left_out").String(summary.left_out).Key("interrupted").Bool(summary.stopped);
  if (summary.given_up) w.Key("given_up").Bool(true);
  w.Key("own_choices_first").Bool(summary.own);
  w.Newline().Key("choices").Natural(summary.choices).Key("traces").Natural(summary.traces.size());
  if (!summary.orders.empty()) w.Key("orders").Natural(summary.orders.size());
  if (summary.callers.has_value()) w.Key("callers_traces").Natural(summary.callers->size());
  if (summary.as_expected.has_value()) w.Key("as_expected").Natural(*summary.as_expected);
  w.Key("disagreements").Natural(summary.disagreements).Key("not_modelled").String(summary.refused);
  w.Newline().Key("ends").Open('{');
  for (const auto& [what, count] : summary.ends) w.Newline().Key(what).Natural(count);
  w.Close('}').Newline().Key("violated").Open('{');
  for (const auto& [rule, count] : summary.violated) w.Newline().Key(rule).Natural(count);
  w.Close('}').Newline().Key("armed").Open('{');
  for (std::size_t i = 0; i < summary.armed.size(); ++i) {
    if (summary.armed[i] > 0)
      w.Newline().Key(std::string(properties::AllRules()[i]()->info().id)).Natural(summary.armed[i]);
  }
  w.Close('}').Newline().Key("failures").Open('[');
  for (const properties::SchedulesFailure& failure : failures) {
    w.Newline().Open('{').Key("id").String(failure.id).Key("rule").String(failure.rule);
    w.Key("file").String(failure.file).Close('}');
  }
  w.Close(']').Close('}');
  return w.Take() + "\n";
}

}  // namespace vigil::cli
