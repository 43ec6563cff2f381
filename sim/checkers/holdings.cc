// What servers hold while a job goes on: graphs of sessions that are open, and steps that run.
#include <fmt/format.h>

#include <chrono>

#include "vigil/sim/checkers/checker.h"

namespace vigil::sim {
namespace {

// A goodbye is said for half a minute, and what is owed with the next one, or when the session's master looks after its
// servers, which it does within two minutes.
constexpr std::chrono::minutes kForgotten{4};
// That begin or end at the moment.
constexpr std::int64_t kPassing = 8;

void CheckHoldings(const JobRun& run, Findings& findings) {
  for (const JobMoment& moment : run.history) {
    if (moment.kind != JobMoment::Kind::kHolds) continue;
    findings.Arm();
    if (std::chrono::seconds(moment.step) > kForgotten) {
      findings.Violate(
          moment, fmt::format("graphs of open sessions, or for {:g} s more", ToSeconds(kForgotten)),
          fmt::format("graphs of {}, which its master has not known for {} s", moment.subject, moment.step));
    }
    if (moment.attempt > kPassing) {
      findings.Violate(moment, "as many steps that run as there are",
                       fmt::format("{} more in the books of its master", moment.attempt));
    }
  }
}

}  // namespace

const Checker kHoldsForSessions = {
    .id = "server.holds_for_sessions",
    .sentence =
        "Once everything has healed a server holds graphs of open sessions alone, or lets go of them within four "
        "minutes, and a master knows of no more steps than run.",
    .source = "core/cluster/goodbye.h: a goodbye that gets lost is owed, and said with the next one to that server",
    .check = CheckHoldings,
    .excuses = "sessions whose master's process is gone; eight steps",
    .why = "who dies says no goodbye; steps that begin or end are counted here or there already",
};

}  // namespace vigil::sim
