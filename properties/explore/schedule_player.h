// Plays schedules of one scenario, in a worker: the half of schedules.h that may crash. What goes to it and what comes
// back are bytes (replays/crew/packed.h).
//
// Thread safety: none.
#ifndef VIGIL_PROPERTIES_EXPLORE_SCHEDULE_PLAYER_H_
#define VIGIL_PROPERTIES_EXPLORE_SCHEDULE_PLAYER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "vigil/properties/explore/play_judgement.h"
#include "vigil/properties/explore/schedules.h"
#include "vigil/replays/crew/packed.h"
#include "vigil/replays/play/runner.h"
#include "vigil/sim/kernel/dfs_chooser.h"
#include "vigil/sim/kernel/dpor_chooser.h"
#include "vigil/sim/kernel/pct_chooser.h"

namespace vigil::sim {

template <typename Archive>
void PackFields(Archive& archive, DfsState::Branch& branch) {
  archive(branch.point, branch.labels, branch.taken);
}
template <typename Archive>
void PackFields(Archive& archive, DfsState& state) {
  archive(state.branches, state.changes, state.calm_so_far, state.runs, state.exhausted, state.truncated);
}
template <typename Archive>
void PackFields(Archive& archive, Touch& touch) {
  archive(touch.object, touch.write);
}
template <typename Archive>
void PackFields(Archive& archive, Footprint& footprint) {
  archive(footprint.touches, footprint.everything);
}
template <typename Archive>
void PackFields(Archive& archive, DporState::Sleeper& sleeper) {
  archive(sleeper.task, sleeper.footprint);
}
template <typename Archive>
void PackFields(Archive& archive, DporState::Node& node) {
  archive(node.point, node.of_tasks, node.labels, node.size, node.taken, node.wanted, node.tried, node.blockers,
          node.sleepers, node.were_tried, node.objects, node.footprint);
}
template <typename Archive>
void PackFields(Archive& archive, DporState& state) {
  archive(state.nodes, state.runs, state.blocked, state.exhausted);
}

}  // namespace vigil::sim

namespace vigil::properties {

inline constexpr std::uint64_t kPlaysAPiece = 16;

// What came of some plays.
struct SchedulesPart {
  SchedulesSummary summary;
  std::vector<PlayJudgement> failures;  // of each kind the first
};
// The first rule of one that failed, or what else is wrong in a word.
std::string_view KindOf(const PlayJudgement& play);

// How many choices a play has made.
struct ScheduleLength {
  std::uint64_t choices = 0;   // of those that vary
  std::uint64_t messages = 0;  // of how long one takes
};

// A play by the choices of the scenario, which may be none.
struct FirstPlay {
  replays::Verdict verdict = replays::Verdict::kInterrupted;
  std::string reason = {};
  ScheduleLength length = {};
  SchedulesPart part = {};
};

// From here on, so many.
template <typename State>
struct SearchPiece {
  State state;
  std::uint64_t plays = kPlaysAPiece;
};
template <typename State>
struct SearchReply {
  State state;
  bool complete = false;  // there is no further one
  SchedulesPart part;
};

struct SeedsPiece {
  std::uint64_t number = 0;
  std::set<std::uint64_t> without;  // seeds
};

ScheduleLength LengthOf(const sim::ChoiceMap& choices, bool all_points);
// What goes on from there.
sim::DfsChooser SearchFrom(const SchedulesOptions& options, sim::DfsState state);
sim::DporChooser SearchFrom(const SchedulesOptions& options, sim::DporState state);
// What it wants to be told of the steps of a play; null: nothing.
inline sim::StepObserver* ObserverOf(sim::DfsChooser&) { return nullptr; }
inline sim::StepObserver* ObserverOf(sim::DporChooser& chooser) { return &chooser; }

// Of every other seed links have priorities, too.
sim::PctOptions PctOptionsOf(const SchedulesOptions& options, const ScheduleLength& length, std::uint64_t seed);

class SchedulePlayer {
 public:
  // Borrows all but the last, which is told of each play that begins, from 1.
  SchedulePlayer(const SchedulesOptions& options, const replays::Scenario& scenario, const replays::Expectation* expect,
                 const std::atomic<bool>& stop, std::function<void(std::uint64_t)> playing)
      : options_(options), scenario_(scenario), expect_(expect), stop_(stop), playing_(std::move(playing)) {}

  FirstPlay First(const replays::Scenario& scenario, sim::Preempt preempt, const std::string& name, bool as_replayed);
  // Of a sim::DfsState or a sim::DporState.
  template <typename State>
  SearchReply<State> Search(SearchPiece<State> piece);
  // `choices`: of the calm schedule.
  SchedulesPart Seeds(const SeedsPiece& piece, const ScheduleLength& length);

 private:
  PlayJudgement Play(sim::Chooser& chooser, std::string name, sim::StepObserver* steps = nullptr);
  PlayJudgement Judge(replays::Outcome outcome, std::string name) const;
  void Add(PlayJudgement play, bool as_replayed, SchedulesPart& part) const;

  const SchedulesOptions& options_;
  const replays::Scenario& scenario_;
  const replays::Expectation* const expect_;
  const std::atomic<bool>& stop_;
  const std::function<void(std::uint64_t)> playing_;
  replays::Runner runner_;
};

void AddArmed(std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from);

template <typename Archive>
void PackFields(Archive& archive, PlayJudgement& play) {
  archive(play.name, play.verdict, play.trace_hash, play.events_hash, play.end, play.armed, play.rules,
          play.disagreement, play.endless, play.unexpected, play.report, play.refused, play.choices);
}
template <typename Archive>
void PackFields(Archive& archive, SchedulesSummary& summary) {
  archive(summary.played, summary.failed, summary.blocked, summary.traces, summary.orders, summary.callers,
          summary.ends, summary.violated, summary.disagreements, summary.refused, summary.as_expected, summary.armed);
}
template <typename Archive>
void PackFields(Archive& archive, SchedulesPart& part) {
  archive(part.summary, part.failures);
}
template <typename Archive>
void PackFields(Archive& archive, FirstPlay& first) {
  archive(first.verdict, first.reason, first.length.choices, first.length.messages, first.part);
}
template <typename Archive, typename State>
void PackFields(Archive& archive, SearchPiece<State>& piece) {
  archive(piece.state, piece.plays);
}
template <typename Archive, typename State>
void PackFields(Archive& archive, SearchReply<State>& reply) {
  archive(reply.state, reply.complete, reply.part);
}
template <typename Archive>
void PackFields(Archive& archive, SeedsPiece& piece) {
  archive(piece.number, piece.without);
}

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_EXPLORE_SCHEDULE_PLAYER_H_
