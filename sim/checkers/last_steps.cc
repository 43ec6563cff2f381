// A training that ends cleanly has come to its end: the other half of "every task ends".
//
// Whoever trains counts the steps of all; so the end is not a number of its own runs, nor what its last run came back
// with, which others may have passed meanwhile: the job had that step at some moment since the task has begun its last
// run, or has asked for a session with which it found nothing left to run.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/reach.h"

namespace vigil::sim {
namespace {

using Kind = JobMoment::Kind;

struct LastStep {
  bool told = false;            // to stop
  bool ran_out = false;         // its last run failed with OUT_OF_RANGE, which ends a training, and had a reason to
  bool asked = false;           // a stop was asked for there, by a hook or as a session began, which a recovery keeps
  std::int64_t there = -1;      // the greatest step of the job since its last run, or its wait for a session, began
  std::int64_t evaluated = -1;  // of an evaluator: the step of its last look
  bool tokens_closed = false;   // the chief has left, when its last run began or since
};

// The plan has let a call of its sessions fail with OUT_OF_RANGE, which ends any training.
bool RanOutByPlan(const JobRun& run, std::string_view task) {
  return AnyStruck(
      run, InertFault::List::kSessionCalls, run.spec.plan.session_calls, [task](const SessionCallFault& fault) {
        return fault.code == Code::kOutOfRange && (fault.task.empty() || fault.task == WithoutZombie(task));
      });
}

// Its input is over, and queues.in_order_once judges whether it is; or the tokens are, whose queue is closed where
// the chief leaves a synchronous training; or the plan says so.
bool MayRunOut(const JobRun& run, std::string_view task, bool tokens_closed) {
  const WorkloadKind kind = run.spec.workload.kind;
  return kind == WorkloadKind::kInputPipeline || (kind == WorkloadKind::kSyncRegression && tokens_closed) ||
         RanOutByPlan(run, task);
}

// The chief's next session opens the tokens' queue again.
bool OpensTokens(const JobRun& run, const JobMoment& moment) {
  return moment.kind == Kind::kSession && moment.task.starts_with("chief") && run.behaviour.sync_tokens_renewed;
}

// Only one that is renewed outlives a recovery of the chief.
bool ClosesTokens(const JobRun& run, const JobMoment& moment) {
  if (!WithoutZombie(moment.task).starts_with("chief")) return false;
  if (moment.kind == Kind::kRecovery) return !run.behaviour.sync_tokens_renewed;
  return moment.kind == Kind::kEnded || Leaves(moment);
}

void Judge(const JobRun& run, const JobMoment& moment, const LastStep& life, Findings& findings) {
  if (moment.code != Code::kOk || life.told || IsServer(moment.task)) return;
  if (run.spec.workload.nan_batch > 0 && WithoutZombie(moment.task) == "chief:0") return;  // it watches for that
  findings.Arm();
  if (life.ran_out) return;
  // Also by a service beside the training, whose failures nobody notes.
  if (run.spec.workload.kind == WorkloadKind::kSupervisor && RanOutByPlan(run, moment.task)) return;
  const std::int64_t last = LastStepOf(run.spec.workload, WithoutZombie(moment.task));
  const bool evaluates = WithoutZombie(moment.task).starts_with(kEvaluatorJob);
  const std::int64_t seen = evaluates ? life.evaluated : life.there;
  const bool by_input = run.spec.workload.kind == WorkloadKind::kInputPipeline;
  if (!by_input && seen >= last) return;
  findings.Violate(moment,
                   by_input ? "a clean end when the input has ended" : fmt::format("a clean end at step {}", last),
                   fmt::format("step {}{}", seen, by_input ? ", and no run that found the input over" : ""));
}

void CheckLastSteps(const JobRun& run, Findings& findings) {
  if (run.spec.workload.kind == WorkloadKind::kConversation) return;
  std::map<std::string, LastStep, std::less<>> lives;
  std::int64_t step = -1;  // of the job, now
  bool tokens_closed = false;
  for (const JobMoment& moment : run.history) {
    LastStep& life = lives[moment.task];
    if (OpensTokens(run, moment)) tokens_closed = false;
    if (ClosesTokens(run, moment)) {
      tokens_closed = true;
      for (auto& [task, each] : lives) each.tokens_closed = true;
    }
    switch (moment.kind) {
      case Kind::kReplaced:
        life = lives[moment.subject];
        break;
      case Kind::kStepMade:
      case Kind::kStepSet:
        // Two updates of a real server may be noted in another order than they were made.
        step = moment.kind == Kind::kStepMade ? std::max(step, moment.step) : moment.step;
        for (auto& [task, each] : lives) each.there = std::max(each.there, step);
        break;
      case Kind::kStarted:
        life = {.there = step, .tokens_closed = tokens_closed};
        break;
      case Kind::kRecovery:
        if (!life.asked) life.there = step;
        break;
      case Kind::kSession:
        life.asked = life.asked || life.there >= LastStepOf(run.spec.workload, WithoutZombie(moment.task));
        break;
      case Kind::kRunStarted:
        life.there = step;
        life.tokens_closed = tokens_closed;
        life.ran_out = life.asked = false;
        break;
      case Kind::kStopAsked:
        life.asked = life.there >= LastStepOf(run.spec.workload, WithoutZombie(moment.task));
        break;
      case Kind::kToldToStop:
        life.told = true;
        break;
      case Kind::kRunFailed:
        life.ran_out = moment.code == Code::kOutOfRange && MayRunOut(run, moment.task, life.tokens_closed);
        break;
      case Kind::kEvaluated:
        life.evaluated = moment.step;
        break;
      case Kind::kEnded:
        Judge(run, moment, life, findings);
        break;
      default:
        break;
    }
  }
}

}  // namespace

const Checker kEndsAtItsLastStep = {
    .id = "job.ends_at_its_last_step",
    .sentence =
        "A task that ends cleanly has trained to its end: the job had its last step while its last run ran, or once it "
        "had a session; or the input ended.",
    .source =
        "StopAtStepHook; MonitoredSession: OUT_OF_RANGE ends a training; Supervisor::ShouldStop: a session that "
        "begins anew has not stopped",
    .needs = &Behaviour::clean_end_from_run_only,
    .check = CheckLastSteps,
    .excuses =
        "lives that were told to stop; calls that the plan lets fail with OUT_OF_RANGE, and in a synchronous "
        "training those of who finds the tokens' queue closed once the chief has left; the chief of a job whose loss "
        "becomes NaN; conversations",
    .why =
        "who is told to stop ends where it stands; OUT_OF_RANGE ends any training, and a NaN that of who watches for "
        "it; a conversation has no step",
};

}  // namespace vigil::sim
