// What a chief may go on with of what it finds on the servers: a model outlives the process that has made it.
#include <fmt/format.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>

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

// Whether the chief's model lacks the end of its init_fn after that moment. `before`: whether it did before.
bool IsHalfMade(bool before, const JobMoment& moment) {
  if (moment.task != kChief) return before;
  if (moment.kind == JobMoment::Kind::kInitFnBegan) return true;
  const bool makes_it_whole = moment.kind == JobMoment::Kind::kInitFnEnded || moment.kind == JobMoment::Kind::kRestored;
  return before && !(makes_it_whole && moment.code == Code::kOk);
}

void CheckInitFns(const JobRun& run, Findings& findings) {
  if (HasZombies(run) || NotesMayFail(run)) return;
  bool any = false;
  bool half_made = false;
  std::map<std::string, bool, std::less<>> ran_since;  // by worker: it looks for the mark after its last run
  for (const JobMoment& moment : run.history) {
    half_made = IsHalfMade(half_made, moment);
    if (moment.kind == JobMoment::Kind::kInitFnBegan) {
      any = true;
      ran_since.clear();
    }
    if (moment.kind == JobMoment::Kind::kRunReturned) ran_since[moment.task] = half_made;
    if (moment.kind == JobMoment::Kind::kSavedInPlace && half_made && ran_since[moment.task]) {
      findings.Violate(moment, "no save of a model whose init_fn was cut off",
                       fmt::format("one of step {}", moment.step));
    }
    if (moment.kind != JobMoment::Kind::kSession || moment.task != kChief) continue;
    if (any) findings.Arm();
    if (half_made) {
      findings.Violate(moment, "a session once init_fn has come to its end, or a checkpoint is restored",
                       "one on a model whose init_fn was cut off");
    }
    half_made = false;  // told once
  }
}

void CheckDiverged(const JobRun& run, Findings& findings) {
  if (HasZombies(run) || NotesMayFail(run)) return;
  const JobMoment* seen = nullptr;                     // the chief has seen it, and nobody has made the model anew
  std::map<std::string, bool, std::less<>> ran_since;  // by worker: it looks for the mark after its last run
  for (const JobMoment& moment : run.history) {
    const bool chief = moment.task == kChief;
    switch (moment.kind) {
      case JobMoment::Kind::kDiverged:
        if (chief) seen = &moment;
        break;
      case JobMoment::Kind::kRestored:
      case JobMoment::Kind::kInitialised:
        if (chief && moment.code == Code::kOk) seen = nullptr;
        if (chief) ran_since.clear();
        break;
      case JobMoment::Kind::kRunReturned:
        ran_since[moment.task] = seen != nullptr;
        break;
      case JobMoment::Kind::kSavedInPlace:
        if (seen == nullptr || !ran_since[moment.task]) break;
        findings.Violate(moment, "no save of a model whose loss the chief has seen become NaN",
                         fmt::format("one of step {}", moment.step));
        break;
      case JobMoment::Kind::kSession:
        if (!chief || seen == nullptr) break;
        findings.Violate(moment, "a session once a checkpoint is restored", "one on a model whose loss is NaN");
        break;
      case JobMoment::Kind::kEnded:
        if (!chief && seen != nullptr && moment.code == Code::kOk && ran_since[moment.task]) findings.Arm();
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
        "its end before it has a session, or a checkpoint is restored. Nor does a worker save such a model in the "
        "chief's place.",
    .source = "docs/differences.md, join_live_model: what has an init_fn that has not come to its end",
    .needs = &Behaviour::join_live_model,
    .check = CheckInitFns,
    .excuses =
        "jobs with a process that was taken for dead and goes on, or in which a disk has refused the chief something; "
        "tasks other than the chief, which train on it; workers whose last run came back before",
    .why =
        "of two chiefs one makes anew what the other trains; that an init_fn is under way is noted in a file, for "
        "which a worker looks after its last run; workers wait for variables that are initialised, as TensorFlow's "
        "do, and for no more",
};

const Checker kDivergedIsNotSaved = {
    .id = "model.diverged_is_not_saved",
    .sentence =
        "A model whose loss the chief has seen become NaN is saved by no worker in the chief's place, and no chief has "
        "a session with it, until a checkpoint is restored or it is initialised.",
    .source = "docs/differences.md, nan_stop_saves_nothing and join_live_model: what has diverged",
    .needs = &Behaviour::join_live_model,
    .check = CheckDiverged,
    .excuses =
        "jobs with a process that was taken for dead and goes on, or in which a disk has refused the chief something; "
        "workers whose last run came back before; what a chief saves at the end of a run whose loss was a number",
    .why =
        "of two chiefs one makes anew what the other trains; that a model has diverged is noted in a file, for which a "
        "worker looks after its last run; weights may be NaN before a loss shows it",
};

}  // namespace vigil::sim
