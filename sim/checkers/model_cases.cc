// The forged histories of what looks at the models that chiefs go on with.
#include <string>
#include <utility>
#include <vector>

#include "vigil/sim/checkers/checker_cases.h"

namespace vigil::sim {
namespace {

using Kind = JobMoment::Kind;

// A chief whose init_fn has begun; then this, and the chief has a session.
JobEvidence GoesOnAfter(std::initializer_list<Told> lines) {
  JobEvidence evidence = Evidence({{1, kBoss, Kind::kInitialised}, {2, kBoss, Kind::kInitFnBegan}});
  evidence.spec.workload.init_fn = true;
  for (JobMoment& moment : Tell(lines)) evidence.history.push_back(std::move(moment));
  evidence.history.push_back(Tell({{9, kBoss, Kind::kSession}}).front());
  return evidence;
}

JobEvidence IsCutOff() { return GoesOnAfter({{3, kBoss, Kind::kStarted}}); }

// ... where a disk refuses that task the file that would say so.
JobEvidence IsRefused(std::string_view whom) {
  JobEvidence evidence = IsCutOff();
  evidence.spec.plan.disks = {{.effect = DiskFault::Effect::kNoSpace, .task = std::string(whom), .op = "append"}};
  return evidence;
}

// A chief that was taken for dead goes on, of that task.
JobEvidence IsFollowed(bool followed) {
  JobEvidence evidence = IsCutOff();
  if (!followed) return evidence;
  evidence.history.insert(evidence.history.begin() + 2, Tell({{2, ZombieOf(kBoss), Kind::kReplaced}}).front());
  evidence.history[2].subject = kBoss;
  return evidence;
}

// The chief dies in its init_fn, after a run of a worker or before; or its init_fn comes to its end, and it dies then.
// The worker saves the model for it.
JobEvidence SavesForIt(bool half_made, int run_returns = 20) {
  JobEvidence evidence = Evidence({{9, kBoss, Kind::kInitialised}});
  const JobHistory run = Tell({{run_returns, kHand, Kind::kRunReturned, 30}});
  if (run_returns < 10) evidence.history.push_back(run.front());
  evidence.history.push_back(Tell({{10, kBoss, Kind::kInitFnBegan}}).front());
  if (!half_made) evidence.history.push_back(Tell({{11, kBoss, Kind::kInitFnEnded}}).front());
  if (run_returns >= 10) evidence.history.push_back(run.front());
  for (JobMoment& moment : Tell({{30, kHand, Kind::kSavedInPlace, 30}, {31, kHand, Kind::kEnded}}))
    evidence.history.push_back(std::move(moment));
  return evidence;
}

// A worker ends long after the chief has died for good, and does not save its last step. The chief's init_fn had come
// to its end, and the chief had a session or had not.
JobEvidence LeavesUnsaved(bool has_session) {
  JobEvidence evidence =
      Evidence({{1, "", Kind::kBegin}, {2, kBoss, Kind::kInitFnBegan}, {3, kBoss, Kind::kInitFnEnded}}, 20);
  if (has_session) evidence.history.push_back(Tell({{4, kBoss, Kind::kSession}}).front());
  for (JobMoment& moment :
       Tell({{5, kHand, Kind::kSession}, {90, kHand, Kind::kRunReturned, 40}, {100, kHand, Kind::kEnded}}))
    evidence.history.push_back(std::move(moment));
  evidence.spec.plan.timed.push_back(
      {.kind = TimedFault::Kind::kCrash, .at = std::chrono::seconds(9), .task = std::string(kBoss)});
  return evidence;
}

// The chief sees a NaN at second 10, and this happens; a worker whose last run comes back at that second saves.
JobEvidence SavesAfter(int run_returns, std::initializer_list<Told> lines = {}) {
  JobEvidence evidence;
  const bool before = run_returns < 10;
  const JobHistory run = Tell({{run_returns, kHand, Kind::kRunReturned, 30}});
  if (before) evidence.history.push_back(run.front());
  evidence.history.push_back(Tell({{10, kBoss, Kind::kDiverged}}).front());
  for (JobMoment& moment : Tell(lines)) evidence.history.push_back(std::move(moment));
  if (!before) evidence.history.push_back(run.front());
  for (JobMoment& moment : Tell({{30, kHand, Kind::kSavedInPlace, 30}, {31, kHand, Kind::kEnded}}))
    evidence.history.push_back(std::move(moment));
  return evidence;
}

// The next life of a chief that has seen a NaN restores a checkpoint, or something else happens, and it has a session.
JobEvidence TrainsOnAfter(Kind kind, Code code = Code::kOk) {
  return Evidence({{10, kBoss, Kind::kDiverged},
                   {11, kBoss, Kind::kStarted},
                   {12, kBoss, kind, 20, code},
                   {13, kBoss, Kind::kSession}});
}

// A chief that ends cleanly at step 7 of 9, since its loss is NaN or not, and has saved the model of step 5.
JobEvidence EndsEarly(bool diverges) {
  JobEvidence evidence = Evidence({{1, kBoss, Kind::kSession},
                                   {2, kBoss, Kind::kRunReturned, 7},
                                   {3, "ps:0", Kind::kStepMade, 7},
                                   {4, kBoss, Kind::kEnded}},
                                  5);
  evidence.spec.workload.last_step = 9;
  evidence.spec.workload.nan_batch = diverges ? 2 : 0;
  return evidence;
}

// A worker sees these steps in one session; before the last the chief initialises the model, at that second.
JobEvidence MadeAnewAt(int second, bool has_init_fn) {
  JobEvidence evidence = Evidence({{10, kHand, Kind::kSession},
                                   {20, kHand, Kind::kRunStarted},
                                   {21, kHand, Kind::kSawStep, 9},
                                   {second, kBoss, Kind::kInitialised},
                                   {30, kHand, Kind::kRunStarted},
                                   {31, kHand, Kind::kSawStep, 0},
                                   {40, kHand, Kind::kRunStarted},
                                   {41, kHand, Kind::kSawStep, 1}});
  evidence.spec.workload.init_fn = has_init_fn;
  return evidence;
}

}  // namespace

std::vector<CheckerCase> ModelCases() {
  return {
      {"model.init_fn_ran_whole", "the next life of the chief goes on with half a model",
       GoesOnAfter({{3, kBoss, Kind::kStarted}, {4, kBoss, Kind::kInitFnBegan}, {5, kBoss, Kind::kInitFnEnded}}),
       IsCutOff()},
      {"model.init_fn_ran_whole", "an init_fn that fails counts as run", GoesOnAfter({{3, kBoss, Kind::kInitFnEnded}}),
       GoesOnAfter({{3, kBoss, Kind::kInitFnEnded, 0, Code::kAborted}})},
      {"model.init_fn_ran_whole", "a restore that fails makes no model", GoesOnAfter({{3, kBoss, Kind::kRestored, 20}}),
       GoesOnAfter({{3, kBoss, Kind::kRestored, 20, Code::kDataLoss}})},
      {"model.init_fn_ran_whole", "what somebody else has restored is not this model",
       GoesOnAfter({{3, kBoss, Kind::kRestored, 20}}), GoesOnAfter({{3, "evaluator:0", Kind::kRestored, 20}})},
      {"model.init_fn_ran_whole", "the disk of a worker excuses it", IsRefused(kBoss), IsRefused(kHand)},
      {"model.init_fn_ran_whole", "nobody follows the chief", IsFollowed(true), IsFollowed(false)},
      {"model.init_fn_ran_whole", "a worker saves half a model", SavesForIt(false), SavesForIt(true)},
      {"model.init_fn_ran_whole", "who has run before knows nothing of it", SavesForIt(true, 5), SavesForIt(true)},
      {"checkpoint.last_one_saves", "a chief that had a session had a whole model", LeavesUnsaved(false),
       LeavesUnsaved(true)},
      {"model.diverged_is_not_saved", "a worker that ends later saves it", SavesAfter(9), SavesAfter(11)},
      {"model.diverged_is_not_saved", "what comes after a restore has diverged, too",
       SavesAfter(20, {{15, kBoss, Kind::kRestored, 20}}), SavesAfter(20)},
      {"model.diverged_is_not_saved", "a restore that fails makes nothing good",
       SavesAfter(20, {{15, kBoss, Kind::kRestored, 20}}),
       SavesAfter(20, {{15, kBoss, Kind::kRestored, 20, Code::kDataLoss}})},
      {"model.diverged_is_not_saved", "the next life of the chief goes on with it", TrainsOnAfter(Kind::kRestored),
       TrainsOnAfter(Kind::kOpened)},
      {"model.diverged_is_not_saved", "an initialisation that fails makes nothing good",
       TrainsOnAfter(Kind::kInitialised), TrainsOnAfter(Kind::kInitialised, Code::kAborted)},
      {"job.ends_at_its_last_step", "no NaN excuses it", EndsEarly(true), EndsEarly(false)},
      {"checkpoint.final_step", "no NaN excuses it", EndsEarly(true), EndsEarly(false)},
      {"step.goes_back_only_with_a_recovery", "without an init_fn no live model is made anew", MadeAnewAt(25, true),
       MadeAnewAt(25, false)},
      {"step.goes_back_only_with_a_recovery", "it was made anew before", MadeAnewAt(20, true), MadeAnewAt(19, true)},
  };
}

}  // namespace vigil::sim
