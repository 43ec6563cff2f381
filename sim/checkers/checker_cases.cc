#include "vigil/sim/checkers/checker_cases.h"

#include <algorithm>
#include <string>
#include <utility>

namespace vigil::sim {
namespace {

using Kind = JobMoment::Kind;

std::string_view SubjectOf(Kind kind) {
  switch (kind) {
    case Kind::kTaskLeft:
      return "cancel step";
    case Kind::kApplied:
    case Kind::kAssigned:
    case Kind::kWritten:
      return kHand;
    default:
      return "";
  }
}

}  // namespace

JobHistory Tell(std::initializer_list<Told> lines) {
  JobHistory history;
  for (const Told& line : lines) {
    history.push_back({.at = Time{std::chrono::seconds(line.second)},
                       .task = std::string(line.task),
                       .life = 1,
                       .kind = line.kind,
                       .code = line.code,
                       .step = line.step,
                       .ledger = line.ledger,
                       .subject = std::string(SubjectOf(line.kind))});
  }
  return history;
}

JobEvidence Evidence(std::initializer_list<Told> lines, std::optional<std::int64_t> newest) {
  JobEvidence evidence;
  evidence.history = Tell(lines);
  evidence.facts.newest_checkpoint = newest;
  return evidence;
}

namespace {

// The worker's count of updates after its second run; one came back with 5 before.
CheckerCase Counted(std::string_view forged, float keeps, float breaks) {
  const auto evidence = [](float count) {
    return Evidence({{1, kHand, Kind::kStarted},
                     {2, kHand, Kind::kRunStarted},
                     {3, kHand, Kind::kRunReturned, 1, Code::kOk, {5}},
                     {4, kHand, Kind::kRunStarted},
                     {5, kHand, Kind::kRunReturned, 2, Code::kOk, {count}}});
  };
  return {"updates.exactly_once", forged, evidence(keeps), evidence(breaks)};
}

// The worker's counts after one run each. An attempt of the second run fails.
JobEvidence CountedAfterFailure(std::initializer_list<float> counts) {
  JobEvidence evidence = Evidence({{1, kHand, Kind::kStarted}});
  const auto add = [&evidence](std::initializer_list<Told> lines) {
    for (JobMoment& moment : Tell(lines)) evidence.history.push_back(std::move(moment));
  };
  for (int i = 1; const float count : counts) {
    add({{i, kHand, Kind::kRunStarted}});
    if (i == 2) add({{i, kHand, Kind::kAttempt, 0, Code::kUnavailable}});
    add({{i, kHand, Kind::kRunReturned, i, Code::kOk, {count}}});
    ++i;
  }
  return evidence;
}

// The process begins anew after a run that came back with 5, or in the next one; its first run comes back with this.
JobEvidence CountedInANewLife(bool in_a_run, float count) {
  JobEvidence evidence = Evidence(
      {{1, kHand, Kind::kStarted}, {2, kHand, Kind::kRunStarted}, {3, kHand, Kind::kRunReturned, 1, Code::kOk, {5}}});
  if (in_a_run) evidence.history.push_back(Tell({{4, kHand, Kind::kRunStarted}}).front());
  for (JobMoment& moment : Tell({{5, kHand, Kind::kStarted},
                                 {6, kHand, Kind::kRunStarted},
                                 {7, kHand, Kind::kRunReturned, 2, Code::kOk, {count}}})) {
    moment.life = 2;
    evidence.history.push_back(std::move(moment));
  }
  return evidence;
}

// The model was restored with a count of 5. Within a run a server applies the worker's update so often; the worker is
// told that count.
JobEvidence Applied(int times, float told, Code before = Code::kOk) {
  JobEvidence evidence = Evidence({{1, "ps:0", Kind::kStarted},
                                   {2, "ps:0", Kind::kAssigned, 5},
                                   {3, kHand, Kind::kStarted},
                                   {4, kHand, Kind::kRunStarted}});
  const auto add = [&evidence](std::initializer_list<Told> lines) {
    for (JobMoment& moment : Tell(lines)) evidence.history.push_back(std::move(moment));
  };
  if (before != Code::kOk) add({{4, kHand, Kind::kAttempt, 0, before}, {4, kHand, Kind::kRecovery, 0, before}});
  for (int i = 0; i < times; ++i) add({{5, "ps:0", Kind::kApplied, 6 + i}});
  add({{6, kHand, Kind::kAttempt}, {7, kHand, Kind::kRunReturned, 1, Code::kOk, {told}}});
  return evidence;
}

// The server tells of two updates in this order, which overlapped: one of an attempt that fails, and one of the attempt
// that comes back.
JobEvidence AppliedInOrder(std::int64_t first, std::int64_t second) {
  JobEvidence evidence = Applied(2, 7, Code::kUnavailable);
  const auto told = std::ranges::find(evidence.history, Kind::kApplied, &JobMoment::kind);
  told->step = first;
  (told + 1)->step = second;
  (told + 1)->began_before = std::chrono::seconds(1);  // both were under way at once
  return evidence;
}

// The server has begun anew, and tells of its restore after an update: it has begun before that, or then.
JobEvidence AppliedInARestore(int seconds_before) {
  JobEvidence evidence = Applied(1, 6);
  const auto restored = std::ranges::find(evidence.history, Kind::kAssigned, &JobMoment::kind);
  JobMoment told = *restored;
  evidence.history.erase(restored);
  const auto applied = std::ranges::find(evidence.history, Kind::kApplied, &JobMoment::kind);
  told.at = applied->at;
  told.began_before = std::chrono::seconds(seconds_before);
  evidence.history.insert(applied + 1, told);
  return evidence;
}

// Two attempts fail, whose updates have these numbers; a third one comes back.
JobEvidence AppliedBy(std::int64_t first, std::int64_t second) {
  JobEvidence evidence = Applied(3, 8, Code::kUnavailable);
  std::vector<std::int64_t> attempts = {3, second, first};
  for (JobMoment& moment : evidence.history) {
    if (moment.kind != Kind::kApplied) continue;
    moment.attempt = attempts.back();
    attempts.pop_back();
  }
  const auto failed = std::ranges::find(evidence.history, Kind::kRecovery, &JobMoment::kind);
  evidence.history.insert(failed, *(failed - 1));
  return evidence;
}

// A checkpoint of step 20 was written with a count of 5; after its restore the server has this one.
JobEvidence RestoredTo(std::int64_t count) {
  JobEvidence evidence =
      Evidence({{1, "ps:0", Kind::kWritten, 5}, {2, "ps:0", Kind::kAssigned, count}, {3, kBoss, Kind::kRestored, 20}});
  evidence.history.front().checkpoint = 20;
  return evidence;
}

// The global step is initialised; the chief's run counts and reads 1 (or says that it was lost); then the worker reads
// this.
JobEvidence CountedByTwo(std::int64_t read, Code first = Code::kOk) {
  JobEvidence evidence = Evidence({{1, "ps:0", Kind::kStepSet, 0},
                                   {2, kBoss, Kind::kRunStarted},
                                   {3, kBoss, Kind::kAttempt, 0, first},
                                   {4, kHand, Kind::kRunStarted},
                                   {5, kHand, Kind::kAttempt},
                                   {6, kHand, Kind::kSawStep, read},
                                   {7, kHand, Kind::kRunReturned, read}});
  return evidence;
}

// A worker sees the step go back in its second run, between 4 and 6. A server has set it, and tells so then, after as
// many seconds; the chief hears of its restore in second 5.
JobEvidence SetBack(int told, int took) {
  JobEvidence evidence =
      Evidence({{1, kHand, Kind::kSession}, {2, kHand, Kind::kRunStarted}, {2, kHand, Kind::kSawStep, 9}});
  for (JobMoment& moment : Tell({{4, kHand, Kind::kRunStarted},
                                 {5, kBoss, Kind::kRestored, 8},
                                 {6, kHand, Kind::kSawStep, 8},
                                 {9, kHand, Kind::kEnded}})) {
    evidence.history.push_back(std::move(moment));
  }
  const auto after = std::ranges::partition_point(
      evidence.history, [&](const JobMoment& moment) { return moment.at <= Time{std::chrono::seconds(told)}; });
  JobMoment& write = *evidence.history.insert(after, Tell({{told, "ps:0", Kind::kStepSet, 8}}).front());
  write.began_before = std::chrono::seconds(took);
  return evidence;
}

CheckerCase Ending(std::string_view forged, std::string_view keeps, std::string_view breaks) {
  const auto evidence = [](std::string_view outcome) {
    JobEvidence healed;
    healed.spec.heal_after = std::chrono::seconds(60);
    healed.facts.tasks[std::string(kHand)] = {.outcome = std::string(outcome), .lives = 1};
    return healed;
  };
  return {"job.every_task_ends", forged, evidence(keeps), evidence(breaks)};
}

JobEvidence Recoveries(int seconds_apart) {
  JobEvidence evidence;
  for (int i = 0; i < 21; ++i) {
    evidence.history.push_back({.at = Time{std::chrono::seconds(i * seconds_apart)},
                                .task = std::string(kHand),
                                .life = 1,
                                .kind = Kind::kRecovery});
  }
  return evidence;
}

// Chief and worker, two gradients a step; the worker sees that step in its third run.
JobEvidence Synchronous(std::int64_t seen) {
  JobEvidence evidence = Evidence({{1, kBoss, Kind::kStarted},
                                   {1, kHand, Kind::kStarted},
                                   {2, kBoss, Kind::kInitialised},
                                   {3, kBoss, Kind::kSession},
                                   {3, kHand, Kind::kSession},
                                   {4, kBoss, Kind::kRunStarted},
                                   {4, kBoss, Kind::kSawStep, 0},
                                   {4, kBoss, Kind::kRunReturned, 0},
                                   {5, kHand, Kind::kRunStarted},
                                   {5, kHand, Kind::kSawStep, seen},
                                   {5, kHand, Kind::kRunReturned, seen}});
  evidence.spec.workload.kind = WorkloadKind::kSyncRegression;
  return evidence;
}

JobEvidence Losses(double with_faults, double without) {
  JobEvidence evidence;
  evidence.spec.workload.last_step = 100;
  evidence.facts.tasks[std::string(kBoss)] = {.outcome = "clean"};
  evidence.facts.newest_checkpoint = 100;
  evidence.facts.final_loss = with_faults;
  evidence.quiet = evidence.facts;
  evidence.quiet->final_loss = without;
  return evidence;
}

JobEvidence Kept(std::vector<std::int64_t> checkpoints) {
  JobEvidence evidence = Evidence({{1, kBoss, Kind::kSaved, 10},
                                   {2, kBoss, Kind::kSaved, 20},
                                   {3, kBoss, Kind::kSaved, 30},
                                   {4, kBoss, Kind::kSaved, 40},
                                   {5, kBoss, Kind::kSaved, 50},
                                   {6, kBoss, Kind::kSaved, 60}},
                                  60);
  evidence.facts.tasks[std::string(kBoss)] = {.outcome = "clean", .lives = 1};
  evidence.facts.checkpoints = std::move(checkpoints);
  return evidence;
}

// The same of one that was started again.
JobEvidence KeptByTwo(std::vector<std::int64_t> checkpoints) {
  JobEvidence evidence = Kept(std::move(checkpoints));
  evidence.history.insert(evidence.history.begin() + 4, evidence.history.back());
  evidence.history[4].kind = Kind::kStarted;
  evidence.facts.tasks[std::string(kBoss)].lives = 2;
  return evidence;
}

// The same of one whose sync was slow, while a worker saved in its place.
JobEvidence KeptBesideAWorker(std::vector<std::int64_t> checkpoints) {
  JobEvidence evidence = Kept(std::move(checkpoints));
  DiskFault slow{.task = std::string(kBoss)};
  slow.effect = DiskFault::Effect::kSlow;
  evidence.spec.plan.disks.push_back(slow);
  evidence.history.push_back(evidence.history.back());
  evidence.history.back().task = kHand;
  evidence.history.back().kind = Kind::kSavedInPlace;
  return evidence;
}

// The same of one whose disk refused something; it saved so often since all healed.
JobEvidence KeptThoughRefused(std::vector<std::int64_t> checkpoints, int since) {
  JobEvidence evidence = Kept(std::move(checkpoints));
  evidence.spec.plan.disks.push_back({.task = std::string(kBoss), .op = "remove"});
  const auto healed = evidence.history.end() - since;
  evidence.history.insert(healed, Tell({{3, "", Kind::kHealed}}).front());
  return evidence;
}

JobEvidence KeptWithDataOf(std::vector<std::int64_t> half_deleted) {
  JobEvidence evidence = Kept({20, 30, 40, 50, 60});
  evidence.facts.half_deleted = std::move(half_deleted);
  return evidence;
}

JobEvidence KeptWithoutDataOf(std::vector<std::int64_t> incomplete) {
  JobEvidence evidence = Kept({30, 40, 50, 60});
  evidence.facts.incomplete = std::move(incomplete);
  return evidence;
}

// The chief has died at second 10; a worker ends cleanly at second 100, at step 40.
JobEvidence LastOne(std::int64_t newest, bool clients = false) {
  JobEvidence evidence = Evidence({{1, "", Kind::kBegin},
                                   {2, kBoss, Kind::kRunReturned, 20},
                                   {3, kHand, Kind::kSession},
                                   {90, kHand, Kind::kRunReturned, 40},
                                   {100, kHand, Kind::kEnded}},
                                  newest);
  evidence.spec.workload.clients = clients;
  evidence.spec.plan.timed.push_back(
      {.kind = TimedFault::Kind::kCrash, .at = std::chrono::seconds(9), .task = std::string(kBoss)});
  return evidence;
}

JobEvidence Calm(std::int64_t recoveries) {
  JobEvidence evidence;
  evidence.facts.tasks[std::string(kBoss)] = {.outcome = "clean", .recoveries = recoveries, .lives = 1};
  return evidence;
}

JobEvidence SavedAndRestored(std::int64_t restored) {
  return Evidence({{1, kBoss, Kind::kSaved, 20},
                   {2, kBoss, Kind::kSaved, 40},
                   {3, kBoss, Kind::kStarted},
                   {4, kBoss, Kind::kRestored, restored}},
                  40);
}

// The checkpoint of step 60, the newest, has rotted.
JobEvidence SavedThreeAndRestored(std::int64_t restored) {
  JobEvidence evidence = SavedAndRestored(restored);
  evidence.history.insert(evidence.history.begin() + 2, evidence.history[1]);
  evidence.history[2].step = 60;
  evidence.facts.rotten = {60};
  return evidence;
}

std::vector<CheckerCase> CasesOfCheckpoints() {
  return {
      {"checkpoint.keep_limit", "one too many is kept", Kept({20, 30, 40, 50, 60}), Kept({10, 20, 30, 40, 50, 60})},
      {"checkpoint.keep_limit", "one too few is kept", Kept({20, 30, 40, 50, 60}), Kept({30, 40, 50, 60})},
      {"checkpoint.keep_limit", "a restart takes nothing over", KeptByTwo({5, 10, 20, 30, 40, 50, 60}),
       KeptByTwo({1, 5, 10, 20, 30, 40, 50, 60})},
      {"checkpoint.keep_limit", "a worker's save excuses two", KeptBesideAWorker({20, 30, 40, 45, 50, 60}),
       KeptBesideAWorker({10, 20, 30, 40, 45, 50, 60})},
      {"checkpoint.keep_limit", "data of a deleted one stays", KeptWithDataOf({}), KeptWithDataOf({10})},
      {"checkpoint.keep_limit", "what a disk refused to remove is forgotten",
       KeptThoughRefused({10, 20, 30, 40, 50, 60}, 1), KeptThoughRefused({10, 20, 30, 40, 50, 60}, 2)},
      {"checkpoint.index_means_whole", "a deletion that was cut off leaves the index",
       Evidence({{1, kBoss, Kind::kSaved, 20}, {2, kBoss, Kind::kFound, 20}}, 20),
       Evidence({{1, kBoss, Kind::kSaved, 20}, {2, kBoss, Kind::kFound, 20}, {2, kBoss, Kind::kFoundIncomplete, 10}},
                20)},
      {"checkpoint.index_means_whole", "the data of a checkpoint go before its index", KeptWithoutDataOf({}),
       KeptWithoutDataOf({20})},
      {"restore.newest_reported", "an older one is restored", SavedAndRestored(40), SavedAndRestored(20)},
      {"restore.newest_reported", "where the newest has rotted, the oldest is restored", SavedThreeAndRestored(40),
       SavedThreeAndRestored(20)},
  };
}

// A worker that trains, and whose run fails that begins so many seconds after everything has healed.
JobEvidence RunsFrom(int seconds, Code fails) {
  return Evidence({{1, kHand, Kind::kStarted},
                   {2, "", Kind::kHealed},
                   {3, kHand, Kind::kRunReturned, 1},
                   {2 + seconds, kHand, Kind::kRunStarted},
                   {100 + seconds, kHand, Kind::kRunFailed, 1, fails},
                   {101 + seconds, kHand, Kind::kRunReturned, 2},
                   {3000, kHand, Kind::kEnded}});
}

// A run that was under way when everything healed.
JobEvidence StandsUntil(int seconds, Kind ends) {
  return Evidence({{1, kHand, Kind::kStarted},
                   {2, kHand, Kind::kRunStarted},
                   {10, "", Kind::kHealed},
                   {seconds, kHand, ends, 1, Code::kDeadlineExceeded},
                   {seconds + 1, kHand, Kind::kRunReturned, 2},
                   {3000, kHand, Kind::kEnded}});
}

// What the worker ends with, whose disk was full.
JobEvidence FullDisk(Code end) {
  JobEvidence evidence = Evidence({{1, kHand, Kind::kEnded, 0, end}});
  evidence.spec.plan.disks = {{.effect = DiskFault::Effect::kNoSpace, .task = std::string(kHand)}};
  evidence.facts.faults = {{"no_space", 1, 1, 1}};
  return evidence;
}

// A chief that loses data after a fault of files.
JobEvidence LosesDataBy(DiskFault::Effect effect) {
  JobEvidence evidence = Evidence({{1, kBoss, Kind::kEnded, 0, Code::kDataLoss}});
  evidence.spec.plan.disks = {{.effect = effect, .task = std::string(kBoss)}};
  evidence.facts.faults = {{std::string(InfoOf(KindOf(evidence.spec.plan.disks[0])).name), 1, 1, 1}};
  return evidence;
}

// A checkpoint of step 20 is not whole when it is reported, and one has rotted.
JobEvidence TornAndRotten(std::int64_t rotten) {
  JobEvidence evidence = Evidence({{1, kBoss, Kind::kLogged, 20}, {2, kBoss, Kind::kSaved, 20, Code::kDataLoss}}, 20);
  evidence.facts.rotten = {rotten};
  return evidence;
}

// Two checkpoints were reported, and that of step 40 has rotted.
JobEvidence OneHasRotted(std::int64_t newest) {
  JobEvidence evidence = Evidence({{1, kBoss, Kind::kSaved, 20}, {2, kBoss, Kind::kSaved, 40}}, newest);
  evidence.facts.rotten = {40};
  return evidence;
}

// A life that meets this so many seconds after everything has healed, and ends with an error.
JobEvidence AfterHealing(int seconds, Kind meets) {
  return Evidence({{1, kHand, Kind::kStarted},
                   {2, "", Kind::kHealed},
                   {3, kHand, Kind::kRunReturned, 1},
                   {200, kHand, Kind::kStarted},
                   {200 + seconds / 10, kHand, Kind::kRunStarted},
                   {200 + seconds, kHand, meets, 2, Code::kDeadlineExceeded},
                   {3000, kHand, Kind::kEnded, 0, Code::kDeadlineExceeded}});
}

// Comes back to a session that is idle from so many seconds after everything has healed.
JobEvidence IdleFrom(int seconds, Code comes_to) {
  return Evidence(
      {{1, kHand, Kind::kStarted}, {2, "", Kind::kHealed}, {2 + seconds + 90, kHand, Kind::kCameBack, 90, comes_to}});
}

// Has synced 400 bytes of a file of its own, and finds so many after a power cut; that task's disk goes as a whole.
JobEvidence DiaryFound(std::int64_t found, Code code = Code::kOk, std::string_view lost = "") {
  JobEvidence evidence = Evidence({{1, kHand, Kind::kDiarySynced, 400}, {2, kHand, Kind::kDiaryFound, found, code}});
  evidence.history.back().life = 2;
  evidence.facts.tasks[std::string(kHand)] = {.lives = 2, .nodes = {std::string(kHand), std::string(kHand)}};
  if (lost.empty()) return evidence;
  evidence.spec.plan.timed.push_back(
      {.kind = TimedFault::Kind::kCrash, .task = std::string(lost), .disk = DiskLoss::kAll});
  return evidence;
}

// ... on a machine that nobody knows.
JobEvidence DiaryFoundSomewhere(std::int64_t found) {
  JobEvidence evidence = DiaryFound(found);
  evidence.facts.tasks.clear();
  return evidence;
}

// Of what a task does beside its training.
std::vector<CheckerCase> CasesBesideTheTraining() {
  return {
      {"session.idle_one_stays", "the session is not known any more", IdleFrom(181, Code::kOk),
       IdleFrom(181, Code::kAborted)},
      {"session.idle_one_stays", "what broke before excuses it", IdleFrom(179, Code::kAborted),
       IdleFrom(181, Code::kAborted)},
      {"disk.synced_bytes_survive", "some of them are gone", DiaryFound(400), DiaryFound(399)},
      {"disk.synced_bytes_survive", "it is known to be the same disk", DiaryFoundSomewhere(399), DiaryFound(399)},
      {"disk.synced_bytes_survive", "they are others", DiaryFound(500), DiaryFound(500, Code::kDataLoss)},
      {"disk.synced_bytes_survive", "the loss of another's disk excuses it", DiaryFound(0, Code::kOk, kHand),
       DiaryFound(0, Code::kOk, kBoss)},
  };
}

std::vector<CheckerCase> CasesOfUpdates() {
  return {
      Counted("an update is lost", 6, 5),
      Counted("an update is applied twice", 6, 7),
      {"updates.exactly_once", "a failed attempt counts twice", CountedAfterFailure({5, 6, 8}),
       CountedAfterFailure({5, 7, 9})},
      {"updates.exactly_once", "a failed attempt counts when the next run has long returned",
       CountedAfterFailure({5, 6, 8, 9}), CountedAfterFailure({5, 6, 7, 9})},
      {"updates.exactly_once", "an update is applied twice over a restart", CountedInANewLife(false, 6),
       CountedInANewLife(false, 7)},
      {"updates.exactly_once", "an update is lost over a restart", CountedInANewLife(false, 6),
       CountedInANewLife(false, 5)},
      {"updates.exactly_once", "the run that a restart cuts off counts twice", CountedInANewLife(true, 7),
       CountedInANewLife(true, 8)},
      {"updates.as_applied", "an update makes two of one", AppliedInOrder(7, 6), AppliedInOrder(7, 8)},
      {"updates.as_applied", "an update comes before the restore", AppliedInARestore(1), AppliedInARestore(0)},
      {"updates.as_applied", "an update is applied twice", Applied(1, 6), Applied(2, 6)},
      {"updates.as_applied", "no server has applied an update", Applied(1, 5), Applied(0, 5)},
      {"updates.as_applied", "what is read was overwritten by a restore", Applied(1, 6), Applied(1, 9)},
      {"updates.as_applied", "a failed attempt is applied twice", Applied(2, 7, Code::kUnavailable),
       Applied(3, 8, Code::kUnavailable)},
      {"updates.as_applied", "a failed attempt is applied twice, another never", AppliedBy(1, 2), AppliedBy(1, 1)},
  };
}

}  // namespace

JobJudgement JobEvidence::Judge() const {
  return CheckJob({.spec = spec,
                   .history = history,
                   .facts = facts,
                   .behaviour = Behaviour::Default(),
                   .quiet = quiet.has_value() ? &*quiet : nullptr});
}

std::vector<CheckerCase> (*const kMore[])() = {
    QueueCases,   StopCases,      EndCases,           ReachCases, AnswerCases,
    RestoreCases, CasesOfUpdates, CasesOfCheckpoints, RestCases,  CasesBesideTheTraining,
    ModelCases};

std::vector<CheckerCase> CheckerCases() {
  std::vector<CheckerCase> cases = {
      {"history.linearizable", "a read from an old copy", CountedByTwo(1), CountedByTwo(0)},
      {"history.linearizable", "a failed attempt counts twice", CountedByTwo(2, Code::kUnavailable),
       CountedByTwo(3, Code::kUnavailable)},
      {"step.goes_back_only_with_a_recovery", "the step goes back in one session",
       Evidence({{1, kHand, Kind::kSession}, {2, kHand, Kind::kSawStep, 9}, {3, kHand, Kind::kSawStep, 10}}),
       Evidence({{1, kHand, Kind::kSession}, {2, kHand, Kind::kSawStep, 9}, {3, kHand, Kind::kSawStep, 8}})},
      {"step.goes_back_only_with_a_recovery", "the server had set it before that run", SetBack(5, 0), SetBack(3, 0)},
      {"step.goes_back_only_with_a_recovery", "it sets it only after that run", SetBack(8, 2), SetBack(8, 1)},
      {"checkpoint.reported_survives", "what was reported is not there at the end",
       Evidence({{1, kBoss, Kind::kSaved, 20}}, 20), Evidence({{1, kBoss, Kind::kSaved, 20}}, 10)},
      {"checkpoint.reported_survives", "what was reported is not there at a start",
       Evidence({{1, kBoss, Kind::kSaved, 20}, {2, kBoss, Kind::kFound, 20}}, 20),
       Evidence({{1, kBoss, Kind::kSaved, 20}, {2, kBoss, Kind::kFound, -1}}, 20)},
      {"checkpoint.final_step", "the last step is not saved",
       Evidence({{1, kBoss, Kind::kRunReturned, 40}, {2, kBoss, Kind::kEnded}}, 40),
       Evidence({{1, kBoss, Kind::kRunReturned, 40}, {2, kBoss, Kind::kEnded}}, 39)},
      Ending("a task runs for ever", "killed", "running"),
      {"recovery.bounded", "no pause between recoveries", Recoveries(10), Recoveries(1)},
      {"job.no_task_left", "a step is still being cancelled at the end", Evidence({{1, kBoss, Kind::kEnded}}),
       Evidence({{1, kBoss, Kind::kTaskLeft}, {1, kBoss, Kind::kEnded}})},
      {"tokens.conserved", "a step without its gradients", Synchronous(1), Synchronous(2)},
      {"loss.as_without_faults", "the loss is worse", Losses(0.0841, 0.084), Losses(0.0883, 0.084)},
      {"loss.as_without_faults", "it is as bad without faults", Losses(0.099, 0.099), Losses(0.101, 0.101)},
      {"checkpoint.complete_when_reported", "it is torn",
       Evidence({{1, kBoss, Kind::kLogged, 20}, {2, kBoss, Kind::kSaved, 20}}, 20),
       Evidence({{1, kBoss, Kind::kLogged, 20}, {2, kBoss, Kind::kSaved, 20, Code::kDataLoss}}, 20)},
      {"checkpoint.logged", "another step is logged",
       Evidence({{1, kBoss, Kind::kLogged, 20}, {2, kBoss, Kind::kSaved, 20}}, 20),
       Evidence({{1, kBoss, Kind::kLogged, 10}, {2, kBoss, Kind::kSaved, 20}}, 20)},
      {"checkpoint.last_one_saves", "nobody saves for the chief", LastOne(40), LastOne(20)},
      {"checkpoint.last_one_saves", "nobody asks for a chief that has a server", LastOne(20, true), LastOne(20)},
      {"stop.no_run_after_it_in_a_job", "a run after it",
       Evidence({{1, kHand, Kind::kRunStarted}, {2, kHand, Kind::kStopAsked}, {3, kHand, Kind::kRunReturned, 9}}),
       Evidence({{1, kHand, Kind::kRunStarted},
                 {2, kHand, Kind::kStopAsked},
                 {3, kHand, Kind::kRunReturned, 9},
                 {4, kHand, Kind::kRunStarted}})},
      {"job.errors_have_a_cause", "no fault makes an argument invalid", FullDisk(Code::kResourceExhausted),
       FullDisk(Code::kInvalidArgument)},
      {"job.errors_have_a_cause", "a full disk makes nobody unavailable", FullDisk(Code::kResourceExhausted),
       FullDisk(Code::kUnavailable)},
      {"job.errors_have_a_cause", "a disk that fails excuses a loss of data", LosesDataBy(DiskFault::Effect::kBitRot),
       LosesDataBy(DiskFault::Effect::kIoError)},
      {"checkpoint.complete_when_reported", "one that has rotted excuses another", TornAndRotten(20),
       TornAndRotten(40)},
      {"checkpoint.reported_survives", "one that has rotted excuses the loss of an older one", OneHasRotted(20),
       OneHasRotted(10)},
      {"restore.brings_what_was_saved", "a server keeps what it had", RestoredTo(5), RestoredTo(9)},
      {"job.nothing_fails_without_a_fault", "a recovery", Calm(0), Calm(1)},
      {"job.gets_on_when_healed", "no run comes back", AfterHealing(100, Kind::kRunReturned),
       AfterHealing(100, Kind::kRunStarted)},
      {"job.gets_on_when_healed", "a run stands until its deadline", RunsFrom(300, Code::kAborted),
       RunsFrom(300, Code::kDeadlineExceeded)},
      {"job.gets_on_when_healed", "a run that was under way stands until its deadline",
       StandsUntil(300, Kind::kRunFailed), StandsUntil(320, Kind::kRunFailed)},
      {"job.gets_on_when_healed", "and is recovered from", StandsUntil(300, Kind::kRecovery),
       StandsUntil(320, Kind::kRecovery)},
  };
  for (std::vector<CheckerCase> (*const more)() : kMore) {
    for (CheckerCase& forged : more()) cases.push_back(std::move(forged));
  }
  return cases;
}

}  // namespace vigil::sim
