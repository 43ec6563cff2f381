// How often a replica has tried since its last run that came back: what an operation of a step may have done at most.
//
// Thread safety: data.
#ifndef VIGIL_SIM_CHECKERS_ATTEMPTS_H_
#define VIGIL_SIM_CHECKERS_ATTEMPTS_H_

#include <algorithm>
#include <cstdint>
#include <utility>

#include "vigil/sim/cluster/job_history.h"

namespace vigil::sim {

struct Attempts {
  bool in_run = false;
  std::int64_t good = 0;  // since the last run that returned
  std::int64_t bad = 0;   // failed, or cut off by the end of the process

  // What came back is an attempt, also where no event tells of it.
  std::int64_t most() const { return bad + std::max<std::int64_t>(1, good); }

  // A moment of its task. The run that comes back is for the caller to count, then to begin with new Attempts.
  void See(const JobMoment& moment) {
    switch (moment.kind) {
      case JobMoment::Kind::kStarted:
        if (std::exchange(in_run, false)) ++bad;
        break;
      case JobMoment::Kind::kRunStarted:
        in_run = true;
        break;
      case JobMoment::Kind::kAttempt:
        ++(moment.code == Code::kOk ? good : bad);
        break;
      case JobMoment::Kind::kRunFailed:
        in_run = false;
        break;
      default:
        break;
    }
  }
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CHECKERS_ATTEMPTS_H_
