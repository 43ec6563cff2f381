// What a save is, beside the file.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/faults/fault_kinds.h"

namespace vigil::sim {
namespace {

constexpr std::size_t kKept = 5;  // of SaverOptions, which the jobs leave as it is

void CheckComplete(const JobRun& run, Findings& findings) {
  for (const JobMoment& moment : run.history) {
    if (moment.kind != JobMoment::Kind::kSaved) continue;
    findings.Arm();
    if (moment.code == Code::kOk || HasRotted(run, moment.step)) continue;
    findings.Violate(moment, fmt::format("a whole checkpoint of step {} when its listener is told", moment.step),
                     "none on the disk");
  }
}

void CheckLogged(const JobRun& run, Findings& findings) {
  std::map<std::string, std::set<std::int64_t>, std::less<>> logged;
  for (const JobMoment& moment : run.history) {
    if (moment.kind == JobMoment::Kind::kReplaced) logged[moment.task] = logged[moment.subject];
    if (moment.kind == JobMoment::Kind::kStarted) logged[moment.task].clear();
    if (moment.kind == JobMoment::Kind::kLogged) logged[moment.task].insert(moment.step);
    if (moment.kind != JobMoment::Kind::kSaved) continue;
    findings.Arm();
    if (logged[moment.task].contains(moment.step)) continue;
    findings.Violate(moment, fmt::format("a session log of the checkpoint of step {}", moment.step), "none");
  }
}

// A chief that never stopped in between, on a disk without faults: nothing that is too many can be left over.
bool Undisturbed(const JobRun& run) {
  const auto chief = run.facts.tasks.find("chief:0");
  if (chief == run.facts.tasks.end() || chief->second.lives != 1 || chief->second.recoveries != 0) return false;
  if (chief->second.outcome != "clean" || StrikesDisks(run.spec.plan)) return false;
  for (const TimedFault& fault : run.spec.plan.timed) {
    if (fault.kind == TimedFault::Kind::kCrash && fault.disk != DiskLoss::kNothing) return false;
  }
  return true;
}

// None that saved in the chief's place was killed while it deleted what is too much.
bool WorkersUndisturbed(const JobRun& run) {
  return std::ranges::all_of(run.facts.tasks, [](const auto& entry) {
    const auto& [name, task] = entry;
    return !name.starts_with("worker") || (task.lives <= 1 && task.outcome == "clean");
  });
}

void CheckKept(const JobRun& run, Findings& findings) {
  if (!Undisturbed(run)) return;
  std::set<std::int64_t> saved;
  for (const JobMoment& moment : run.history) {
    if (moment.kind == JobMoment::Kind::kSaved && moment.task == "chief:0") saved.insert(moment.step);
  }
  if (saved.empty()) return;
  findings.Arm();
  // A worker that believed the chief gone may have saved one of its own, in place of one of the chief's.
  const auto kept = static_cast<std::size_t>(
      std::ranges::count_if(run.facts.checkpoints, [&saved](std::int64_t step) { return saved.contains(step); }));
  const std::size_t keeps = std::min(kKept, saved.size());
  const std::size_t all = run.facts.checkpoints.size();
  for (const std::int64_t step : run.facts.half_deleted) {
    if (saved.contains(step) && WorkersUndisturbed(run))
      findings.Violate("chief:0", fmt::format("nothing left of the checkpoint of step {}: it has no index", step),
                       "data files");
  }
  if (kept <= keeps && all >= keeps) return;
  findings.Violate("chief:0", fmt::format("{} checkpoints at the end, of {} that it saved", keeps, saved.size()),
                   fmt::format("{}", kept > keeps ? kept : all));
}

}  // namespace

const Checker kCompleteWhenReported = {
    .id = "checkpoint.complete_when_reported",
    .sentence = "When a listener is told that a checkpoint was saved, it is on the disk and whole.",
    .source = "CheckpointSaverListener.after_save: called after the checkpoint was saved",
    .check = CheckComplete,
    .stays =
        "What is not whole when it is reported is missed later, by checkpoint.reported_survives, checkpoint.final_step "
        "or the next restore. It says so at that moment.",
    .excuses = "a checkpoint in which a fault has flipped a bit",
    .why =
        "what is written beside the training is reported later, when it may have been read, and found to have rotted",
};

const Checker kCheckpointLogged = {
    .id = "checkpoint.logged",
    .sentence = "Each checkpoint that is reported has been noted in the events file, with its step.",
    .source = "CheckpointSaverHook: a SessionLog of status CHECKPOINT with the step of each save",
    .check = CheckLogged,
    .stays =
        "A save that is not logged, or with another step, listener.each_in_its_place and "
        "save.logged_at_the_step_that_was_read find in the hook's own call. It holds what a listener was told against "
        "what the events file got, whoever writes it.",
    .excuses = "logs of checkpoints that nobody reports",
    .why = "a save may be cut off between the two",
};

const Checker kKeepLimit = {
    .id = "checkpoint.keep_limit",
    .sentence =
        "A chief that trained to its end undisturbed leaves as many of its checkpoints as its saver keeps: no more, "
        "no fewer, and nothing of those that it has deleted.",
    .source = "Saver: max_to_keep, 5 if not said",
    .needs = &Behaviour::keep_limits,
    .check = CheckKept,
    .excuses =
        "chiefs that were started again, recovered, did not end cleanly or had faults of their disks; checkpoints of "
        "other tasks; data of deleted ones where a worker did not end cleanly in its first life",
    .why =
        "what was saved before a crash may not be known to the new keeper, and what cannot be removed stays; a worker "
        "that saves in the chief's place deletes, too",
};

}  // namespace vigil::sim
