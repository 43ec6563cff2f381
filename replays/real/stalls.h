// When the machine stood still: what no process on it could help.
//
// A job by processes is as slow as the machine that it runs on. So somebody who has nothing to do with the job looks at
// the clock and syncs a byte to the same disk, again and again. Where that takes a second, a run that waited for a save
// took a second for that cause; on a machine that never stands still, nothing is excused.
//
// Thread safety: one thread looks; Within after it has ended.
#ifndef VIGIL_REPLAYS_REAL_STALLS_H_
#define VIGIL_REPLAYS_REAL_STALLS_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/time.h"
#include "vigil/core/env/clock.h"
#include "vigil/core/env/files.h"
#include "vigil/sim/cluster/job_history.h"

namespace vigil::replays {

class Stalls {
 public:
  static constexpr std::chrono::milliseconds kBetweenLooks{100};
  static constexpr std::chrono::milliseconds kLeast{200};  // what is shorter is no stall

  // All borrowed. The file is made at the first look.
  Stalls(Clock& clock, Files& files, std::string path);

  // To be called kBetweenLooks after it has returned. Since then, or in writing: whatever took longer was a stall. What
  // cannot be written is none.
  void Look();
  // How much of the time between the two, of Clock::Now, the machine stood still.
  Duration Within(Time from, Time to) const;

 private:
  struct Stall {
    Time from;
    Time to;
  };

  Clock& clock_;
  Files& files_;
  const std::string path_;
  std::unique_ptr<File> file_;
  std::optional<Time> looked_;  // the end of the last look
  std::vector<Stall> stalls_;
};

// Of the longest run of a task, of those that came back.
Duration StillInLongestRun(const Stalls& stalls, const sim::JobHistory& history, std::string_view task);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_REAL_STALLS_H_
