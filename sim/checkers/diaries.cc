// What a disk has promised to keep.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "vigil/core/base/code.h"
#include "vigil/sim/checkers/checker.h"

namespace vigil::sim {
namespace {

// Whether that task's own disk may lose what was synced: it goes as a whole, or its bits flip; or a sync failed, and
// the next one says that all is well.
bool MayLose(const FaultPlan& plan, std::string_view task) {
  return std::ranges::any_of(plan.timed,
                             [task](const TimedFault& fault) {
                               return fault.kind == TimedFault::Kind::kCrash && fault.task == task &&
                                      fault.disk == DiskLoss::kAll;
                             }) ||
         std::ranges::any_of(plan.disks, [task](const DiskFault& fault) {
           const bool fails_a_sync =
               fault.effect == DiskFault::Effect::kIoError && (fault.op.empty() || fault.op == "sync");
           if (fault.effect == DiskFault::Effect::kBitRot) return fault.task == task;
           return fails_a_sync && (fault.task.empty() || fault.task == task);
         });
}

// The machine that the process was on, each with a disk of its own; "" = not known.
std::string MachineOf(const JobRun& run, const JobMoment& moment) {
  const auto task = run.facts.tasks.find(WithoutZombie(moment.task));
  const auto life = static_cast<std::size_t>(moment.life);
  if (task == run.facts.tasks.end() || life == 0 || life > task->second.nodes.size()) return "";
  return task->second.nodes[life - 1];
}

void CheckDiaries(const JobRun& run, Findings& findings) {
  std::map<std::string, std::int64_t, std::less<>> synced;  // of each machine, how many bytes
  for (const JobMoment& moment : run.history) {
    const bool synced_more = moment.kind == JobMoment::Kind::kDiarySynced;
    if (!synced_more && moment.kind != JobMoment::Kind::kDiaryFound) continue;
    const std::string machine = MachineOf(run, moment);
    if (machine.empty()) continue;
    if (synced_more) {
      synced[machine] = moment.step;
      continue;
    }
    const auto before = synced.find(machine);
    if (before == synced.end() || MayLose(run.spec.plan, WithoutZombie(moment.task))) continue;
    findings.Arm();
    if (moment.step < before->second) {
      findings.Violate(moment, fmt::format("the {} bytes of its own file that were synced", before->second),
                       fmt::format("{}", moment.step));
    } else if (moment.code != Code::kOk) {
      findings.Violate(moment, "what was written into its own file, up to any place", "other bytes");
    }
  }
}

}  // namespace

const Checker kDiariesSurvive = {
    .id = "disk.synced_bytes_survive",
    .sentence =
        "What a program has synced of a file of its own is there when it starts again on that machine, and "
        "nothing else is in the file.",
    .source = "core/env/files.h: a file's contents survive a power cut once File::Sync has returned",
    .check = CheckDiaries,
    .excuses = "disks that are lost as a whole, of which the plan flips a bit, or that fail a sync",
    .why = "no sync helps against these, nor does another one after one that has failed",
};

}  // namespace vigil::sim
