#include "vigil/properties/schedules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/properties/failure_report.h"
#include "vigil/properties/in_order.h"
#include "vigil/properties/judged_play.h"
#include "vigil/replays/escape.h"
#include "vigil/replays/result.h"
#include "vigil/replays/runner.h"
#include "vigil/sim/dfs_chooser.h"
#include "vigil/sim/pct_chooser.h"

namespace vigil::properties {
namespace {

using replays::Outcome;
using replays::Recording;
using replays::Runner;
using replays::Scenario;
using replays::Verdict;

constexpr std::uint64_t kPlaysAPiece = 16;
constexpr std::string_view kSchedulePoints[] = {"/schedule", "/preempt"};

std::uint64_t ScheduleChoices(const Outcome& outcome, bool all_points) {
  std::uint64_t choices = 0;
  for (const auto& [point, labels] : outcome.choices) {
    const auto ends = [&point](std::string_view end) { return point.ends_with(end); };
    if (all_points || std::ranges::any_of(kSchedulePoints, ends)) choices += labels.size();
  }
  return choices;
}

class SchedulesRun {
 public:
  SchedulesRun(const SchedulesOptions& options, const Recording& recording, Files& files,
               const SchedulesCallbacks& callbacks, const std::atomic<bool>& stop)
      : options_(options),
        callbacks_(callbacks),
        stop_(stop),
        scenario_(Calm(recording.scenario)),
        expect_(ExpectedOf(recording)),
        own_(recording.scenario),
        source_(recording.source),
        reporter_(files,
                  {.folder = options.failures,
                   .plant = options.plant,
                   .on_error = callbacks.on_error,
                   .now = callbacks.now,
                   .on_tick = [this] { callbacks_.on_tick(summary_); }},
                  stop) {}

  absl::StatusOr<SchedulesSummary> Run() {
    if (scenario_.trace != nullptr)
      return UsageError(
          "A trace has one schedule, the one that it tells. Name the scenario of a session or a cluster.");
    if (options_.as_expected && !expect_.has_value())
      return UsageError(
          "This scenario does not say what is to happen: it has no 'expect', or one that only names a broken rule. "
          "Without "
          "that there is nothing to hold every schedule against (--as-expected).");
    if (HasOwn()) PlayOwn();
    Outcome calm = PlayFirst(scenario_, options_.preempt);
    if (calm.verdict == Verdict::kNotSetUp)
      return UsageError(fmt::format("This scenario cannot be played: {}", replays::Escaped(calm.reason)));
    summary_.choices = ScheduleChoices(calm, options_.all_points);
    Part first;
    if (calm.verdict != Verdict::kInterrupted) Add(Judge(std::move(calm), "the calm schedule"), ReplayIsCalm(), first);
    Merge(first);
    if (options_.search == ScheduleSearch::kDepthFirst) {
      DepthFirst();
    } else {
      ByPriorities();
    }
    return std::move(summary_);
  }

 private:
  static Scenario Calm(Scenario scenario) {
    scenario.choices.clear();
    return scenario;
  }
  static std::optional<replays::Expectation> ExpectedOf(const Recording& recording) {
    const bool holds = recording.expect.has_value() && recording.expect->violates.empty();
    return holds ? recording.expect : std::nullopt;
  }

  bool HasOwn() const { return !own_.choices.empty(); }
  // `vigil replay` plays the calm schedule, but for choices of the file, and what real clusters did, which it plays by seeds.
  bool ReplayIsCalm() const { return !HasOwn() && !(expect_.has_value() && expect_->job != nullptr); }
  // As `vigil replay` does.
  void PlayOwn() {
    Outcome outcome = PlayFirst(own_, false);
    if (outcome.verdict == Verdict::kInterrupted || outcome.verdict == Verdict::kNotSetUp) return;
    Part part;
    Add(Judge(std::move(outcome), "the choices of the file"), true, part);
    summary_.own = true;
    Merge(part);
  }

  Outcome Play(Runner& runner, sim::Chooser& chooser) const {
    return runner.Run(scenario_, {.chooser = &chooser, .preempt = options_.preempt, .interrupt = &stop_});
  }

  JudgedPlay Judge(Outcome outcome, std::string name) const {
    return JudgePlay(std::move(outcome), scenario_, expect_.has_value() ? &*expect_ : nullptr, std::move(name));
  }

