// A session is there for as long as its client is, and whatever that has given up before.
#include <fmt/format.h>

#include <optional>

#include "vigil/core/base/code.h"
#include "vigil/sim/checkers/checker.h"

namespace vigil::sim {
namespace {

// From then on all servers are there, and whatever the faults had broken is known to be.
constexpr std::chrono::minutes kAllAreThere{3};

void CheckIdle(const JobRun& run, Findings& findings) {
  std::optional<Time> healed;
  for (const JobMoment& moment : run.history) {
    if (moment.kind == JobMoment::Kind::kHealed) healed = moment.at;
    if (moment.kind != JobMoment::Kind::kCameBack || !healed.has_value()) continue;
    const Duration idle = std::chrono::seconds(moment.step);  // or since it was made
    if (moment.at < *healed + kAllAreThere + idle) continue;
    findings.Arm();
    if (moment.code == Code::kOk) continue;
    findings.Violate(moment, fmt::format("an answer of a session that was there {:.0f} s before", ToSeconds(idle)),
                     CodeName(moment.code));
  }
}

}  // namespace

const Checker kIdleSessionsStay = {
    .id = "session.idle_one_stays",
    .sentence =
        "A session whose client lives is there when that comes back to it, however long it was idle, and when it has "
        "given up runs in the middle, and answers rightly.",
    .source =
        "TensorFlow's master keeps a session until it is closed; ours until nothing is heard of its client "
        "(MasterSession::Watch)",
    .check = CheckIdle,
    .excuses = "sessions that had begun to be idle before three minutes after everything has healed",
    .why = "a master that died, or could not be reached for long, has lost its sessions or given them up",
};

}  // namespace vigil::sim
