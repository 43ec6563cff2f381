// A job in which nothing went wrong.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/reach.h"

namespace vigil::sim {
namespace {

// The end of the input ends a training that is fed by queues, and no run before it.
bool IsEndOfInput(const JobSpec& spec, const TaskFacts& task) {
  return spec.workload.kind == WorkloadKind::kInputPipeline && task.run_failed == std::vector{Code::kOutOfRange};
}

void CheckCalm(const JobSpec& spec, const JobFacts& facts, Findings& findings) {
  for (const auto& [name, task] : facts.tasks) {
    if (task.lives == 0) continue;
    findings.Arm();
    std::string seen;
    if (!task.run_failed.empty() && !IsEndOfInput(spec, task))
      seen = fmt::format("a run that failed with {}", CodeName(task.run_failed.front()));
    if (!task.create_failed.empty())
      seen = fmt::format("a creation that failed with {}", CodeName(task.create_failed.front()));
    if (task.recoveries > 0) seen = fmt::format("{} recoveries", task.recoveries);
    if (task.outcome != "clean") seen = fmt::format("the end {} ({})", task.outcome, task.text);
    if (!seen.empty()) findings.Violate(name, "no failure, no recovery and a clean end: no fault struck the job", seen);
  }
}

void CheckWithoutFaults(const JobRun& run, Findings& findings) {
  if (!StartsInOrder(run.spec)) return;
  if (IsCalm(run.facts)) CheckCalm(run.spec, run.facts, findings);
  if (run.quiet != nullptr) CheckCalm(run.spec, *run.quiet, findings);
}

}  // namespace

const Checker kNothingFailsWithoutAFault = {
    .id = "job.nothing_fails_without_a_fault",
    .sentence =
        "A job in which no fault took effect has no failed run, no failed creation and no recovery; each task ends "
        "cleanly. That messages take their time, wait for their turn and come in another order is no fault.",
    .source = "recordings of clusters: cluster_quiet, cluster_sync_quiet",
    .needs = &Behaviour::bounded_recovery,
    .check = CheckWithoutFaults,
    .stays =
        "What fails in calm jobs fails in jobs with faults as well, where a final error may be found first. It is the "
        "only one "
        "that sees a failure or a recovery which ends well.",
    .excuses =
        "jobs whose processes start all at once, or whose sessions need every task of the cluster; OUT_OF_RANGE of an "
        "input pipeline",
    .why =
        "a session that is made before the servers are up may fail, which is what recoveries are for; the end of the "
        "input is how such a training ends",
};

}  // namespace vigil::sim
