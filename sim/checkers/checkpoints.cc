// Two invariants of what is on the disk when everything is over.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "vigil/sim/checkers/checker.h"

namespace vigil::sim {
namespace {

// Who ends so long after the chief's death has looked for it after it.
constexpr std::chrono::minutes kGoneFor{1};

std::string Text(const std::optional<std::int64_t>& step) {
  return step.has_value() ? fmt::format("step {}", *step) : "no checkpoint";
}

void CheckReported(const JobRun& run, Findings& findings) {
  const JobMoment* newest = nullptr;
  for (const JobMoment& moment : run.history) {
    if (moment.kind == JobMoment::Kind::kFound && newest != nullptr && moment.step < newest->step) {
      findings.Violate(moment,
                       fmt::format("a whole checkpoint of step {} or later: its save was reported", newest->step),
                       fmt::format("step {}", moment.step));
      return;
    }
    if (moment.kind == JobMoment::Kind::kSaved && !HasRotted(run, moment.step) &&
        (newest == nullptr || moment.step >= newest->step))
      newest = &moment;
  }
  if (newest == nullptr) return;
  findings.Arm();
  if (run.facts.newest_checkpoint.has_value() && *run.facts.newest_checkpoint >= newest->step) return;
  findings.Violate(
      *newest, fmt::format("a whole checkpoint of step {} or later at the end: its save was reported", newest->step),
      Text(run.facts.newest_checkpoint));
}

void CheckFinal(const JobRun& run, Findings& findings) {
  if (run.spec.workload.kind == WorkloadKind::kSupervisor) return;  // saves from time to time only
  if (run.spec.workload.nan_batch > 0) return;                      // what has diverged is not saved
  std::int64_t last = -1;
  for (const JobMoment& moment : run.history) {
    if (moment.task != "chief:0") continue;
    if (moment.kind == JobMoment::Kind::kSession || moment.kind == JobMoment::Kind::kStarted) last = -1;
    if (moment.kind == JobMoment::Kind::kRunReturned) last = moment.step;
    if (moment.kind != JobMoment::Kind::kEnded || moment.code != Code::kOk || last < 0 || HasRotted(run, last))
      continue;
    findings.Arm();
    if (run.facts.newest_checkpoint.has_value() && *run.facts.newest_checkpoint >= last) continue;
    findings.Violate(moment, fmt::format("a checkpoint of step {} or later: the chief ended cleanly there", last),
                     Text(run.facts.newest_checkpoint));
  }
}

// When the chief has died for good.
std::optional<Time> ChiefGone(const JobRun& run) {
  std::optional<Time> begin;
  for (const JobMoment& moment : run.history) {
    if (moment.kind == JobMoment::Kind::kBegin) begin = moment.at;
  }
  if (!begin.has_value()) return std::nullopt;
  for (const TimedFault& fault : run.spec.plan.timed) {
    if (fault.kind != TimedFault::Kind::kCrash || fault.task != "chief:0" || fault.restart_after.has_value()) continue;
    if (fault.point.has_value()) continue;  // nobody knows when that was
    const Time gone = *begin + fault.at;
    const bool seen_later = std::ranges::any_of(
        run.history, [gone](const JobMoment& moment) { return moment.task == "chief:0" && moment.at > gone; });
    if (!seen_later) return gone;
  }
  return std::nullopt;
}

void CheckLastOne(const JobRun& run, Findings& findings) {
  if (run.spec.workload.kind == WorkloadKind::kSupervisor) return;  // a supervisor's worker saves nothing
  if (run.spec.workload.nan_batch > 0) return;                      // nor what has diverged
  if (run.spec.workload.clients) return;                            // whose chief has no server that could be asked
  const std::optional<Time> gone = ChiefGone(run);
  if (!gone.has_value()) return;
  std::map<std::string, std::int64_t, std::less<>> last;  // step by worker, in its newest session
  bool half_made = false;  // the mark that says so is removed before the chief has a session
  for (const JobMoment& moment : run.history) {
    if (moment.task == "chief:0" && moment.kind == JobMoment::Kind::kInitFnBegan) half_made = true;
    if (moment.task == "chief:0" && moment.kind == JobMoment::Kind::kSession) half_made = false;
    if (!moment.task.starts_with("worker")) continue;
    if (moment.kind == JobMoment::Kind::kSession || moment.kind == JobMoment::Kind::kStarted) last.erase(moment.task);
    if (moment.kind == JobMoment::Kind::kRunReturned) last[moment.task] = moment.step;
    if (moment.kind != JobMoment::Kind::kEnded || moment.code != Code::kOk || !last.contains(moment.task)) continue;
    if (moment.at < *gone + kGoneFor || half_made) continue;
    const std::int64_t step = last[moment.task];
    if (HasRotted(run, step)) continue;
    findings.Arm();
    if (run.facts.newest_checkpoint.has_value() && *run.facts.newest_checkpoint >= step) continue;
    findings.Violate(moment, fmt::format("a checkpoint of step {} or later: the chief was gone", step),
                     Text(run.facts.newest_checkpoint));
  }
}

}  // namespace

const Checker kReportedCheckpointSurvives = {
    .id = "checkpoint.reported_survives",
    .sentence =
        "A checkpoint that was reported complete, or a later one, is there and whole whenever a task starts, and at "
        "the "
        "end, whatever crashed.",
    .source = "CheckpointSaverListener.after_save; pain 12",
    .needs = &Behaviour::durable_saves,
    .check = CheckReported,
    .stays =
        "A chief that cannot restore what was lost ends with DATA_LOSS, which job.errors_have_a_cause finds first. It "
        "says which promise was broken, and finds what a fallback hides.",
    .excuses = "behaviours without durable saves; a checkpoint in which a fault has flipped a bit",
    .why = "TensorFlow does not sync what it writes; a checksum notices what has rotted, and brings nothing back",
};

const Checker kFinalCheckpointHasFinalStep = {
    .id = "checkpoint.final_step",
    .sentence =
        "When the chief has ended cleanly, the newest checkpoint has the step of its last run (not so with a "
        "supervisor).",
    .source = "CheckpointSaverHook.end: saves the last step",
    .check = CheckFinal,
    .excuses =
        "jobs of supervisors, and those whose loss becomes NaN; lives of the chief that end with an error, a last "
        "checkpoint that has rotted",
    .why =
        "a supervisor saves from time to time only; what has diverged is not saved; end is called at a clean end only",
};

const Checker kLastOneSaves = {
    .id = "checkpoint.last_one_saves",
    .sentence =
        "When a worker ends cleanly after its chief has died for good, the newest checkpoint has the step of the "
        "worker's last run (not so with a supervisor).",
    .source = "docs/differences.md, last_one_saves; pain 6",
    .needs = &Behaviour::last_one_saves,
    .check = CheckLastOne,
    .stays =
        "A worker that leaves the last steps unsaved leaves nothing else to see than what is not on the disk; a job in "
        "which others find its bug as well shows another of its effects.",
    .excuses =
        "jobs of supervisors and of clients without a server, and those whose loss becomes NaN; a chief that has "
        "died between the begin of its init_fn and its session; workers that end within a minute of the chief's death, "
        "a checkpoint that has rotted",
    .why =
        "such a worker may have looked for the chief before; a supervisor's worker saves nothing, and nobody what has "
        "diverged or is half made; a chief that has no server cannot be asked whether it is there",
};

}  // namespace vigil::sim
