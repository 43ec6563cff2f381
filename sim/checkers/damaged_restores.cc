// Restores of what a disk has damaged.
#include <fmt/format.h>

#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/reach.h"

namespace vigil::sim {
namespace {

void CheckDamaged(const JobRun& run, Findings& findings) {
  // Where two processes may restore at once, one of them may have read before the other met the damage.
  if (HasZombies(run)) return;
  const JobMoment* restored = nullptr;  // of a checkpoint which is damaged
  for (const JobMoment& moment : run.history) {
    if (moment.task != "chief:0") continue;
    if (moment.kind == JobMoment::Kind::kRestored) {
      const bool damaged = moment.subject == kDamagedData;
      if (damaged) findings.Arm();
      // What is missing is restored by itself, last: that part of the checkpoint may be whole.
      if (damaged && moment.code == Code::kOk) {
        restored = &moment;
      } else if (moment.code != Code::kOk || (restored != nullptr && restored->step != moment.step)) {
        restored = nullptr;
      }
    } else if (moment.kind == JobMoment::Kind::kRecovery || moment.kind == JobMoment::Kind::kStarted) {
      restored = nullptr;
    } else if (moment.kind == JobMoment::Kind::kSession && restored != nullptr) {
      findings.Violate(*restored, "no restore that works of data which a fault has damaged",
                       fmt::format("that of step {}", restored->step));
      restored = nullptr;
    }
  }
}

}  // namespace

const Checker kDamageIsNotRestored = {
    .id = "restore.refuses_damage",
    .sentence = "A restore that worked has brought nothing that a disk had damaged since it was written.",
    .source = "BundleReader::GetValue r1.4: compares the checksum of what it has read",
    .check = CheckDamaged,
    .excuses = "jobs with a process that was taken for dead and goes on; tasks other than the chief",
    .why = "one of two that restore at once may have read before the damage was done",
};

}  // namespace vigil::sim
