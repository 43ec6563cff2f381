// What a restore brings back, value by value: the counts of updates that servers keep (updates_as_applied.cc).
//
// Each save writes what the counts were; each restore overwrites them. So what servers have after the restore of a
// checkpoint is what was written into one of its step, count by count: several may have been written, when the model
// went back and came to that step again.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "vigil/sim/checkers/checker.h"

namespace vigil::sim {
namespace {

using CountName = std::pair<std::string, std::string>;  // server, replica

void CheckRestoredValues(const JobRun& run, Findings& findings) {
  if (run.spec.workload.async_saves) return;
  std::map<std::int64_t, std::map<CountName, std::set<std::int64_t>>> written;  // by the step of the checkpoint
  std::map<CountName, std::int64_t> assigned;                                   // since the model was filled last
  for (const JobMoment& moment : run.history) {
    switch (moment.kind) {
      case JobMoment::Kind::kWritten:
        written[moment.checkpoint][{moment.task, moment.subject}].insert(moment.step);
        break;
      case JobMoment::Kind::kAssigned:
        assigned[{moment.task, moment.subject}] = moment.step;
        break;
      case JobMoment::Kind::kInitialised:
        assigned.clear();
        break;
      case JobMoment::Kind::kStarted:  // of a server: what an initialisation that failed gave it is gone
        std::erase_if(assigned, [&](const auto& each) { return each.first.first == moment.task; });
        break;
      case JobMoment::Kind::kRestored:
        for (const auto& [name, value] : std::exchange(assigned, {})) {
          if (moment.code != Code::kOk || moment.step < 0) break;
          findings.Arm();
          const std::set<std::int64_t>& right = written[moment.step][name];
          if (right.contains(value)) continue;
          findings.Violate(moment,
                           fmt::format("{} to count {} updates of {} after the restore of step {}, as was saved",
                                       name.first, fmt::join(right, " or "), name.second, moment.step),
                           fmt::format("{}", value));
        }
        break;
      default:
        break;
    }
  }
}

}  // namespace

const Checker kRestoreBringsWhatWasSaved = {
    .id = "restore.brings_what_was_saved",
    .sentence = "After a restore that worked each count of updates has the value that was saved at the step restored.",
    .source = "Saver.restore r1.4: restores previously saved variables",
    .check = CheckRestoredValues,
    .excuses =
        "any of the values that were saved at that step; counts that a restore which failed has overwritten; "
        "jobs with async_saves",
    .why =
        "a model that went back comes to the same step again, and is saved once more; what is written beside the "
        "training no server writes",
};

}  // namespace vigil::sim
