// What a save writes, value by value: the counts of updates that servers keep (updates_as_applied.cc).
//
// What is restored is held against what was saved (restored_values.cc); this is the other half: what was saved was
// there. A save takes its values in a moment and writes them later, when another one may have written its own: the one
// before, of saves beside the training; or one that failed, and goes on at a server. So each value is one that its
// count had since the last save but one that was over when this one began. A count that was overwritten, or whose
// server has died, was there.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/reach.h"
#include "vigil/sim/checkers/writes.h"

namespace vigil::sim {
namespace {

// Who writes beside the training may have taken the values of two more meanwhile, and a worker that has lost the chief
// saves, too.
constexpr int kSavesBefore = 1;
constexpr int kSavesBesideBefore = 4;

class HadValues {
 public:
  void Begins(std::int64_t value) { since_last_.insert(value); }
  // Of those that overlap nobody knows which came last.
  void Told(const JobMoment& write) {
    if (write.at + -write.began_before > told_) now_.clear();
    told_ = write.at;
    now_.insert(write.step);
    since_last_.insert(write.step);
  }
  // All that a save may write which ends now, if it may go so many back that were over when it began.
  std::set<std::int64_t> RightFor(const JobMoment& save, int back) const {
    std::set<std::int64_t> right = since_last_;
    for (auto before = saves_.rbegin(); before != saves_.rend() && back > 0; ++before) {
      right.insert(before->had.begin(), before->had.end());
      if (before->at < save.at + -save.began_before) --back;
    }
    return right;
  }
  void Saved(const JobMoment& save) { saves_.push_back({save.at, std::exchange(since_last_, now_)}); }

 private:
  struct Save {
    Time at;
    std::set<std::int64_t> had;  // from the one before to this one
  };
  std::vector<Save> saves_;
  std::set<std::int64_t> since_last_;
  std::set<std::int64_t> now_;
  Time told_;
};

void CheckWrittenValues(const JobRun& run, Findings& findings) {
  if (HasZombies(run)) return;
  std::map<std::pair<std::string, std::string>, HadValues> counts;  // by server and replica
  const auto had = [&counts](const JobMoment& moment) -> HadValues& { return counts[{moment.task, moment.subject}]; };
  const int back = run.spec.workload.async_saves ? kSavesBesideBefore : kSavesBefore;
  WritesBegun writes(*run.writes);
  for (std::size_t place = 0; place < run.history.size(); ++place) {
    writes.BegunBy(place, [&](std::size_t begun) {
      if (IsOfACount(run.history[begun])) had(run.history[begun]).Begins(run.history[begun].step);
    });
    const JobMoment& moment = run.history[place];
    if (IsOfACount(moment)) had(moment).Told(moment);
    if (moment.kind != JobMoment::Kind::kWritten) continue;
    findings.Arm();
    if (const std::set<std::int64_t> right = had(moment).RightFor(moment, back); !right.contains(moment.step)) {
      findings.Violate(moment,
                       fmt::format("{} updates of {} to be saved with step {}, as were counted of late",
                                   fmt::join(right, " or "), moment.subject, moment.checkpoint),
                       fmt::format("{}", moment.step));
    }
    had(moment).Saved(moment);
  }
}

}  // namespace

const Checker kSavesWhatWasThere = {
    .id = "save.writes_what_was_there",
    .sentence =
        "Each count of updates that is written to a checkpoint is one that its server had since the last save but one "
        "before the writing began; with async_saves, but four.",
    .source = "Saver.save r1.4: saves the values that the variables have when it is called",
    .check = CheckWrittenValues,
    .excuses = "jobs in which a process that was taken for dead goes on",
    .why = "two processes that save at once know nothing of one another",
};

}  // namespace vigil::sim