  // By its choices, which may be none. The caller's thread is free to hear of a stop while another plays.
  Outcome PlayFirst(const Scenario& scenario, bool preempt) {
    Outcome played;
    PieceCallbacks pieces;
    pieces.new_worker = [&]() -> PieceWorker {
      return [&](std::uint64_t) -> HandOut {
        Runner runner;
        played = runner.Run(scenario, {.preempt = preempt, .interrupt = &stop_});
        return [] {};
      };
    };
    pieces.on_tick = [this] { callbacks_.on_tick(summary_); };
    const std::atomic<bool> never = false;
    InOrder(1, 0, 1, pieces, never);
    return played;
  }

  void DepthFirst() {
    sim::DfsOptions search{
        .max_runs = options_.limit, .max_choices = options_.choices, .max_changes = options_.changes};
    if (!options_.all_points) search.only.assign(std::begin(kSchedulePoints), std::end(kSchedulePoints));
    sim::DfsChooser chooser(search);
    std::atomic<bool> end = false;
    bool complete = false;
    PieceCallbacks pieces;
    pieces.new_worker = [&]() -> PieceWorker {
      return [&, runner = std::make_shared<Runner>()](std::uint64_t) -> HandOut {
        auto part = std::make_shared<Part>();
        for (std::uint64_t i = 0; i < kPlaysAPiece && !end; ++i) {
          JudgedPlay play = Judge(Play(*runner, chooser), fmt::format("schedule {}", chooser.runs()));
          if (play.verdict == Verdict::kInterrupted) {
            end = true;
          } else {
            if (chooser.runs() > 1) Add(std::move(play), false, *part);  // the calm one has been played
            complete = !chooser.Next();
            if (complete) end = true;
          }
        }
        return [this, part] { Merge(*part); };
      };
    };
    pieces.on_tick = [&] {
      callbacks_.on_tick(summary_);
      if (stop_) end = true;
    };
    InOrder(1, 0, std::numeric_limits<std::uint64_t>::max(), pieces, end);
    summary_.stopped = !complete;
    if (summary_.stopped) return;
    summary_.all = chooser.exhausted() && !chooser.truncated();
    if (!summary_.all) summary_.left_out = LeftOut(chooser);
  }

  std::string LeftOut(const sim::DfsChooser& chooser) const {
    if (!chooser.exhausted()) {
      return fmt::format(
          "cut after {} schedules (--limit): the first {} choices have been the calm ones in all of them",
          Grouped(chooser.runs()), Grouped(chooser.calm_so_far()));
    }
    std::vector<std::string> bounds;
    if (options_.choices > 0)
      bounds.push_back(fmt::format("of which only the first {} choices vary (--choices)", Grouped(options_.choices)));
    if (options_.changes > 0)
      bounds.push_back(
          fmt::format("with at most {} choices other than the calm one (--changes)", Grouped(options_.changes)));
    return fmt::format("these are all {}; there are others", fmt::join(bounds, " and "));
  }

  void ByPriorities() {
    const std::uint64_t first = options_.first_seed;
    const std::uint64_t seeds = summary_.choices == 0 ? 0 : options_.last_seed - first + 1;
    const sim::PctOptions drawn{.depth = options_.depth, .steps = std::max<std::uint64_t>(1, summary_.choices)};
    PieceCallbacks pieces;
    pieces.new_worker = [&]() -> PieceWorker {
      return [&, runner = std::make_shared<Runner>()](std::uint64_t piece) -> HandOut {
        auto part = std::make_shared<Part>();
        const std::uint64_t end = std::min(seeds, (piece + 1) * kPlaysAPiece);
        for (std::uint64_t i = piece * kPlaysAPiece; i < end && !stop_; ++i) {
          sim::PctOptions how = drawn;
          how.seed = first + i;
          sim::PctChooser chooser(how);
          JudgedPlay play = Judge(Play(*runner, chooser), fmt::format("the schedule of seed {}", how.seed));
          if (play.verdict != Verdict::kInterrupted) Add(std::move(play), false, *part);
        }
        return [this, part] { Merge(*part); };
      };
    };
    pieces.on_tick = [this] { callbacks_.on_tick(summary_); };
    InOrder(options_.jobs, 0, (seeds + kPlaysAPiece - 1) / kPlaysAPiece, pieces, stop_);
    summary_.all = summary_.choices == 0;
    summary_.stopped = summary_.played < seeds + (summary_.own ? 2 : 1);
    if (!summary_.all)
      summary_.left_out = fmt::format("drawn by priorities (seeds {}..{}, depth {}): not all there are", first,
                                      options_.last_seed, options_.depth);
  }

