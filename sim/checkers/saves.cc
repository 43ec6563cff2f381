// What a save is, beside the file.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

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

// What may be left over, because somebody was cut off between the save and its listing, or between the listing and what
// is deleted: twice for each end of a process, since a deletion may be undone with the power, and once for each failed
// session. Of two that save at one time, the chief and who saves in its place or goes on beside it, the later to list
// its own lists over the other's.
std::size_t MayBeLeftOver(const JobRun& run) {
  std::int64_t most = std::ranges::count_if(run.history, [](const JobMoment& moment) {
    return moment.kind == JobMoment::Kind::kSavedInPlace ||
           (moment.kind == JobMoment::Kind::kSaved && IsZombie(moment.task));
  });
  for (const auto& [name, task] : run.facts.tasks) {
    most += 2 * std::max<std::int64_t>(task.lives - 1, 0) + task.recoveries + (task.outcome == "clean" ? 0 : 2);
  }
  return static_cast<std::size_t>(most);
}

// Each keeper takes over what the one before it has listed, also after a recovery and in a process that was started
// again. What a disk refused to remove goes with the next save.
void CheckTakenOver(const JobRun& run, Findings& findings) {
  const auto chief = run.facts.tasks.find("chief:0");
  if (chief == run.facts.tasks.end() || chief->second.outcome != "clean") return;
  // Since it was started last, and since no disk fails any more: the first save may be the one that was under way.
  const bool disk_fails = FailsDisksOf(run.spec.plan, "chief:0");
  bool fails = disk_fails;
  int saved = 0;
  for (const JobMoment& moment : run.history) {
    if (moment.kind == JobMoment::Kind::kHealed && std::exchange(fails, false)) saved = 0;
    if (moment.task != "chief:0") continue;
    if (moment.kind == JobMoment::Kind::kStarted) saved = 0;
    if (moment.kind == JobMoment::Kind::kSaved) ++saved;
  }
  if (fails || saved < (disk_fails ? 2 : 1)) return;
  findings.Arm();
  const std::size_t most = kKept + MayBeLeftOver(run);
  if (run.facts.checkpoints.size() <= most) return;
  findings.Violate("chief:0", fmt::format("{} checkpoints at the end: {} and what was cut off", most, kKept),
                   fmt::format("{}", run.facts.checkpoints.size()));
}

// None that saved in the chief's place was killed while it deleted what is too much.
bool WorkersUndisturbed(const JobRun& run) {
  return std::ranges::all_of(run.facts.tasks, [](const auto& entry) {
    const auto& [name, task] = entry;
    return !name.starts_with("worker") || (task.lives <= 1 && task.outcome == "clean");
  });
}

void CheckKept(const JobRun& run, Findings& findings) {
  if (!Undisturbed(run)) return CheckTakenOver(run, findings);
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

void CheckIndices(const JobRun& run, Findings& findings) {
  const auto wanted = [](std::int64_t step) {
    return fmt::format("all that the index of step {} speaks of, or no index", step);
  };
  constexpr std::string_view kSeen = "an index without that";
  for (const JobMoment& moment : run.history) {
    if (moment.kind == JobMoment::Kind::kFound && moment.step >= 0) findings.Arm();
    if (moment.kind != JobMoment::Kind::kFoundIncomplete || HasRotted(run, moment.step)) continue;
    findings.Violate(moment, wanted(moment.step), std::string(kSeen));
  }
  for (const std::int64_t step : run.facts.incomplete) {
    if (!HasRotted(run, step)) findings.Violate("at the end", wanted(step), std::string(kSeen));
  }
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
        "no fewer, and nothing of those that it has deleted. One that was disturbed leaves no more than these and what "
        "was cut off.",
    .source = "Saver: max_to_keep, 5 if not said",
    .needs = &Behaviour::keep_limits,
    .check = CheckKept,
    .excuses =
        "two checkpoints for each process that was started again or did not end cleanly, one for each recovery and for "
        "each save of a worker in the chief's place, or of a chief that goes on beside its next life; too few where a "
        "chief was disturbed; chiefs that did not end "
        "cleanly, and those whose disks fail and that have not saved twice since all healed; checkpoints of other "
        "tasks; data of deleted ones where a worker did not end cleanly in its first life",
    .why =
        "what was saved just before a crash, or deleted just before a power cut, no list may name; what cannot be "
        "removed stays; a worker that saves in the chief's place deletes, too, and a chief that is in a save of its "
        "own "
        "meanwhile lists over it",
};

const Checker kIndexMeansWhole = {
    .id = "checkpoint.index_means_whole",
    .sentence =
        "Whenever a task starts, and at the end, all is there of a checkpoint that its index speaks of, whoever was "
        "cut off while it was written, written anew or deleted.",
    .source = "tensor_bundle.h: the index is written last; checkpoint_management.py: a checkpoint exists by its index",
    .needs = &Behaviour::durable_saves,
    .check = CheckIndices,
    .excuses = "checkpoints in which a fault has flipped a bit; of real processes only the end is looked at",
    .why =
        "these are whole for whoever does not look at the checksum; what one process looks at after the other another "
        "one may be deleting meanwhile",
};

}  // namespace vigil::sim
