// What servers hold while a job goes on: graphs of sessions that are open, and steps that run.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "vigil/sim/checkers/checker.h"

namespace vigil::sim {
namespace {

// A goodbye is said for half a minute, and what is owed when its master hears of the server again: with a graph, a
// session, a step, or as it looks after the servers of a step, which it does every two minutes.
constexpr std::chrono::minutes kForgotten{4};
// That begin or end at the moment.
constexpr std::size_t kPassing = 8;

// Who looks once a minute does so a bit later than that.
bool IsTooLong(Duration held) { return std::chrono::floor<std::chrono::seconds>(held) > kForgotten; }

void CheckHoldings(const JobRun& run, Findings& findings) {
  // Everybody who dies is known to be dead then, unless its machine went with it and says nothing.
  const bool told = std::ranges::none_of(run.spec.plan.timed, [](const TimedFault& fault) { return fault.silently; });
  for (const JobMoment& moment : run.history) {
    if (moment.kind != JobMoment::Kind::kHolds) continue;
    findings.Arm();
    const Overdue& overdue = *moment.overdue;
    if (IsTooLong(overdue.session_for)) {
      findings.Violate(moment, fmt::format("graphs of open sessions, or for {:g} s more", ToSeconds(kForgotten)),
                       fmt::format("graphs of {}, which its master has not known for {:g} s", overdue.session,
                                   ToSeconds(overdue.session_for)));
    }
    if (told && IsTooLong(overdue.dead_for)) {
      findings.Violate(
          moment, fmt::format("work and waits for steps of who is there, or for {:g} s more", ToSeconds(kForgotten)),
          fmt::format("one of a process that has been gone for {:g} s", ToSeconds(overdue.dead_for)));
    }
    if (overdue.stale_steps > kPassing) {
      findings.Violate(moment, "as many steps that run as there are",
                       fmt::format("{} more in the books of its master", overdue.stale_steps));
    }
  }
}

}  // namespace

const Checker kHoldsForSessions = {
    .id = "server.holds_for_sessions",
    .sentence =
        "Once everything has healed a server holds graphs of open sessions alone, and works and waits for steps of "
        "processes that are there, or lets go of them within four minutes; and a master knows of no more steps than "
        "run.",
    .source =
        "core/cluster/goodbye.h: a goodbye that gets lost is owed, and said when a master has heard of that server",
    .check = CheckHoldings,
    .excuses =
        "graphs whose master's process is gone, and values that it will never fetch; steps where a machine has died in "
        "silence; eight steps",
    .why =
        "who dies says no goodbye, which a later process of its task makes up for, and in silence not even that; steps "
        "that begin or end are counted here or there",
};

}  // namespace vigil::sim
