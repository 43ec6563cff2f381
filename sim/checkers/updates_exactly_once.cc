// The ledger: in every step of a replica, each parameter server also counts it, by the same op that updates the model.
//
// Between two runs that returned, the count of the own replica grows by one for the run itself, and by at most one for
// each attempt that failed since: it may have taken effect on some servers before it failed. Where the model was
// restored or initialised meanwhile (by anybody: the variables are everybody's) the count begins anew from what the
// checkpoint had.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "vigil/sim/checkers/checker.h"

namespace vigil::sim {
namespace {

// A restore is seen in the variables before the chief has heard of its end.
constexpr std::chrono::minutes kRestoreTakes{10};

struct Replica {
  std::vector<float> last;    // of the last run that returned
  Time last_started;          // that run
  Time started;               // the run under way
  std::int64_t attempts = 0;  // raw runs since the last run that returned, but for the one that makes it return
  bool came_back = false;     // one of them
};

bool RestoredBetween(const JobHistory& history, Time from, Time to) {
  return std::ranges::any_of(history, [&](const JobMoment& moment) {
    return (moment.kind == JobMoment::Kind::kRestored || moment.kind == JobMoment::Kind::kInitialised) &&
           moment.at >= from && moment.at <= to + kRestoreTakes;
  });
}

void CompareLedgers(const JobRun& run, const JobMoment& moment, const Replica& replica, Findings& findings) {
  for (std::size_t i = 0; i < moment.ledger.size(); ++i) {
    findings.Arm();
    const float least = replica.last[i] + 1;
    const float most = least + static_cast<float>(replica.attempts);
    if (moment.ledger[i] >= least && moment.ledger[i] <= most) continue;
    if (RestoredBetween(run.history, replica.last_started, moment.at)) continue;
    findings.Violate(moment,
                     fmt::format("{:g} to {:g} updates on ps:{} ({:g} before, {} failed attempts)", least, most, i,
                                 replica.last[i], replica.attempts),
                     fmt::format("{:g}", moment.ledger[i]));
  }
}

void CheckUpdates(const JobRun& run, Findings& findings) {
  std::map<std::string, Replica, std::less<>> replicas;
  for (const JobMoment& moment : run.history) {
    Replica& replica = replicas[moment.task];
    switch (moment.kind) {
      case JobMoment::Kind::kStarted:
        replica = Replica();
        break;
      case JobMoment::Kind::kRunStarted:
        replica.started = moment.at;
        break;
      case JobMoment::Kind::kAttempt:
        // One that came back is repeated if a hook behind it failed.
        if (moment.code != Code::kOk || std::exchange(replica.came_back, true)) ++replica.attempts;
        break;
      case JobMoment::Kind::kRunReturned:
        if (!replica.last.empty()) CompareLedgers(run, moment, replica, findings);
        replica.last = moment.ledger;
        replica.last_started = replica.started;
        replica.attempts = 0;
        replica.came_back = false;
        break;
      default:
        break;
    }
  }
}

}  // namespace

const Checker kUpdatesExactlyOnce = {
    .id = "updates.exactly_once",
    .sentence =
        "A run that returned has applied each of its updates exactly once; a failed attempt at most once to each "
        "variable.",
    .source =
        "issue threads on lost and repeated updates; MonitoredSession r1.4, Run: a recovered call is repeated as a "
        "whole",
    .check = CheckUpdates,
    .stays =
        "It looks from outside, at what sessions read. updates.as_applied believes what the servers tell, and sees "
        "nothing where one does not tell.",
    .excuses =
        "as many further updates as attempts were made in vain since the last run that returned; counts around a "
        "restore or an initialisation of the model, up to ten minutes before its end is heard of, which "
        "updates.as_applied "
        "does not excuse",
    .why =
        "a failed attempt may have taken effect on some servers, and what a restore brings is what the checkpoint had",
};

}  // namespace vigil::sim
