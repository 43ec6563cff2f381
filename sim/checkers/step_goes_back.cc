// One run may see the step go back: one that a restore overtook. A parameter server was lost (so the model is restored)
// after it had done its part of the run, while the rest of the run still waited on another one, in synchronous training
// for a token. The session of such a run is lost with the server: the next run has a new one.
//
// A model may be made anew while servers and sessions live: if its init_fn was cut off, or it has diverged. Whoever
// trains on it meanwhile sees the step go back, and no session breaks.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "vigil/sim/checkers/checker.h"

namespace vigil::sim {
namespace {

// The chief hears of the end of a restore after others have seen what it does.
constexpr std::chrono::minutes kHeardAfter{1};

struct Steps {
  std::optional<std::int64_t> last;  // none: a new session
  Time started;                      // of the run under way
  Time last_started;                 // of the one that saw `last`
  bool overtaken = false;            // the last run was
};

bool RestoredIn(const JobHistory& history, Time from, Time to) {
  return std::ranges::any_of(history, [&](const JobMoment& moment) {
    return (moment.kind == JobMoment::Kind::kRestored || moment.kind == JobMoment::Kind::kInitialised) &&
           moment.at >= from && moment.at <= to;
  });
}

void CompareSteps(const JobRun& run, const JobMoment& moment, Steps& steps, Findings& findings) {
  findings.Arm();
  if (steps.overtaken) {
    findings.Violate(moment, "a new session: the model was restored during the run before", "the same one");
  }
  steps.overtaken = false;
  if (moment.step >= *steps.last) return;
  const Time heard = moment.at + kHeardAfter;
  const bool may_be_made_anew = run.spec.workload.init_fn || run.spec.workload.nan_batch > 0;
  if (may_be_made_anew && RestoredIn(run.history, steps.last_started, heard)) return;
  if (RestoredIn(run.history, steps.started, heard)) {
    steps.overtaken = true;
    return;
  }
  findings.Violate(moment, fmt::format("step {} or more in the same session", *steps.last),
                   fmt::format("{}", moment.step));
}

void CheckSteps(const JobRun& run, Findings& findings) {
  std::map<std::string, Steps, std::less<>> tasks;
  for (const JobMoment& moment : run.history) {
    Steps& steps = tasks[moment.task];
    switch (moment.kind) {
      case JobMoment::Kind::kReplaced:
        steps = tasks[moment.subject];
        break;
      case JobMoment::Kind::kStarted:
      case JobMoment::Kind::kSession:
        steps.last.reset();
        steps.overtaken = false;
        steps.started = moment.at;
        break;
      case JobMoment::Kind::kRunStarted:
        steps.started = moment.at;
        break;
      case JobMoment::Kind::kSawStep:
        if (steps.last.has_value()) CompareSteps(run, moment, steps, findings);
        steps.last = moment.step;
        steps.last_started = steps.started;
        break;
      default:
        break;
    }
  }
}

}  // namespace

const Checker kStepGoesBackOnlyWithARecovery = {
    .id = "step.goes_back_only_with_a_recovery",
    .sentence =
        "Within one session of a replica the global step never goes back, but in its last run, if a restore overtook "
        "it.",
    .source = "pain 2: a chief that returned rolled every worker back by hundreds of steps, and no worker was told",
    .needs = &Behaviour::join_live_model,
    .check = CheckSteps,
    .excuses =
        "one run of a session that a restore overtook; where the model has an init_fn or diverges, each run since "
        "whose "
        "last one it was initialised or restored",
    .why =
        "a server may be lost, and the model restored, after it has done its part of the run; what init_fn has left "
        "half made, or has diverged, is made anew while others train on it",
};

}  // namespace vigil::sim
