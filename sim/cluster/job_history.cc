#include "vigil/sim/cluster/job_history.h"

namespace vigil::sim {

std::int64_t RestoresWithoutLoss(const JobHistory& history) {
  std::int64_t reached = 0;
  std::int64_t saved = 0;
  std::int64_t restores = 0;
  for (const JobMoment& moment : history) {
    if (moment.kind == JobMoment::Kind::kSawStep || moment.kind == JobMoment::Kind::kRunReturned) reached = moment.step;
    if (moment.kind == JobMoment::Kind::kSaved) saved = moment.step;
    if (moment.kind == JobMoment::Kind::kRestored && moment.code == Code::kOk && reached <= saved) ++restores;
  }
  return restores;
}

}  // namespace vigil::sim
