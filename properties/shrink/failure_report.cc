#include "vigil/properties/shrink/failure_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/properties/judge/broken_rules.h"
#include "vigil/properties/judge/why.h"
#include "vigil/properties/shrink/crash_report.h"
#include "vigil/properties/shrink/scenario_summary.h"
#include "vigil/properties/shrink/shrink_broken.h"
#include "vigil/replays/crew/crash.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/print.h"
#include "vigil/replays/show/causes.h"
#include "vigil/replays/show/job_text.h"

namespace vigil::properties {
namespace {

using replays::Outcome;
using replays::Scenario;

constexpr std::chrono::seconds kLongestShrinking{60};
// Where all are shrunk.
constexpr std::uint64_t kMostPlaysOfSession = 2000;
constexpr std::uint64_t kMostPlaysOfJob = 200;

}  // namespace

// A job may take a minute: nobody shall wait for it who has asked for the end. A session is soon told in full.
Outcome FailureReporter::Play(const Scenario& scenario, replays::RunnerOptions how) {
  if (options_.on_tick) options_.on_tick();
  if (scenario.job.has_value() || !runner_.is_our_core()) how.interrupt = &stop_;
  return runner_.Run(scenario, how);
}

// What is left of a scenario may crash where the whole did not.
bool FailureReporter::FailsStill(const FailureKind& kind, const Scenario& candidate) {
  const auto fails = [&](Outcome outcome) { return FailsLike(kind, outcome, candidate); };
  if (!runner_.is_our_core() || !replays::HasOneThread()) return fails(Play(candidate, {}));
  if (options_.on_tick) options_.on_tick();
  const auto play = [&](replays::CrashBoard&) { return std::string(fails(runner_.Run(candidate, {})) ? "still" : ""); };
  const auto end = replays::PlayApart(play, {}, [this] { return !stop_; });
  const auto* const said = std::get_if<std::string>(&end);
  return said != nullptr && !said->empty();
}

// Replaces the scenario by the least that fails in the same way; says what came of it.
std::string FailureReporter::Shrunken(const FailedRun& failed, Scenario& scenario) {
  if (scenario.unit.has_value() || scenario.trace != nullptr || !MayShrink(failed.rule)) return "";
  const replays::RunnerOptions how;
  Outcome whole = Play(scenario, how);
  const FailureKind kind{.rule = failed.rule, .verdict = whole.verdict};
  if (!FailsLike(kind, whole, scenario)) return "";
  const StillFails fails = [&](const Scenario& candidate) { return FailsStill(kind, candidate); };
  const Time end = options_.now ? options_.now() + kLongestShrinking : Time();
  ShrinkOptions options;
  if (options_.shrinks_all) options.max_plays = scenario.job.has_value() ? kMostPlaysOfJob : kMostPlaysOfSession;
  options.stop = [&] { return stop_ || (options_.now && options_.now() > end); };
  const std::size_t before = Elements(scenario);
  const auto events = static_cast<std::int64_t>(whole.trace.size());
  Shrunk shrunk = ShrinkBroken(scenario, failed.rule, events, fails, options);
  scenario = std::move(shrunk.scenario);
  return fmt::format("  shrunk from {} to {} elements in {} plays{}\n", before, Elements(scenario), shrunk.plays,
                     shrunk.minimal ? "" : ", which was all of its budget");
}

// What crashes is never played here.
FailureReport FailureReporter::ReportCrash(const FailedRun& failed) {
  FailureReport report;
  const Time end = options_.now ? options_.now() + kLongestShrinking : Time();
  const bool too_much = TakesTooMuch(failed.rule);
  const auto stop = [&] {
    if (options_.on_tick) options_.on_tick();
    return stop_ || (!too_much && options_.now && options_.now() > end);  // the limits bound those plays
  };
  const LeastCrash least = ShrinkCrash(failed.scenario,
                                       {.rule = failed.rule,
                                        .drawn = failed.drawn,
                                        .shrink = !too_much && MayShrink(failed.rule),
                                        .limits = too_much ? options_.limits : LimitsOfOnePlay()},
                                       stop);
  report.text = fmt::format("FAILED {}: {}\n  {}\n", replays::Escaped(failed.scenario.id), failed.rule,
                            replays::Escaped(ScenarioSummary(least.scenario)));
  if (least.crash.has_value() && least.crash->rule() == failed.rule) {
    report.text += fmt::format("  {}\n{}", replays::Escaped(least.crash->Line()), least.crash->Stack());
    if (too_much) report.text += "  not shrunk: what takes too much is saved as it was played\n";
  } else if (stop_) {
    report.text += fmt::format("  {}\n{}  not played once more: that was stopped\n", replays::Escaped(failed.reason),
                               failed.explanation);
  } else {
    report.text += fmt::format(
        "  {}\n{}  played once more, alone, it did not crash{}\n", replays::Escaped(failed.reason), failed.explanation,
        least.crash.has_value()
            ? fmt::format(" in this way and is not shrunk: {}", replays::Escaped(least.crash->Line()))
            : "");
  }
  if (least.shrunk) {
    report.text +=
        fmt::format("  shrunk from {} to {} elements in {} plays{}\n", least.before, Elements(least.scenario),
                    least.plays, least.minimal ? "" : ", which was all of its budget");
  }
  Save(failed, least.scenario, {}, report);
  return report;
}

// What processes have played goes another way each time: it is told as it was.
FailureReport FailureReporter::ReportReal(const FailedRun& failed) {
  FailureReport report;
  report.text = fmt::format("FAILED {}: {}\n  {}\n{}", replays::Escaped(failed.scenario.id),
                            failed.rule.empty() ? "no rule" : failed.rule,
                            replays::Escaped(ScenarioSummary(failed.scenario)), failed.explanation);
  if (!failed.reason.empty()) report.text += fmt::format("  {}\n", replays::Escaped(failed.reason));
  Save(failed, failed.scenario, {}, report);
  return report;
}

FailureReport FailureReporter::Report(const FailedRun& failed) {
  if (replays::IsCrashRule(failed.rule)) return ReportCrash(failed);
  if (!options_.player.task_program.empty()) return ReportReal(failed);
  FailureReport report;
  report.text = fmt::format("FAILED {}: {}\n", replays::Escaped(failed.scenario.id),
                            failed.rule.empty() ? "no rule" : failed.rule);
  Scenario scenario = failed.scenario;
  if (failed.drawn) scenario.choices = Play(scenario, {.random_schedule = true, .quiet = false}).choices;
  const std::string shrunk = Shrunken(failed, scenario);
  Outcome outcome = Play(scenario, {.log_messages = true});
  const bool cannot = outcome.verdict == replays::Verdict::kCannot;
  if (outcome.verdict == replays::Verdict::kInterrupted || cannot) {
    report.text += fmt::format("  {}\n{}  {}\n", replays::Escaped(ScenarioSummary(scenario)), failed.explanation,
                               cannot ? "it could not be played once more: " + replays::Escaped(outcome.reason)
                                      : "interrupted before it was played once more");
    Save(failed, scenario, {}, report);
    return report;
  }
  if (!scenario.choices.empty()) scenario.choices = outcome.choices;  // without those that nothing asks for any more
  report.text += fmt::format("  {}\n", replays::Escaped(ScenarioSummary(scenario)));
  std::string others;
  bool again = false;
  const std::vector<BrokenRule> all_broken = BrokenRulesIn(outcome, scenario);
  if (const std::optional<replays::CauseChain> why = WhyBroken(scenario, outcome, failed.rule); why.has_value()) {
    report.text += WhyText(*why);
    report.why = replays::ChainJson(*why);
  }
  for (const BrokenRule& broken : all_broken) {
    if (broken.rule == failed.rule) {
      again = true;
      report.text += broken.text;
    } else {
      others += (others.empty() ? "" : ", ") + broken.rule;
    }
  }
  if (outcome.job.has_value()) {
    for (const std::string& line : replays::InertText(*scenario.job, *outcome.job))
      report.text += fmt::format("  {}\n", replays::Escaped(line));
  }
  if (!others.empty()) report.text += fmt::format("  also broken: {}\n", others);
  if (!again && !failed.rule.empty()) report.text += "  played once more, it kept the rule\n";
  ModelComparison says;
  if (failed.rule.empty() && !outcome.job.has_value() && outcome.verdict == replays::Verdict::kPlayed)
    says = CompareWithModel(scenario, outcome);
  const bool by_model = !says.disagreement.empty();
  const std::string& reason = by_model ? says.disagreement : failed.reason;
  if (!reason.empty()) report.text += fmt::format("  {}\n", replays::Escaped(reason));
  report.text += by_model ? says.report : failed.explanation;
  report.text += shrunk;
  const Outcome repeated = Play(scenario, {.quiet = false});
  if (repeated.verdict != replays::Verdict::kInterrupted && repeated.hash != outcome.hash)
    report.text += "  played twice by the same choices, it went two ways\n";
  Save(failed, scenario, says, report);
  return report;
}

// The file expects what the model says or, if a rule was broken, names that.
void FailureReporter::Save(const FailedRun& failed, const Scenario& scenario, const ModelComparison& says,
                           FailureReport& report) {
  Scenario saved = scenario;
  saved.title = failed.rule.empty() ? "failed without breaking a rule" : "violates " + failed.rule;
  const bool as_given = failed.expect != nullptr && failed.rule.empty() && says.disagreement.empty();
  replays::Expectation expect = as_given ? *failed.expect : says.expect;
  expect.violates = failed.rule;
  const bool expects = as_given || !failed.rule.empty() || !says.disagreement.empty();
  const std::string name = fmt::format("{}-{}", failed.rule.empty() ? "failed" : failed.rule, scenario.id);
  report.story = ScenarioSummary(scenario);
  report.record = replays::PrintRecord(saved, expects ? &expect : nullptr);
  if (!failed.source.empty()) folder_.Keep(failed.source);
  const absl::StatusOr<std::string> path = folder_.Save(name, saved, expects ? &expect : nullptr);
  if (!path.ok()) return options_.on_error(std::string(MessageOf(path.status())));
  report.file = *path;
  report.line = ReplayLine(*path, {.plant = options_.plant,
                                   .player = options_.player.command,
                                   .real = !options_.player.task_program.empty(),
                                   .play_limit = PlayLimitOf(failed.rule, options_.limits)});
  report.text += report.line;
}

}  // namespace vigil::properties
