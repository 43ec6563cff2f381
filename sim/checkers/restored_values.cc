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
#include "vigil/sim/checkers/reach.h"

namespace vigil::sim {
namespace {

using CountName = std::pair<std::string, std::string>;  // server, replica

class RestoredValues {
 public:
  RestoredValues(const JobRun& run, Findings& findings) : findings_(findings), alone_(!HasZombies(run)) {}

  void See(const JobMoment& moment) {
    switch (moment.kind) {
      case JobMoment::Kind::kWritten:
        written_[moment.checkpoint][{moment.task, moment.subject}].insert(moment.step);
        break;
      case JobMoment::Kind::kAssigned:
        assigned_[{moment.task, moment.subject}] = moment.step;
        anew_.erase(moment.task);
        break;
      case JobMoment::Kind::kInitialised:
        assigned_.clear();
        break;
      case JobMoment::Kind::kStarted:  // of a server: what an initialisation that failed gave it is gone
        std::erase_if(assigned_, [&](const auto& each) { return each.first.first == moment.task; });
        std::erase_if(brought_, [&](const CountName& each) { return each.first == moment.task; });
        anew_.insert(moment.task);
        if (moment.task == "chief:0") restored_ = -1;  // the one before has died, perhaps in the middle of it
        break;
      case JobMoment::Kind::kRestored:
        Restored(moment);
        break;
      case JobMoment::Kind::kRecovery:
        if (moment.task == "chief:0") restored_ = -1;
        break;
      case JobMoment::Kind::kSession:
        if (moment.task == "chief:0") CheckThatAllWereBrought(moment);
        break;
      default:
        break;
    }
  }

 private:
  void Restored(const JobMoment& moment) {
    const std::map<CountName, std::int64_t> assigned = std::exchange(assigned_, {});
    const bool worked = moment.code == Code::kOk && moment.step >= 0;
    if (moment.task == "chief:0") {
      // What is missing comes last: one checkpoint is brought by several.
      if (!worked || restored_ != moment.step) brought_.clear();
      restored_ = worked ? moment.step : -1;
      for (const auto& [name, value] : assigned) brought_.insert(name);
    }
    if (!worked) return;
    for (const auto& [name, value] : assigned) {
      findings_.Arm();
      const std::set<std::int64_t>& right = written_[moment.step][name];
      if (right.contains(value)) continue;
      findings_.Violate(moment,
                        fmt::format("{} to count {} updates of {} after the restore of step {}, as was saved",
                                    name.first, fmt::join(right, " or "), name.second, moment.step),
                        fmt::format("{}", value));
    }
  }

  // A session whose model was restored: all of it was, not only what a server had lost.
  void CheckThatAllWereBrought(const JobMoment& moment) {
    const std::int64_t restored = std::exchange(restored_, -1);
    if (restored < 0 || !alone_) return;
    for (const auto& [name, values] : written_[restored]) {
      findings_.Arm();
      if (brought_.contains(name) || anew_.contains(name.first)) continue;
      findings_.Violate(moment,
                        fmt::format("the updates that {} counts of {} to be restored with step {}", name.first,
                                    name.second, restored),
                        "none was");
    }
  }

  Findings& findings_;
  const bool alone_;  // no other process of a task goes on, which might restore, too
  std::map<std::int64_t, std::map<CountName, std::set<std::int64_t>>> written_;  // by the step of the checkpoint
  std::map<CountName, std::int64_t> assigned_;                                   // since the model was filled last
  std::int64_t restored_ = -1;               // what the chief has restored for the session that it makes
  std::set<CountName> brought_;              // ... by that
  std::set<std::string, std::less<>> anew_;  // servers that have begun, and of which nothing was assigned since
};

void CheckRestoredValues(const JobRun& run, Findings& findings) {
  RestoredValues values(run, findings);
  for (const JobMoment& moment : run.history) values.See(moment);
}

}  // namespace

const Checker kRestoreBringsWhatWasSaved = {
    .id = "restore.brings_what_was_saved",
    .sentence =
        "After a restore that worked each count of updates has the value that was saved at the step restored; a chief "
        "that restores brings all counts back, not only those that were lost.",
    .source = "Saver.restore r1.4: restores previously saved variables",
    .check = CheckRestoredValues,
    .excuses =
        "any of the values that were saved at that step; counts that a restore which failed has overwritten; "
        "counts that were not brought back of a server which began meanwhile, and where a process that was taken for "
        "dead goes on",
    .why = "a model that went back comes to the same step again, and is saved once more",
};

}  // namespace vigil::sim