  // What came of some plays.
  struct Part {
    SchedulesSummary summary;
    std::vector<JudgedPlay> failures;  // of each rule the first
  };

  // On any thread.
  void Add(JudgedPlay play, bool as_replayed, Part& part) const {
    SchedulesSummary& summary = part.summary;
    ++summary.played;
    summary.traces.insert(play.trace_hash);
    if (!scenario_.job.has_value()) {
      if (!summary.callers.has_value()) summary.callers.emplace();
      summary.callers->insert(play.events_hash);
    }
    ++summary.ends[play.end];
    for (const std::string& rule : play.rules) ++summary.violated[rule];
    summary.disagreements += play.disagreement.empty() ? 0 : 1;
    summary.refused = play.refused;
    AddArmed(summary.armed, play.armed);
    if (expect_.has_value()) summary.as_expected = summary.as_expected.value_or(0) + (play.unexpected.empty() ? 1 : 0);
    if (!options_.as_expected && !as_replayed) play.unexpected.clear();
    if (play.kept()) return;
    ++summary.failed;
    const auto same = [&play](const JudgedPlay& other) { return KindOf(other) == KindOf(play); };
    if (std::ranges::none_of(part.failures, same)) part.failures.push_back(std::move(play));
  }

  static void AddArmed(std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from) {
    to.resize(std::max(to.size(), from.size()));
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
  }

  void Merge(const Part& part) {
    const SchedulesSummary& from = part.summary;
    summary_.played += from.played;
    summary_.failed += from.failed;
    summary_.traces.insert(from.traces.begin(), from.traces.end());
    if (from.callers.has_value()) {
      if (!summary_.callers.has_value()) summary_.callers.emplace();
      summary_.callers->insert(from.callers->begin(), from.callers->end());
    }
    for (const auto& [end, count] : from.ends) summary_.ends[end] += count;
    for (const auto& [rule, count] : from.violated) summary_.violated[rule] += count;
    summary_.disagreements += from.disagreements;
    if (from.played > 0) summary_.refused = from.refused;
    if (from.as_expected.has_value()) summary_.as_expected = summary_.as_expected.value_or(0) + *from.as_expected;
    AddArmed(summary_.armed, from.armed);
    for (const JudgedPlay& play : part.failures) Report(play);
  }

  // Its first rule, or what else is wrong in a word.
  static std::string_view KindOf(const JudgedPlay& play) {
    return play.rules.empty() ? play.Kind() : play.rules.front();
  }

  // The first of each rule, of disagreements, of what does not end, of what is not as expected.
  void Report(const JudgedPlay& play) {
    const std::string rule = play.rules.empty() ? "" : play.rules.front();
    if (!reported_.emplace(KindOf(play)).second) return;
    FailedRun failed{
        .scenario = scenario_, .rule = rule, .reason = "found by " + play.name, .explanation = "", .source = source_};
    failed.scenario.choices = play.choices;
    if (rule.empty()) failed.reason = fmt::format("found by {}: {}", play.name, play.What());
    if (play.rules.empty() && play.disagreement.empty() && !play.unexpected.empty()) {
      failed.expect = &*expect_;
      failed.explanation = play.report;
    }
    FailureReport report = reporter_.Report(failed);
    callbacks_.on_failure({scenario_.id, rule, std::move(report.text), std::move(report.file)});
  }

  const SchedulesOptions& options_;
  const SchedulesCallbacks& callbacks_;
  const std::atomic<bool>& stop_;
  const Scenario scenario_;  // without choices
  const std::optional<replays::Expectation> expect_;
  const Scenario own_;  // as the file has it
  const std::string source_;
  FailureReporter reporter_;
  SchedulesSummary summary_;
  std::set<std::string> reported_;
};

}  // namespace

absl::StatusOr<SchedulesSummary> RunSchedules(const SchedulesOptions& options, const Recording& recording, Files& files,
                                              const SchedulesCallbacks& callbacks, const std::atomic<bool>& stop) {
  return SchedulesRun(options, recording, files, callbacks, stop).Run();
}

}  // namespace vigil::properties
