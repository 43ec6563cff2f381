// The ledger: in every step of a replica, each parameter server also counts it, by the same op that updates the model.
//
// Between two runs that returned, the count of the own replica grows by one for the run itself, and by at most one for
// each attempt that failed since: it may have taken effect on some servers before it failed. One that has not when the
// run that returns reads the count may yet, until that run has returned: the next one reads it. A process that begins
// anew goes on with the count of the one before it, whose last run was cut off. Where the model was restored or
// initialised meanwhile (by anybody: the variables are everybody's), as its server says, the count begins anew from
// what the checkpoint had.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "vigil/sim/checkers/attempts.h"
#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/writes.h"

namespace vigil::sim {
namespace {

struct Replica {
  std::vector<float> last;       // of the last run that returned
  std::vector<float> late;       // attempts that failed before it and that it did not count
  std::size_t last_started = 0;  // that run: its place in the history
  std::size_t started = 0;       // the run under way
  Attempts attempts;

  // That no run has returned from, but for the one that makes it return.
  float InVain() const { return static_cast<float>(attempts.most() - 1); }
};

// Replicas that several processes are: the old one was taken for dead, and lives on until everything has healed.
using FollowedReplicas = std::map<std::string, bool, std::less<>>;  // whether everything has healed

// Where in the history each count was last overwritten, which began or was told there: by server and replica.
using Overwritten = std::map<std::pair<std::string, std::string>, std::size_t>;

void CompareLedgers(const Overwritten& overwritten, const JobMoment& moment, Replica& replica, bool alone,
                    Findings& findings) {
  for (std::size_t i = 0; i < moment.ledger.size(); ++i) {
    findings.Arm();
    const float least = replica.last[i] + 1;
    const float most = least + replica.InVain() + replica.late[i];
    const auto place = overwritten.find({fmt::format("ps:{}", i), std::string(WithoutZombie(moment.task))});
    const bool anew = place != overwritten.end() && place->second >= replica.last_started;
    // Where others have changed the count nobody knows which of the attempts are in it.
    replica.late[i] = anew || !alone ? replica.InVain() : std::clamp(most - moment.ledger[i], 0.0F, replica.InVain());
    if (anew || (moment.ledger[i] >= least && (moment.ledger[i] <= most || !alone))) continue;
    findings.Violate(moment,
                     fmt::format("{:g} to {:g} updates on ps:{} ({:g} before, {:g} failed attempts)", least, most, i,
                                 replica.last[i], most - least),
                     fmt::format("{:g}", moment.ledger[i]));
  }
}

void CheckUpdates(const JobRun& run, Findings& findings) {
  std::map<std::string, Replica, std::less<>> replicas;
  Overwritten overwritten;
  FollowedReplicas followed;
  WritesBegun writes(*run.writes);
  for (std::size_t place = 0; place < run.history.size(); ++place) {
    const JobMoment& moment = run.history[place];
    writes.BegunBy(place, [&](std::size_t begun) {
      const JobMoment& write = run.history[begun];
      if (write.kind == JobMoment::Kind::kAssigned) overwritten[{write.task, write.subject}] = place;
    });
    Replica& replica = replicas[moment.task];
    replica.attempts.See(moment);
    switch (moment.kind) {
      case JobMoment::Kind::kReplaced:
        replica = replicas[moment.subject];
        followed[moment.subject] = false;
        break;
      case JobMoment::Kind::kHealed:
        for (auto& [name, healed] : followed) healed = true;
        break;
      case JobMoment::Kind::kRunStarted:
        replica.started = place;
        break;
      case JobMoment::Kind::kAssigned:
        overwritten[{moment.task, moment.subject}] = place;
        break;
      case JobMoment::Kind::kRunReturned:
        if (const auto other = followed.find(WithoutZombie(moment.task)); !replica.last.empty()) {
          CompareLedgers(overwritten, moment, replica, other == followed.end(), findings);
        } else {
          replica.late.assign(moment.ledger.size(), replica.InVain());
        }
        std::erase_if(followed, [&](const auto& entry) { return entry.second && entry.first == moment.task; });
        replica.last = moment.ledger;
        replica.last_started = replica.started;
        replica.attempts = Attempts();
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
        "as many further updates as attempts were made in vain since the last run that returned, or before it and not "
        "counted by it; counts that a restore or an initialisation of the model has overwritten, as their server says, "
        "since the last run that returned began; updates of the other process where a replica that was taken for dead "
        "goes on (zombie), until a run returns "
        "after everything has healed",
    .why =
        "a failed attempt may have taken effect on some servers, or take effect after the next one has read the count; "
        "and what a restore brings is what the checkpoint had; two processes of one replica share its count",
};

}  // namespace vigil::sim
