// The forged histories of what looks at restores, at what servers hold meanwhile, and at who is told to stop.
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/sim/checkers/checker_cases.h"
#include "vigil/sim/faults/fault_kinds.h"

namespace vigil::sim {
namespace {

using Kind = JobMoment::Kind;
using std::chrono::seconds;

// Two servers wrote counts into the checkpoint of step 20, which the chief restores for a session once the second one
// has begun anew; the first server gets its count back in that, or it does not.
JobEvidence RestoredOnBoth(bool first, std::string_view begins = "ps:1") {
  JobEvidence evidence = Evidence({{1, "ps:0", Kind::kWritten, 5},
                                   {1, "ps:1", Kind::kWritten, 6},
                                   {2, begins, Kind::kStarted},
                                   {3, "ps:1", Kind::kAssigned, 6},
                                   {3, kBoss, Kind::kRestored, 20}});
  evidence.history[0].checkpoint = evidence.history[1].checkpoint = 20;
  const auto add = [&evidence](std::initializer_list<Told> lines) {
    for (JobMoment& moment : Tell(lines)) evidence.history.push_back(std::move(moment));
  };
  if (first) add({{4, "ps:0", Kind::kAssigned, 5}});
  add({{5, kBoss, Kind::kRestored, 20}, {6, kBoss, Kind::kSession}});
  return evidence;
}

// A count that was 0, 1 and 2 at the saves so far, and is 3; the save of it writes this.
JobEvidence SavedAs(std::int64_t written) {
  JobEvidence evidence;
  for (int count = 0; count <= 3; ++count) {
    const Kind kind = count == 0 ? Kind::kAssigned : Kind::kApplied;
    const std::int64_t saved = count == 3 ? written : count;
    for (JobMoment& moment : Tell({{2 * count, "ps:0", kind, count}, {2 * count + 1, "ps:0", Kind::kWritten, saved}})) {
      moment.checkpoint = moment.kind == Kind::kWritten ? 10 * count : -1;
      evidence.history.push_back(std::move(moment));
    }
  }
  return evidence;
}

// The chief dies while it brings back what the second server had lost, and the next one finds the model whole.
JobEvidence DiesInARestore() {
  JobEvidence evidence = RestoredOnBoth(false);
  evidence.history.resize(evidence.history.size() - 2);
  for (JobMoment& moment : Tell({{5, kBoss, Kind::kStarted}, {6, kBoss, Kind::kSession}})) {
    evidence.history.push_back(std::move(moment));
  }
  return evidence;
}

// A restore of a checkpoint which a disk has damaged.
JobEvidence RestoredDamaged(Code code) {
  JobEvidence evidence = Evidence({{1, kBoss, Kind::kRestored, 20, code}, {2, kBoss, Kind::kSession}});
  evidence.history.front().subject = kDamagedData;
  return evidence;
}

// The damaged one works, and what was missing is then brought back from a part that is whole, of this step.
JobEvidence RestoresWhatIsMissingThen(std::int64_t step) {
  JobEvidence evidence =
      Evidence({{1, kBoss, Kind::kRestored, 20}, {2, kBoss, Kind::kRestored, step}, {3, kBoss, Kind::kSession}});
  evidence.history.front().subject = kDamagedData;
  return evidence;
}

// A checkpoint of step 40 was reported, and a state file in which a bit has flipped named the first one; the chief
// restores the second.
JobEvidence NamedByRotten(std::int64_t named, std::int64_t restored) {
  JobEvidence evidence = Evidence({{1, kBoss, Kind::kSaved, 20},
                                   {2, kBoss, Kind::kSaved, 40},
                                   {3, kBoss, Kind::kStarted},
                                   {4, kBoss, Kind::kRestored, restored}},
                                  40);
  evidence.facts.state_file_rotten = true;
  evidence.facts.rotten_state_file_names = {named};
  return evidence;
}

// A chief that was taken for dead goes on beside the next one, which reports a checkpoint and then restores another.
JobEvidence BesideAZombie(std::int64_t restored) {
  JobEvidence evidence = Evidence({{1, kBoss, Kind::kSaved, 20},
                                   {2, "zombie of chief:0", Kind::kReplaced},
                                   {3, kBoss, Kind::kSaved, 40},
                                   {4, kBoss, Kind::kRestored, restored}},
                                  40);
  evidence.history[1].subject = kBoss;
  return evidence;
}

// A server is looked at.
JobEvidence Holds(Overdue overdue) {
  JobEvidence evidence = Evidence({{1, "ps:0", Kind::kHolds}});
  evidence.history.front().overdue = std::make_shared<const Overdue>(std::move(overdue));
  return evidence;
}

// A worker that is told to stop after it has lost its session, and ends so many seconds later.
JobEvidence ToldToStop(int later, Kind before = Kind::kRecovery) {
  return Evidence({{1, kHand, Kind::kStarted},
                   {2, kHand, Kind::kSession},
                   {3, kHand, before},
                   {4, kHand, Kind::kToldToStop},
                   {4 + later, kHand, Kind::kEnded}});
}

// A task ends with CANCELLED; a worker was told to stop.
JobEvidence GivesUp(std::string_view who) {
  JobEvidence evidence = Evidence({{1, kHand, Kind::kToldToStop}, {2, who, Kind::kEnded, 0, Code::kCancelled}});
  evidence.spec.plan.timed = {
      {.kind = TimedFault::Kind::kCrash, .task = std::string(kHand), .restart_after = std::nullopt, .in_order = true}};
  evidence.facts.faults = {{std::string(InfoOf(FaultKind::kOrderlyStop).name), 1, 1, 1}};
  return evidence;
}

// A chief whose restore misses a file that a disk has lost, after it was told of a checkpoint; another one of that step
// is whole.
JobEvidence MissesAFile(std::int64_t whole) {
  JobEvidence evidence = Evidence({{1, kBoss, Kind::kSaved, 20}, {2, kBoss, Kind::kEnded, 0, Code::kNotFound}}, whole);
  evidence.spec.plan.disks = {{.effect = DiskFault::Effect::kGone, .task = std::string(kBoss)}};
  evidence.facts.faults = {{std::string(InfoOf(FaultKind::kLostFile).name), 1, 1, 1}};
  evidence.facts.checkpoints = {whole};
  return evidence;
}

// A chief ends with the error of a save that has lost a part.
JobEvidence LosesAPart(Kind before) {
  JobEvidence evidence = Evidence({{1, kBoss, before, 20}, {2, kBoss, Kind::kEnded, 0, Code::kAborted}});
  evidence.spec.plan.disks = {{.effect = DiskFault::Effect::kGone, .task = "ps:0"}};
  evidence.facts.faults = {{std::string(InfoOf(FaultKind::kLostFile).name), 1, 1, 1}};
  return evidence;
}

}  // namespace

std::vector<CheckerCase> RestoreCases() {
  return {
      {"save.writes_what_was_there", "what is written was not there for long", SavedAs(3), SavedAs(0)},
      {"save.writes_what_was_there", "what is written was never there", SavedAs(2), SavedAs(4)},
      {"restore.brings_what_was_saved", "one of two servers is left as it was", RestoredOnBoth(true),
       RestoredOnBoth(false)},
      {"restore.brings_what_was_saved", "a server that has begun meanwhile is excused", RestoredOnBoth(false, "ps:0"),
       RestoredOnBoth(false)},
      {"restore.brings_what_was_saved", "what an earlier process has restored is not this one's", DiesInARestore(),
       RestoredOnBoth(false)},
      {"restore.refuses_damage", "it works", RestoredDamaged(Code::kDataLoss), RestoredDamaged(Code::kOk)},
      {"restore.refuses_damage", "another part is restored after it", RestoresWhatIsMissingThen(10),
       RestoresWhatIsMissingThen(20)},
      {"restore.newest_reported", "a state file that has rotted excuses what it names", NamedByRotten(20, 20),
       NamedByRotten(30, 20)},
      {"restore.newest_reported", "a state file that has rotted excuses nothing else", NamedByRotten(30, 40),
       NamedByRotten(30, 20)},
      {"restore.newest_reported", "a zombie's checkpoint is nobody's mistake", BesideAZombie(30), BesideAZombie(20)},
      {"restore.newest_reported", "what is older than the zombie is not its own", BesideAZombie(30), BesideAZombie(10)},
      {"server.holds_for_sessions", "graphs of a session that is gone", Holds({.session_for = seconds(240)}),
       Holds({.session_for = seconds(241)})},
      {"server.holds_for_sessions", "steps of who is gone", Holds({.dead_for = seconds(240)}),
       Holds({.dead_for = seconds(241)})},
      {"server.holds_for_sessions", "steps that do not run", Holds({.stale_steps = 8}), Holds({.stale_steps = 9})},
      {"job.told_to_stop_ends", "it waits for a session all the same", ToldToStop(300), ToldToStop(301)},
      {"job.told_to_stop_ends", "a run is left to finish", ToldToStop(900, Kind::kRunStarted), ToldToStop(900)},
      {"job.errors_have_a_cause", "only who is told to stop gives up", GivesUp(kHand), GivesUp(kBoss)},
      {"job.errors_have_a_cause", "what a failed save has left is no checkpoint to go back to", MissesAFile(40),
       MissesAFile(20)},
      {"job.errors_have_a_cause", "who leaves does not save again what has lost a part", LosesAPart(Kind::kLeaves),
       LosesAPart(Kind::kSaved)},
  };
}

}  // namespace vigil::sim
