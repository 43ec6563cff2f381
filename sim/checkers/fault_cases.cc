// The forged histories of servers that are told to stop, of runs that fail when something was struck, and of what
// conversations hear.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/sim/checkers/checker_cases.h"

namespace vigil::sim {
namespace {

using Kind = JobMoment::Kind;

JobMoment& Add(JobEvidence& evidence, int second, const char* task, Kind kind) {
  return evidence.history.emplace_back(
      JobMoment{.at = Time{std::chrono::seconds(second)}, .task = task, .life = 1, .kind = kind});
}

// It is told in second 2, has stopped so many seconds later (below 0: never) and holds that; a trainer goes on.
JobEvidence Stops(int after, std::string holds = "") {
  JobEvidence evidence;
  Add(evidence, 1, "ps:0", Kind::kStarted);
  Add(evidence, 2, "ps:0", Kind::kToldToStop);
  if (after >= 0) Add(evidence, 2 + after, "ps:0", Kind::kHasStopped).subject = std::move(holds);
  Add(evidence, 60, "worker:0", Kind::kRunStarted);
  return evidence;
}

JobEvidence IsFollowed(JobEvidence evidence) {
  Add(evidence, 61, "ps:0", Kind::kStarted).life = 2;
  return evidence;
}

JobEvidence Struck(JobEvidence evidence, TimedFault fault) {
  fault.task = "ps:0";
  evidence.spec.plan.timed.push_back(std::move(fault));
  return evidence;
}

// That happens in second 10 of the plan and lasts 5 s; a run of worker:1 fails so many seconds after the plan's begin,
// and had begun 5 s before.
JobEvidence FailsAfter(int seconds, TimedFault fault, Code code = Code::kAborted) {
  JobEvidence evidence;
  evidence.spec.workload.filters = true;
  fault.at = std::chrono::seconds(10);
  if (fault.kind == TimedFault::Kind::kCrash) fault.restart_after = std::chrono::seconds(5);
  if (fault.kind == TimedFault::Kind::kCut) fault.lasts = std::chrono::seconds(5);
  evidence.spec.plan.timed.push_back(std::move(fault));
  Add(evidence, 100, "", Kind::kBegin);
  Add(evidence, 100 + seconds - 5, "worker:1", Kind::kRunStarted);
  Add(evidence, 100 + seconds, "worker:1", Kind::kAttempt).code = code;
  return evidence;
}

TimedFault CrashOf(const char* task) { return {.kind = TimedFault::Kind::kCrash, .task = task}; }
TimedFault CutOf(const char* task, const char* peer) {
  return {.kind = TimedFault::Kind::kCut, .task = task, .peer = peer};
}

// A worker ends so many seconds after the plan's begin, with an error.
JobEvidence EndsBy(int seconds, std::vector<TimedFault> faults, Code code) {
  JobEvidence evidence;
  for (TimedFault& fault : faults) {
    evidence.facts.faults.push_back({std::string(InfoOf(KindsOf(fault)[0]).name), 1, 1, 1});
    evidence.spec.plan.timed.push_back(std::move(fault));
  }
  Add(evidence, 100, "", Kind::kBegin);
  Add(evidence, 100 + seconds, "worker:0", Kind::kEnded).code = code;
  return evidence;
}

// A worker of a supervisor, where a server stands still from second 10 on.
JobEvidence LosesItsServer(int seconds) {
  JobEvidence evidence =
      EndsBy(seconds, {{.kind = TimedFault::Kind::kPause, .at = std::chrono::seconds(10), .task = "ps:0"}},
             Code::kUnavailable);
  evidence.spec.workload.kind = WorkloadKind::kSupervisor;
  return evidence;
}

// Another worker stays away from second 10 on, a server from second 50 on.
JobEvidence GivesUpAfter(int seconds) {
  return EndsBy(seconds,
                {{.kind = TimedFault::Kind::kCrash, .at = std::chrono::seconds(10), .task = "worker:1"},
                 {.kind = TimedFault::Kind::kCrash, .at = std::chrono::seconds(50), .task = "ps:0"}},
                Code::kDeadlineExceeded);
}

// A disk that is bad from second 10 on.
JobEvidence CannotWrite(int seconds) {
  JobEvidence evidence = EndsBy(seconds, {}, Code::kUnknown);
  evidence.spec.plan.disks = {{.task = "worker:0", .at = std::chrono::seconds(10), .lasts = std::chrono::seconds(5)}};
  evidence.facts.faults = {{"bad_disk", 1, 1, 1}};
  return evidence;
}

JobEvidence Besides(JobEvidence evidence, RpcFault fault) {
  evidence.spec.plan.rpcs.push_back(std::move(fault));
  return evidence;
}

// What a conversation hears in second 1,000, of a session that was made, and variables that were initialised, so many
// seconds before. A server has begun in second 1, and everything has healed in second 100.
struct Hears {
  Code code = Code::kOk;
  int session_for = 500;
  int initialised_for = 500;
  int took = 1;
  std::string wrong = {};
};
JobEvidence ThatHears(const Hears& hears) {
  JobEvidence evidence;
  evidence.spec.workload.kind = WorkloadKind::kConversation;
  evidence.facts.faults = {{.kind = "crash_restart", .planned = 1, .fired = 1, .effective = 1}};
  Add(evidence, 1, "ps:0", Kind::kServing);
  Add(evidence, 100, "", Kind::kHealed);
  JobMoment& heard = Add(evidence, 1000, "worker:0", Kind::kAnswered);
  heard.code = hears.code;
  heard.answer = std::make_shared<Answer>(Answer{.took = std::chrono::seconds(hears.took),
                                                 .session_for = std::chrono::seconds(hears.session_for),
                                                 .initialised_for = std::chrono::seconds(hears.initialised_for),
                                                 .wrong = hears.wrong});
  return evidence;
}
JobEvidence OfAnOldSession(Code code, int initialised_for = 500) {
  return ThatHears({.code = code, .session_for = 990, .initialised_for = initialised_for});
}
JobEvidence InACalmJob(JobEvidence evidence) {
  evidence.facts.faults.clear();
  return evidence;
}
JobEvidence WhereOneStaysAway(JobEvidence evidence, std::int64_t fired) {
  evidence.facts.faults.push_back({.kind = "crash_for_good", .planned = 1, .fired = fired});
  return evidence;
}
JobEvidence WithATimeout(JobEvidence evidence) {
  evidence.spec.workload.timeout_ms = 1000;
  return evidence;
}

// A worker of a job of 60 steps: so far the job has come when its last run has.
JobEvidence EndsAfter(std::int64_t step) {
  JobEvidence evidence = Evidence({{1, kHand, Kind::kStarted},
                                   {2, kHand, Kind::kRunStarted},
                                   {2, "ps:0", Kind::kStepMade, step},
                                   {3, kHand, Kind::kRunReturned, 2},
                                   {4, kHand, Kind::kEnded}});
  evidence.spec.workload.last_step = 60;
  return evidence;
}

JobEvidence AsTheWorkersLast(JobEvidence evidence, std::int64_t last_step) {
  evidence.spec.workload.last_steps[std::string(kHand)] = last_step;
  return evidence;
}

// The same, but the job has lost its steps, and the worker's run, or its new session, has begun since then.
JobEvidence LosesIts(JobEvidence evidence, Kind then) {
  JobMoment lost = evidence.history[2];
  lost.kind = Kind::kStepSet;
  lost.step = 1;
  JobMoment begins = evidence.history[1];
  begins.kind = then;
  evidence.history.insert(evidence.history.end() - 1, {lost, begins});
  return evidence;
}

// A hook asks for a stop where the job has come so far, and what the job has is lost in that run.
JobEvidence AsksAndRecovers(std::int64_t step) {
  JobEvidence evidence = LosesIts(EndsAfter(step), Kind::kRecovery);
  JobMoment asked = evidence.history[1];
  asked.kind = Kind::kStopAsked;
  evidence.history.insert(evidence.history.begin() + 3, asked);
  return evidence;
}

JobEvidence AsAnEvaluator(JobEvidence evidence, std::int64_t step) {
  for (JobMoment& moment : evidence.history) {
    if (moment.task == kHand) moment.task = "evaluator:0";
    if (moment.kind != Kind::kRunReturned) continue;
    moment.kind = Kind::kEvaluated;
    moment.step = step;
  }
  return evidence;
}

// It ends too early in its second life, and was told to in that one (1), or in the first.
JobEvidence ToldIn(std::size_t life) {
  JobEvidence evidence = EndsAfter(9);
  JobMoment told = evidence.history[0];
  told.kind = Kind::kToldToStop;
  evidence.history.insert(evidence.history.begin() + 1, evidence.history.front());
  evidence.history.insert(evidence.history.begin() + (life == 0 ? 1 : 2), told);
  return evidence;
}

// Its last run failed so.
JobEvidence OfInput(Code code) {
  JobEvidence evidence = EndsAfter(9);
  evidence.spec.workload.kind = WorkloadKind::kInputPipeline;
  JobMoment failed = evidence.history.back();
  failed.kind = Kind::kRunFailed;
  failed.code = code;
  evidence.history.insert(evidence.history.end() - 1, failed);
  return evidence;
}

// A job without an input, where the plan says so of that task.
JobEvidence RunsOut(std::string_view task) {
  JobEvidence evidence = OfInput(Code::kOutOfRange);
  evidence.spec.workload.kind = WorkloadKind::kAsyncRegression;
  evidence.spec.plan.session_calls.push_back({.task = std::string(task), .code = Code::kOutOfRange});
  return evidence;
}

// It finds no more tokens, after that of the chief.
JobEvidence OfTokens(Kind of_the_chief) {
  JobEvidence evidence = OfInput(Code::kOutOfRange);
  evidence.spec.workload.kind = WorkloadKind::kSyncRegression;
  JobMoment chief = evidence.history.back();
  chief.task = kBoss;
  chief.kind = of_the_chief;
  evidence.history.insert(evidence.history.begin() + 1, chief);
  return evidence;
}

// The chief leaves and is back: a worker finds no more tokens in a run that began then, or while it was away.
JobEvidence OfTokensAgain(bool new_session) {
  JobEvidence evidence = OfTokens(Kind::kLeaves);
  JobMoment chief = evidence.history[1];
  chief.kind = new_session ? Kind::kSession : Kind::kOpened;
  evidence.history.insert(evidence.history.begin() + 2, chief);
  return evidence;
}

// A session begins where the job has come so far: what it has is lost before the first run.
JobEvidence FindsItsEnd(std::int64_t step) {
  JobEvidence evidence = LosesIts(EndsAfter(step), Kind::kRecovery);
  JobMoment begins = evidence.history[0];
  begins.kind = Kind::kSession;
  evidence.history.insert(evidence.history.begin() + 3, begins);
  return evidence;
}

// One under a supervisor, where a call of a service is to run out, and has, or not.
JobEvidence OfAService(bool has) {
  JobEvidence evidence = RunsOut(kHand);
  evidence.spec.workload.kind = WorkloadKind::kSupervisor;
  std::erase_if(evidence.history, [](const JobMoment& each) { return each.kind == Kind::kRunFailed; });
  if (!has) evidence.facts.inert.push_back({.list = InertFault::List::kSessionCalls, .index = 0});
  return evidence;
}

// A run and a new session which had begun when everything healed: this one takes so long from then on.
JobEvidence Takes(int seconds, Kind late) {
  const bool is_run = late == Kind::kRunReturned;
  JobEvidence evidence = Evidence({{1, kHand, Kind::kStarted},
                                   {2, kHand, is_run ? Kind::kRunStarted : Kind::kRecovery},
                                   {10, "", Kind::kHealed},
                                   {10 + seconds, kHand, late, 1},
                                   {3000, kHand, Kind::kEnded}});
  // ... and the pauses of a task that is so slow.
  evidence.spec.workload.step = std::chrono::seconds(1);
  evidence.spec.plan.timed = {{.kind = TimedFault::Kind::kSlowNode, .task = std::string(kBoss), .rate = 3}};
  return evidence;
}

// Another worker has left before everything healed; this one's run takes long from then on. Without filters it needs
// the other one.
JobEvidence TakesWithoutAnother(bool filters, Kind of_the_other) {
  JobEvidence evidence = Takes(400, Kind::kRunReturned);
  evidence.spec.workload.filters = filters;
  for (const JobMoment& moment :
       Tell({{1, "worker:1", Kind::kStarted}, {5, "worker:1", Kind::kEnded}, {6, "worker:1", of_the_other}})) {
    evidence.history.insert(evidence.history.end() - 3, moment);
  }
  return evidence;
}

}  // namespace

std::vector<CheckerCase> AnswerCases() {
  constexpr std::string_view kId = "session.answers_as_alone";
  return {{kId, "the answer is wrong", ThatHears({}), ThatHears({.wrong = "[1], where one process answers [2]"})},
          {kId, "a code that no fault gives", OfAnOldSession(Code::kAborted), OfAnOldSession(Code::kInternal)},
          {kId, "a timeout that nobody has set", WithATimeout(OfAnOldSession(Code::kDeadlineExceeded)),
           OfAnOldSession(Code::kDeadlineExceeded)},
          {kId, "nobody has lost what was initialised", OfAnOldSession(Code::kFailedPrecondition, 999),
           OfAnOldSession(Code::kFailedPrecondition, 998)},
          {kId, "no fault has struck", InACalmJob(ThatHears({})), InACalmJob(OfAnOldSession(Code::kUnavailable))},
          {kId, "all had healed long before", ThatHears({.code = Code::kUnavailable, .session_for = 721}),
           ThatHears({.code = Code::kUnavailable, .session_for = 720})},
          {kId, "and the answer takes long", ThatHears({.took = 60}), ThatHears({.took = 61})},
          {kId, "who is said to stay away has not gone", WhereOneStaysAway(ThatHears({.code = Code::kUnavailable}), 1),
           WhereOneStaysAway(ThatHears({.code = Code::kUnavailable}), 0)}};
}

std::vector<CheckerCase> EndCases() {
  constexpr std::string_view kId = "job.ends_at_its_last_step";
  constexpr std::string_view kSlow = "job.gets_on_when_healed";
  constexpr Kind kRun = Kind::kRunReturned;
  constexpr Kind kSession = Kind::kSession;
  return {
      {kId, "it has not come so far", EndsAfter(60), EndsAfter(59)},
      {kId, "another task has come so far", AsTheWorkersLast(EndsAfter(40), 40), AsTheWorkersLast(EndsAfter(40), 41)},
      {kId, "what the job had is lost, and it runs again", LosesIts(EndsAfter(60), Kind::kSawStep),
       LosesIts(EndsAfter(60), Kind::kRunStarted)},
      {kId, "... or makes a session again", LosesIts(EndsAfter(60), Kind::kSawStep),
       LosesIts(EndsAfter(60), Kind::kRecovery)},
      {kId, "... or is another process", LosesIts(EndsAfter(60), Kind::kSawStep),
       LosesIts(EndsAfter(60), Kind::kStarted)},
      {kId, "the job has come so far, its evaluator has not", AsAnEvaluator(EndsAfter(60), 60),
       AsAnEvaluator(EndsAfter(60), 59)},
      {kId, "nobody had asked for a stop before the recovery", AsksAndRecovers(60), AsksAndRecovers(59)},
      {kId, "it was told to stop in the life before", ToldIn(1), ToldIn(0)},
      {kId, "there is more input", OfInput(Code::kOutOfRange), OfInput(Code::kAborted)},
      {kId, "the plan lets somebody else run out", RunsOut(kHand), RunsOut(kBoss)},
      {kId, "a call that never came to it", OfAService(true), OfAService(false)},
      {kId, "the chief has not left", OfTokens(Kind::kLeaves), OfTokens(Kind::kRecovery)},
      {kId, "the chief's new session has opened the tokens again", OfTokensAgain(false), OfTokensAgain(true)},
      {kId, "a session began before its end", FindsItsEnd(60), FindsItsEnd(59)},
      {kSlow, "one that nobody needs has left", TakesWithoutAnother(false, Kind::kEnded),
       TakesWithoutAnother(true, Kind::kEnded)},
      {kSlow, "one that is needed had left, and is back", TakesWithoutAnother(false, Kind::kEnded),
       TakesWithoutAnother(false, Kind::kStarted)},
      {kSlow, "a run comes back, but late", Takes(303, kRun), Takes(304, kRun)},
      {kSlow, "a session comes, but late", Takes(303, kSession), Takes(304, kSession)}};
}

std::vector<CheckerCase> ReachCases() {
  constexpr std::string_view kCause = "job.errors_have_a_cause";
  constexpr std::string_view kId = "job.failures_are_in_reach";
  return {{kId, "another worker was struck", FailsAfter(12, CrashOf("ps:0")), FailsAfter(12, CrashOf("worker:0"))},
          {kId, "a link of others was cut", FailsAfter(12, CutOf("worker:1", "ps:0")),
           FailsAfter(12, CutOf("worker:0", "ps:0"))},
          {kId, "it fails before the fault", FailsAfter(10, CrashOf("ps:0")), FailsAfter(9, CrashOf("ps:0"))},
          {kId, "it fails long after the fault", FailsAfter(15 + 120 + 5, CrashOf("ps:0")),
           FailsAfter(15 + 120 + 6, CrashOf("ps:0"))},
          {kId, "the end of an input is no failure", FailsAfter(12, CrashOf("worker:0"), Code::kOutOfRange),
           FailsAfter(12, CrashOf("worker:0"), Code::kUnavailable)},
          {kId, "only requests of its own, or of servers, count",
           Besides(FailsAfter(12, CrashOf("worker:0")), {.from = "worker:1"}),
           Besides(FailsAfter(12, CrashOf("worker:0")), {.from = "worker:0"})},
          {kCause, "it ends before what breaks its session", LosesItsServer(10), LosesItsServer(9)},
          {kCause, "it ends before the server goes that stays away", GivesUpAfter(50), GivesUpAfter(49)},
          {kCause, "it ends before its disk is bad", CannotWrite(10), CannotWrite(9)}};
}

std::vector<CheckerCase> StopCases() {
  constexpr std::string_view kId = "server.stop_ends";
  const TimedFault crash{.kind = TimedFault::Kind::kCrash};
  const TimedFault orderly{.kind = TimedFault::Kind::kCrash, .in_order = true};
  const TimedFault pause{.kind = TimedFault::Kind::kPause};
  return {{kId, "it takes too long", Stops(30), Stops(31)},
          {kId, "it never ends", Stops(1), Stops(-1)},
          {kId, "a step is left", Stops(1), Stops(1, "1 steps")},
          {kId, "it is followed before it has stopped", IsFollowed(Stops(1)), IsFollowed(Stops(-1))},
          {kId, "only another crash may end it", Struck(IsFollowed(Stops(-1)), crash),
           Struck(IsFollowed(Stops(-1)), orderly)},
          {kId, "a pause excuses that it takes time, not what it keeps", Struck(Stops(31), pause),
           Struck(Stops(31, "1 steps"), pause)}};
}

}  // namespace vigil::sim
