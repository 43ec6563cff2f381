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
struct DfsPiece {
  sim::DfsState state;
  std::uint64_t plays = kPlaysAPiece;
};
struct DfsReply {
  sim::DfsState state;
  bool complete = false;  // there is no further one
  SchedulesPart part;
};

struct SeedsPiece {
  std::uint64_t number = 0;
  std::set<std::uint64_t> without;  // seeds
};

ScheduleLength LengthOf(const sim::ChoiceMap& choices, bool all_points);
sim::DfsOptions DfsOptionsOf(const SchedulesOptions& options);
// Of every other seed links have priorities, too.
sim::PctOptions PctOptionsOf(const SchedulesOptions& options, const ScheduleLength& length, std::uint64_t seed);

class SchedulePlayer {
 public:
  // Borrows all but the last, which is told of each play that begins, from 1.
  SchedulePlayer(const SchedulesOptions& options, const replays::Scenario& scenario, const replays::Expectation* expect,
                 const std::atomic<bool>& stop, std::function<void(std::uint64_t)> playing)
      : options_(options), scenario_(scenario), expect_(expect), stop_(stop), playing_(std::move(playing)) {}

  FirstPlay First(const replays::Scenario& scenario, bool preempt, const std::string& name, bool as_replayed);
  DfsReply DepthFirst(DfsPiece piece);
  // `choices`: of the calm schedule.
  SchedulesPart Seeds(const SeedsPiece& piece, const ScheduleLength& length);

 private:
  PlayJudgement Play(sim::Chooser& chooser, std::string name);
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
  archive(summary.played, summary.failed, summary.traces, summary.callers, summary.ends, summary.violated,
          summary.disagreements, summary.refused, summary.as_expected, summary.armed);
}
template <typename Archive>
void PackFields(Archive& archive, SchedulesPart& part) {
  archive(part.summary, part.failures);
}
template <typename Archive>
void PackFields(Archive& archive, FirstPlay& first) {
  archive(first.verdict, first.reason, first.length.choices, first.length.messages, first.part);
}
template <typename Archive>
void PackFields(Archive& archive, DfsPiece& piece) {
  archive(piece.state, piece.plays);
}
template <typename Archive>
void PackFields(Archive& archive, DfsReply& reply) {
  archive(reply.state, reply.complete, reply.part);
}
template <typename Archive>
void PackFields(Archive& archive, SeedsPiece& piece) {
  archive(piece.number, piece.without);
}

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_EXPLORE_SCHEDULE_PLAYER_H_
