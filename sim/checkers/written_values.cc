// What a save writes, value by value: the counts of updates that servers keep (updates_as_applied.cc).
//
// What is restored is held against what was saved (restored_values.cc); this is the other half: what was saved was
// there. A save takes its values in a moment and writes them later, when another one may have written its own: the one
// before, of saves beside the training; or one that failed, and goes on at a server. So each value is one that its
// count had since the save before the last one. A count that was overwritten, or whose server has died, was there.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/reach.h"
#include "vigil/sim/checkers/writes.h"

namespace vigil::sim {
namespace {

struct HadValues {
  std::set<std::int64_t> since_last;  // since it was written last
  std::set<std::int64_t> before;      // ... and from the time before to then
  std::int64_t now = -1;
};

void CheckWrittenValues(const JobRun& run, Findings& findings) {
  if (HasZombies(run)) return;
  std::map<std::pair<std::string, std::string>, HadValues> counts;  // by server and replica
  const auto had = [&counts](const JobMoment& moment) -> HadValues& { return counts[{moment.task, moment.subject}]; };
  const auto is_of_a_count = [](const JobMoment& moment) {
    return moment.kind == JobMoment::Kind::kApplied || moment.kind == JobMoment::Kind::kAssigned;
  };
  Writes writes(run.history);
  for (std::size_t place = 0; place < run.history.size(); ++place) {
    writes.BegunBy(place, [&](std::size_t begun) {
      const JobMoment& write = run.history[begun];
      if (is_of_a_count(write)) had(write).since_last.insert(write.step);
    });
    const JobMoment& moment = run.history[place];
    if (is_of_a_count(moment)) {
      had(moment).since_last.insert(moment.step);
      had(moment).now = moment.step;
    }
    if (moment.kind != JobMoment::Kind::kWritten) continue;
    findings.Arm();
    HadValues& count = had(moment);
    std::set<std::int64_t> right = count.before;
    right.merge(std::set<std::int64_t>(count.since_last));
    if (!right.contains(moment.step)) {
      findings.Violate(moment,
                       fmt::format("{} updates of {} to be saved with step {}, as were counted of late",
                                   fmt::join(right, " or "), moment.subject, moment.checkpoint),
                       fmt::format("{}", moment.step));
    }
    count.before = std::exchange(count.since_last, {count.now});
  }
}

}  // namespace

const Checker kSavesWhatWasThere = {
    .id = "save.writes_what_was_there",
    .sentence =
        "Each count of updates that is written to a checkpoint is one that its server had since the save before the "
        "last one.",
    .source = "Saver.save r1.4: saves the values that the variables have when it is called",
    .check = CheckWrittenValues,
    .excuses = "jobs in which a process that was taken for dead goes on",
    .why = "two processes that save at once know nothing of one another",
};

}  // namespace vigil::sim
