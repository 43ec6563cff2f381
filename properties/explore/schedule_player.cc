#include "vigil/properties/explore/schedule_player.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "vigil/sim/kernel/step_order.h"

namespace vigil::properties {
namespace {

using replays::Outcome;
using replays::Verdict;

}  // namespace

std::string_view KindOf(const PlayJudgement& play) { return play.rules.empty() ? play.Kind() : play.rules.front(); }

ScheduleLength LengthOf(const sim::ChoiceMap& choices, bool all_points) {
  ScheduleLength length;
  for (const auto& [point, labels] : choices) {
    if (all_points || sim::IsChoiceOfTasks(point)) length.choices += labels.size();
    if (sim::IsLatency(point)) length.messages += labels.size();
  }
  return length;
}

sim::DfsChooser SearchFrom(const SchedulesOptions& options, sim::DfsState state) {
  sim::DfsOptions search{.max_runs = options.limit, .max_choices = options.choices, .max_changes = options.changes};
  if (!options.all_points) search.only.assign(std::begin(sim::kChoicesOfTasks), std::end(sim::kChoicesOfTasks));
  return sim::DfsChooser(std::move(search), std::move(state));
}

sim::DporChooser SearchFrom(const SchedulesOptions& options, sim::DporState state) {
  return sim::DporChooser(
      {.max_runs = options.limit, .all_points = options.all_points, .guarded_memory = options.guarded_memory},
      std::move(state));
}

sim::PctOptions PctOptionsOf(const SchedulesOptions& options, const ScheduleLength& length, std::uint64_t seed) {
  sim::PctOptions how{.depth = options.depth, .steps = std::max<std::uint64_t>(1, length.choices)};
  how.seed = seed;
  if (seed % 2 == 0) how.deliveries = length.messages;
  return how;
}

void AddArmed(std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from) {
  to.resize(std::max(to.size(), from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}

PlayJudgement SchedulePlayer::Judge(Outcome outcome, std::string name) const {
  return JudgePlay(std::move(outcome), scenario_, expect_, std::move(name));
}

PlayJudgement SchedulePlayer::Play(sim::Chooser& chooser, std::string name, sim::StepObserver* steps) {
  Outcome outcome =
      runner_.Run(scenario_, {.chooser = &chooser, .steps = steps, .preempt = options_.preempt, .interrupt = &stop_});
  return Judge(std::move(outcome), std::move(name));
}

FirstPlay SchedulePlayer::First(const replays::Scenario& scenario, sim::Preempt preempt, const std::string& name,
                                bool as_replayed) {
  playing_(1);
  Outcome outcome = runner_.Run(scenario, {.preempt = preempt, .interrupt = &stop_});
  FirstPlay first{.verdict = outcome.verdict, .reason = outcome.reason};
  if (first.verdict == Verdict::kNotSetUp || first.verdict == Verdict::kInterrupted) return first;
  first.length = LengthOf(outcome.choices, options_.all_points);
  Add(Judge(std::move(outcome), name), as_replayed, first.part);
  return first;
}

template <typename State>
SearchReply<State> SchedulePlayer::Search(SearchPiece<State> piece) {
  auto chooser = SearchFrom(options_, std::move(piece.state));
  SearchReply<State> reply;
  for (std::uint64_t i = 0; i < piece.plays && !stop_ && !reply.complete; ++i) {
    playing_(i + 1);
    sim::StepOrder order(options_.guarded_memory, ObserverOf(chooser));
    PlayJudgement play = Play(chooser, fmt::format("schedule {}", chooser.runs()), &order);
    const bool blocked = order.Enough();
    if (play.verdict == Verdict::kInterrupted && !blocked) break;
    if (blocked) ++reply.part.summary.blocked;
    if (!blocked) reply.part.summary.orders.insert(order.Hash());
    if (chooser.runs() > 1 && !blocked) Add(std::move(play), false, reply.part);  // the calm one has been played
    reply.complete = !chooser.Next();
  }
  reply.state = chooser.state();
  return reply;
}
template SearchReply<sim::DfsState> SchedulePlayer::Search(SearchPiece<sim::DfsState> piece);
template SearchReply<sim::DporState> SchedulePlayer::Search(SearchPiece<sim::DporState> piece);

SchedulesPart SchedulePlayer::Seeds(const SeedsPiece& piece, const ScheduleLength& length) {
  SchedulesPart part;
  const std::uint64_t first = options_.first_seed + piece.number * kPlaysAPiece;
  const std::uint64_t count = std::min(kPlaysAPiece, options_.last_seed - first + 1);
  for (std::uint64_t i = 0; i < count && !stop_; ++i) {
    if (piece.without.contains(first + i)) continue;
    playing_(i + 1);
    sim::PctChooser chooser(PctOptionsOf(options_, length, first + i));
    PlayJudgement play = Play(chooser, fmt::format("the schedule of seed {}", first + i));
    if (play.verdict != Verdict::kInterrupted) Add(std::move(play), false, part);
  }
  return part;
}

void SchedulePlayer::Add(PlayJudgement play, bool as_replayed, SchedulesPart& part) const {
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
  if (expect_ != nullptr) summary.as_expected = summary.as_expected.value_or(0) + (play.unexpected.empty() ? 1 : 0);
  if (!options_.as_expected && !as_replayed) play.unexpected.clear();
  if (play.kept()) return;
  ++summary.failed;
  const auto same = [&play](const PlayJudgement& other) { return KindOf(other) == KindOf(play); };
  if (std::ranges::none_of(part.failures, same)) part.failures.push_back(std::move(play));
}

}  // namespace vigil::properties
