// What a chief may go on with of what it finds on the servers: a model outlives the process that has made it.
#include <algorithm>

#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/reach.h"

namespace vigil::sim {
namespace {

constexpr std::string_view kChief = "chief:0";

// What is wrong with a model is noted in files beside its checkpoints.
bool NotesMayFail(const JobRun& run) {
  return AnyStruck(run, InertFault::List::kDisks, run.spec.plan.disks, [](const DiskFault& fault) {
    const bool refuses = fault.effect == DiskFault::Effect::kNoSpace || fault.effect == DiskFault::Effect::kIoError;
    return refuses && (fault.task.empty() || fault.task == kChief);
  });
}

void CheckInitFns(const JobRun& run, Findings& findings) {
  if (HasZombies(run) || NotesMayFail(run)) return;
  bool any = false;
  bool half_made = false;
  for (const JobMoment& moment : run.history) {
    if (moment.task != kChief) continue;
    switch (moment.kind) {
      case JobMoment::Kind::kInitFnBegan:
        any = half_made = true;
        break;
      case JobMoment::Kind::kInitFnEnded:
      case JobMoment::Kind::kRestored:
        if (moment.code == Code::kOk) half_made = false;
        break;
      case JobMoment::Kind::kSession:
        if (any) findings.Arm();
        if (half_made) {
          findings.Violate(moment, "a session once init_fn has come to its end, or a checkpoint is restored",
                           "one on a model whose init_fn was cut off");
        }
        half_made = false;  // told once
        break;
      default:
        break;
    }
  }
}

}  // namespace

const Checker kInitFnRanWhole = {
    .id = "model.init_fn_ran_whole",
    .sentence =
        "A chief trains on no model whose init_fn was cut off, in this life of it or an earlier one: init_fn runs to "
        "its end before it has a session, or a checkpoint is restored.",
    .source = "docs/differences.md, join_live_model: what has an init_fn that has not come to its end",
    .needs = &Behaviour::join_live_model,
    .check = CheckInitFns,
    .excuses =
        "jobs with a process that was taken for dead and goes on, or in which a disk has refused the chief something; "
        "tasks other than the chief; a checkpoint that holds such a model",
    .why =
        "of two chiefs one makes anew what the other trains; that an init_fn is under way is noted in a file; workers "
        "wait for variables that are initialised, as TensorFlow's do, and for no more",
};

}  // namespace vigil::sim
