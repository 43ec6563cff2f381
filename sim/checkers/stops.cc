// What a request for a stop, and an error, may come to.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "vigil/core/base/code.h"
#include "vigil/sim/checkers/causes.h"
#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/reach.h"

namespace vigil::sim {
namespace {

struct Asked {
  bool for_a_stop = false;  // by a hook, in the run under way or before
  bool returned = false;    // and that run came back
};

void CheckStops(const JobRun& run, Findings& findings) {
  std::map<std::string, Asked, std::less<>> tasks;
  for (const JobMoment& moment : run.history) {
    Asked& asked = tasks[moment.task];
    switch (moment.kind) {
      case JobMoment::Kind::kReplaced:
        asked = tasks[moment.subject];
        break;
      case JobMoment::Kind::kStarted:
        asked = {};
        break;
      case JobMoment::Kind::kStopAsked:
        asked.for_a_stop = true;
        break;
      case JobMoment::Kind::kRunReturned:
        if (asked.for_a_stop && !asked.returned) findings.Arm();
        asked.returned = asked.for_a_stop;
        break;
      case JobMoment::Kind::kRunStarted:
        if (asked.returned) findings.Violate(moment, "no run after one in which a hook asked for a stop", "a run");
        asked = {};
        break;
      default:
        break;
    }
  }
}

// What no fault of a plan can bring about: somebody made a mistake. (A server that is gone and back between a replica's
// look whether the model is ready and its next run has variables that nobody has initialised: FAILED_PRECONDITION, as
// TensorFlow has it. A stop of a supervisor names the services that still run: USAGE.)
bool IsMistake(Code code, bool server_crashes, bool supervised, bool loses_files) {
  switch (code) {
    case Code::kUsage:
      return !supervised;
    case Code::kFailedPrecondition:
      return !server_crashes;
    case Code::kNotFound:
      return !loses_files;
    case Code::kInvalidArgument:
    case Code::kInternal:
      return true;
    default:
      return false;
  }
}

// Who has left, was taken away or has trained by then.
void Note(const JobMoment& moment, std::set<std::string, std::less<>>& leaving, TaskEnd& known) {
  if (Leaves(moment)) leaving.insert(moment.task);
  switch (moment.kind) {
    case JobMoment::Kind::kReplaced:
      if (leaving.contains(moment.subject)) leaving.insert(moment.task);
      break;
    case JobMoment::Kind::kHealed:
      known.healed = moment.at;
      break;
    case JobMoment::Kind::kToldToStop:
      known.told.insert(moment.task);
      break;
    case JobMoment::Kind::kStarted:
      known.gone.erase(moment.task);
      known.told.erase(moment.task);
      leaving.erase(moment.task);
      known.out_of_input.erase(moment.task);
      break;
    case JobMoment::Kind::kSaved:
    case JobMoment::Kind::kSavedInPlace:
    case JobMoment::Kind::kRestored:
      if (moment.code == Code::kOk) known.saved.insert(moment.step);
      break;
    case JobMoment::Kind::kRunReturned:
      known.have_trained.insert(moment.task);
      break;
    case JobMoment::Kind::kRunFailed:
      if (moment.code == Code::kOutOfRange) known.out_of_input.insert(moment.task);
      break;
    case JobMoment::Kind::kEnded:
      if (IsZombie(moment.task)) break;  // another one is there in its place
      known.gone.insert_or_assign(moment.task, moment.code);
      break;
    default:
      break;
  }
}

std::set<std::string, std::less<>> AwayBy(const JobRun& run, Time when) {
  std::set<std::string, std::less<>> away;
  for (const TimedFault& fault : run.spec.plan.timed) {
    if (fault.kind == TimedFault::Kind::kCrash && !fault.restart_after.has_value() && MayHaveStruckBy(run, fault, when))
      away.insert(fault.task);
  }
  return away;
}

void CheckErrors(const JobRun& run, Findings& findings) {
  const bool server_crashes = std::ranges::any_of(run.spec.plan.timed, [](const TimedFault& fault) {
    return fault.kind == TimedFault::Kind::kCrash && IsServer(fault.task);
  });
  const bool supervised = run.spec.workload.kind == WorkloadKind::kSupervisor;
  const bool loses_files = PlansForDisks(run, DiskFault::Effect::kGone);
  const JobMoment none;
  TaskEnd known{.run = run, .moment = none};
  std::set<std::string, std::less<>> leaving;
  for (const JobMoment& moment : run.history) {
    if (moment.kind == JobMoment::Kind::kEnded) {
      findings.Arm();
      const TaskEnd end{.run = run,
                        .moment = moment,
                        .healed = known.healed,
                        .leaving = leaving.contains(moment.task),
                        .gone = known.gone,
                        .away = AwayBy(run, moment.at),
                        .told = known.told,
                        .have_trained = known.have_trained,
                        .out_of_input = known.out_of_input,
                        .saved = known.saved};
      if (IsMistake(moment.code, server_crashes, supervised, loses_files)) {
        findings.Violate(moment, "an end, clean or with an error that a fault brings about",
                         std::string(CodeName(moment.code)));
      } else if (moment.code != Code::kOk && ExplanationOf(end) == nullptr) {
        findings.Violate(moment, "an end, clean or with an error that a fault which has struck explains",
                         std::string(CodeName(moment.code)));
      }
    }
    Note(moment, leaving, known);
  }
}

}  // namespace

const Checker kNoRunAfterAStop = {
    .id = "stop.no_run_after_it_in_a_job",
    .sentence =
        "After a run in which a hook asked for a stop the program makes no other run, whatever recovery that run went "
        "through.",
    .source = "SessionRunContext.request_stop: stops the iteration",
    .needs = &Behaviour::stop_survives_recovery,
    .check = CheckStops,
    .stays =
        "Where a task asks whether to stop, stop.request_makes_should_stop_true finds the same first. It finds it in "
        "tasks that do not ask.",
    .excuses = "runs of a later life of the task",
    .why = "what was asked for went with its process",
};

const Checker kErrorsHaveACause = {
    .id = "job.errors_have_a_cause",
    .sentence =
        "Each task ends cleanly, or with an error that a fault explains which has struck where it could reach the "
        "task.",
    .source = "MonitoredSession r1.4, Run: what a preemption breaks is recovered",
    .needs = &Behaviour::restore_fallback,
    .check = CheckErrors,
    .excuses = "what a fault that has struck explains by a rule of the table of causes (docs/faults.md)",
    .why = "each rule says why",
};

}  // namespace vigil::sim
