#include "vigil/properties/explore/schedules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "vigil/core/base/code.h"
#include "vigil/properties/explore/schedule_player.h"
#include "vigil/properties/shrink/crash_report.h"
#include "vigil/properties/shrink/failure_report.h"
#include "vigil/replays/crew/crew.h"
#include "vigil/replays/format/escape.h"

namespace vigil::properties {
namespace {

using replays::Crash;
using replays::Packed;
using replays::Recording;
using replays::Scenario;
using replays::Unpacked;
using replays::Verdict;

constexpr int kSeedPiecesAhead = 8;
constexpr std::string_view kCalmName = "the calm schedule";

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
                   .limits = options.limits,
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
    if (HasOwn()) {
      // As `vigil replay` does.
      const FirstPlay own = PlayFirst(own_, sim::Preempt::kNowhere, "the choices of the file", true);
      summary_.own = own.verdict != Verdict::kInterrupted && own.verdict != Verdict::kNotSetUp;
      Merge(own.part);
    }
    const FirstPlay calm = PlayFirst(scenario_, options_.preempt, std::string(kCalmName), ReplayIsCalm());
    if (calm.verdict == Verdict::kNotSetUp)
      return UsageError(fmt::format("This scenario cannot be played: {}", replays::Escaped(calm.reason)));
    length_ = calm.length;
    summary_.choices = calm.length.choices;
    Merge(calm.part);
    summary_.stopped = calm.verdict == Verdict::kInterrupted;
    if (summary_.stopped) return std::move(summary_);
    switch (options_.search) {
      case ScheduleSearch::kDepthFirst:
        Search<sim::DfsState>();
        break;
      case ScheduleSearch::kReduced:
        Search<sim::DporState>();
        break;
      case ScheduleSearch::kPriorities:
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
  // `vigil replay` plays the calm schedule, but for choices of the file, and what real clusters did, which it plays by
  // seeds.
  bool ReplayIsCalm() const { return !HasOwn() && !(expect_.has_value() && expect_->job != nullptr); }

  std::shared_ptr<SchedulePlayer> NewPlayer(const replays::CrewView& view) const {
    return std::make_shared<SchedulePlayer>(options_, scenario_, expect_.has_value() ? &*expect_ : nullptr, *view.stop,
                                            view.part);
  }
  bool GoesOn() const { return !stop_; }

  // A search goes from play to play: one worker does it. Of priorities there may be many.
  replays::CrewSummary Work(int jobs, int ahead, replays::CrewCallbacks crew) {
    crew.on_tick = [this] { callbacks_.on_tick(summary_); };
    const replays::CrewSummary worked =
        replays::RunCrew({.jobs = jobs, .ahead = ahead, .limits = options_.limits}, crew, stop_);
    summary_.given_up = summary_.given_up || worked.given_up;
    return worked;
  }
  int OneJob() const { return std::min(options_.jobs, 1); }

  // By its choices, which may be none.
  FirstPlay PlayFirst(const Scenario& scenario, sim::Preempt preempt, const std::string& name, bool as_replayed) {
    FirstPlay first;
    const auto play = [&](const replays::CrewView& view) {
      return Packed(NewPlayer(view)->First(scenario, preempt, name, as_replayed));
    };
    const auto on_reply = [&first](const std::string& reply) { first = Unpacked<FirstPlay>(reply); };
    const auto on_crash = [&](const Crash& crash) {
      sim::ReplayChooser chooser(scenario.choices);
      ChoiceLog log;
      CrashBy(scenario, chooser, preempt, log, [this] { return GoesOn(); });
      first.verdict = Verdict::kCrashed;
      first.length = LengthOf(log.Choices(), options_.all_points);
      AddCrash(crash, log.Choices());
    };
    Work(OneJob(), 1, replays::OneRequest(play, on_reply, on_crash));
    return first;
  }

  template <typename State>
  void Search() {
    State state;
    bool complete = false;
    bool lost = false;  // the way to go on
    replays::CrewCallbacks crew;
    crew.next = [&]() -> std::optional<std::string> {
      if (complete || lost) return std::nullopt;
      return Packed(SearchPiece<State>{state, kPlaysAPiece});
    };
    crew.new_worker = [this](const replays::CrewView& view) -> replays::CrewWorker {
      return [player = NewPlayer(view)](const std::string& request) {
        return Packed(player->Search(Unpacked<SearchPiece<State>>(request)));
      };
    };
    crew.on_reply = [&](const std::string& bytes) {
      auto reply = Unpacked<SearchReply<State>>(bytes);
      Merge(reply.part);
      state = std::move(reply.state);
      complete = reply.complete;
      return true;
    };
    crew.on_crash = [&](const std::string& request, std::uint64_t part,
                        const Crash& crash) -> std::optional<std::string> {
      state = Unpacked<SearchPiece<State>>(request).state;
      if (!PlayBefore(part, state)) {
        AddCrash(crash, {});
        summary_.given_up = !stop_;  // it crashes at another place each time
        lost = true;
        return std::nullopt;
      }
      complete = !GoBeyondCrash(crash, state);
      if (complete) return std::nullopt;
      return Packed(SearchPiece<State>{state, kPlaysAPiece});
    };
    Work(OneJob(), 1, std::move(crew));
    if (summary_.given_up) return;
    summary_.stopped = !complete;
    if (summary_.stopped) return;
    summary_.all = state.exhausted && !Truncated(state);
    if (!summary_.all) summary_.left_out = LeftOut(state);
  }

  // What was played before the crash once more, for the reply was lost with the worker. False: it crashed, too.
  template <typename State>
  bool PlayBefore(std::uint64_t part, State& state) {
    if (part <= 1) return true;
    replays::PlayLimits limits = options_.limits;
    limits.cpu *= kPlaysAPiece;
    limits.wall *= kPlaysAPiece;
    const auto play = [&](replays::CrashBoard&) {
      const std::atomic<bool> never = false;
      const auto player = NewPlayer({.stop = &never, .part = [](std::uint64_t) {}});
      return Packed(player->Search(SearchPiece<State>{state, part - 1}));
    };
    const std::variant<std::string, Crash> end = replays::PlayApart(play, limits, [this] { return GoesOn(); });
    if (!std::holds_alternative<std::string>(end)) return false;
    auto reply = Unpacked<SearchReply<State>>(std::get<std::string>(end));
    Merge(reply.part);
    state = std::move(reply.state);
    return true;
  }

  // The schedule that `state` is at crashes: played once more, to see its choices, as far as it comes; the search goes
  // on behind it. False: there is nothing.
  template <typename State>
  bool GoBeyondCrash(const Crash& crash, State& state) {
    auto chooser = SearchFrom(options_, std::move(state));
    ChoiceLog log;
    CrashBy(
        scenario_, chooser, options_.preempt, log, [this] { return GoesOn(); }, ObserverOf(chooser));
    FollowLog(log, chooser);
    if (chooser.runs() > 1) AddCrash(crash, log.Choices());  // the calm one has been played
    chooser.BreakOff();
    const bool more = chooser.Next();
    state = chooser.state();
    return more;
  }

  static void FollowLog(const ChoiceLog& log, sim::DfsChooser& chooser) { log.Repeat(chooser); }
  static void FollowLog(const ChoiceLog& log, sim::DporChooser& chooser) {
    log.ForEach([&chooser](const sim::ChoicePoint& point, std::span<const std::string_view> labels,
                           std::size_t chosen) { chooser.Follow(point, labels, chosen); });
  }

  static bool Truncated(const sim::DfsState& state) { return state.truncated; }
  bool Truncated(const sim::DporState&) const { return options_.guarded_memory; }

  std::string LeftOut(const sim::DporState& state) const {
    if (state.exhausted)
      return "that is all of them, if tasks of one process share only what locks guard, and atomics (--guarded)";
    return fmt::format("cut after {} schedules (--limit), those that were broken off included", Grouped(state.runs));
  }
  std::string LeftOut(const sim::DfsState& state) const {
    if (!state.exhausted) {
      return fmt::format(
          "cut after {} schedules (--limit): the first {} choices have been the calm ones in all of them",
          Grouped(state.runs), Grouped(state.calm_so_far));
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
    const std::uint64_t seeds = summary_.choices == 0 ? 0 : options_.last_seed - options_.first_seed + 1;
    const std::uint64_t pieces = (seeds + kPlaysAPiece - 1) / kPlaysAPiece;
    std::uint64_t next = 0;
    replays::CrewCallbacks crew;
    crew.next = [&]() -> std::optional<std::string> {
      if (next == pieces) return std::nullopt;
      return Packed(SeedsPiece{next++, {}});
    };
    crew.new_worker = [this](const replays::CrewView& view) -> replays::CrewWorker {
      return [this, player = NewPlayer(view)](const std::string& request) {
        return Packed(player->Seeds(Unpacked<SeedsPiece>(request), length_));
      };
    };
    crew.on_reply = [this](const std::string& reply) {
      Merge(Unpacked<SchedulesPart>(reply));
      return true;
    };
    crew.on_crash = [this](const std::string& request, std::uint64_t part,
                           const Crash& crash) -> std::optional<std::string> {
      auto piece = Unpacked<SeedsPiece>(request);
      const std::uint64_t seed =
          options_.first_seed + piece.number * kPlaysAPiece + std::max<std::uint64_t>(part, 1) - 1;
      sim::PctChooser chooser(PctOptionsOf(options_, length_, seed));
      ChoiceLog log;
      CrashBy(scenario_, chooser, options_.preempt, log, [this] { return GoesOn(); });
      AddCrash(crash, log.Choices());
      piece.without.insert(seed);
      return Packed(piece);
    };
    if (pieces > 0) Work(options_.jobs, kSeedPiecesAhead, std::move(crew));
    summary_.all = summary_.choices == 0;
    summary_.stopped = !summary_.given_up && summary_.played < seeds + (summary_.own ? 2 : 1);
    if (!summary_.all)
      summary_.left_out = fmt::format("drawn by priorities (seeds {}..{}, depth {}): not all there are",
                                      options_.first_seed, options_.last_seed, options_.depth);
  }

  void AddCrash(const Crash& crash, sim::ChoiceMap choices) {
    ++summary_.played;
    ++summary_.failed;
    ++summary_.ends["crashed"];
    ++summary_.violated[crash.rule()];
    if (expect_.has_value()) summary_.as_expected = summary_.as_expected.value_or(0);
    if (!reported_.insert(crash.rule()).second) return;
    FailedRun failed{.scenario = scenario_,
                     .rule = crash.rule(),
                     .reason = crash.Line(),
                     .explanation = crash.Stack(),
                     .source = source_};
    failed.scenario.choices = std::move(choices);
    Tell(failed);
  }

  void Merge(const SchedulesPart& part) {
    const SchedulesSummary& from = part.summary;
    summary_.played += from.played;
    summary_.failed += from.failed;
    summary_.blocked += from.blocked;
    summary_.traces.insert(from.traces.begin(), from.traces.end());
    summary_.orders.insert(from.orders.begin(), from.orders.end());
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
    for (const PlayJudgement& play : part.failures) Report(play);
  }

  // The first of each rule, of disagreements, of what does not end, of what is not as expected.
  void Report(const PlayJudgement& play) {
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
    Tell(failed);
  }

  void Tell(const FailedRun& failed) {
    FailureReport report = reporter_.Report(failed);
    callbacks_.on_failure({scenario_.id, failed.rule, std::move(report.text), std::move(report.file)});
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
  ScheduleLength length_;  // of the calm schedule
  std::set<std::string> reported_;
};

}  // namespace

absl::StatusOr<SchedulesSummary> RunSchedules(const SchedulesOptions& options, const Recording& recording, Files& files,
                                              const SchedulesCallbacks& callbacks, const std::atomic<bool>& stop) {
  return SchedulesRun(options, recording, files, callbacks, stop).Run();
}

}  // namespace vigil::properties
