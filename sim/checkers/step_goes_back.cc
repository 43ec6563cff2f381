// One run may see the step go back: one that a restore overtook. A parameter server was lost (so the model is restored)
// after it had done its part of the run, while the rest of the run still waited on another one, in synchronous training
// for a token. The session of such a run is lost with the server: the next run has a new one.
//
// A model may be made anew while servers and sessions live: if its init_fn was cut off, or it has diverged. Whoever
// trains on it meanwhile sees the step go back, and no session breaks.
//
// When the step was set the servers say, from when to when; the chief hears of the end of its restore only later. Where
// no server tells, the chief is believed.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/reach.h"
#include "vigil/sim/checkers/writes.h"

namespace vigil::sim {
namespace {

// The chief hears of the end of a restore after others have seen what it does.
constexpr std::chrono::minutes kHeardAfter{1};

struct Begun {
  Time at;
  std::size_t place = 0;  // in the history
};

struct Steps {
  std::optional<std::int64_t> last;  // none: a new session
  Begun run;                         // the one under way
  Begun last_run;                    // the one that saw `last`
  bool overtaken = false;            // the last run was
};

bool RestoredIn(const JobHistory& history, Time from, Time to) {
  return std::ranges::any_of(history, [&](const JobMoment& moment) {
    return (moment.kind == JobMoment::Kind::kRestored || moment.kind == JobMoment::Kind::kInitialised) &&
           moment.at >= from && moment.at <= to;
  });
}

bool IsStepSet(const JobMoment& moment) {
  return moment.kind == JobMoment::Kind::kStepSet && IsServer(WithoutZombie(moment.task));
}

// `set`: where the history tells last of a step that was set and had begun to be by now.
void CompareSteps(const JobRun& run, const JobMoment& moment, std::optional<std::size_t> set, Steps& steps,
                  Findings& findings) {
  findings.Arm();
  if (steps.overtaken) {
    findings.Violate(moment, "a new session: the model was restored during the run before", "the same one");
  }
  steps.overtaken = false;
  if (moment.step >= *steps.last) return;
  const bool servers_tell = std::ranges::any_of(run.history, IsStepSet);
  const auto was_set_since = [&](const Begun& begun) {
    return servers_tell ? set >= begun.place : RestoredIn(run.history, begun.at, moment.at + kHeardAfter);
  };
  const bool may_be_made_anew = run.spec.workload.init_fn || run.spec.workload.nan_batch > 0;
  if (may_be_made_anew && was_set_since(steps.last_run)) return;
  if (was_set_since(steps.run)) {
    steps.overtaken = true;
    return;
  }
  findings.Violate(moment, fmt::format("step {} or more in the same session", *steps.last),
                   fmt::format("{}", moment.step));
}

void CheckSteps(const JobRun& run, Findings& findings) {
  std::map<std::string, Steps, std::less<>> tasks;
  std::optional<std::size_t> set;
  WritesBegun writes(*run.writes);
  for (std::size_t place = 0; place < run.history.size(); ++place) {
    const JobMoment& moment = run.history[place];
    writes.BegunBy(place, [&](std::size_t told) {
      if (IsStepSet(run.history[told])) set = std::max(set, std::optional(told));
    });
    Steps& steps = tasks[moment.task];
    switch (moment.kind) {
      case JobMoment::Kind::kReplaced:
        steps = tasks[moment.subject];
        break;
      case JobMoment::Kind::kStarted:
      case JobMoment::Kind::kSession:
        steps.last.reset();
        steps.overtaken = false;
        [[fallthrough]];
      case JobMoment::Kind::kRunStarted:
        steps.run = {.at = moment.at, .place = place};
        break;
      case JobMoment::Kind::kSawStep:
        if (steps.last.has_value()) CompareSteps(run, moment, set, steps, findings);
        steps.last = moment.step;
        steps.last_run = steps.run;
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
        "whose last one it was initialised or restored",
    .why =
        "a server may be lost, and the model restored, after it has done its part of the run; what init_fn has left "
        "half made, or has diverged, is made anew while others train on it",
};

}  // namespace vigil::sim
