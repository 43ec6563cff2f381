// What the servers say of each update, held against what its replica was told: by the identity of the update, not by
// counts before and after. Each server tells of every write to the count that it keeps of a replica's updates
// (sim/cluster/update_watch.h): one applied, or the count overwritten, by a restore or an initialisation.
//
// * An update changes what was there by one. What was overwritten stays overwritten, and nothing else changes. Two
//   that a server applies at once it may tell of in either order: none is missing when a run of their replica returns.
// * An attempt applies at most once to each server, whether it comes back or not, by its number; the one that comes
//   back, exactly once to all of them before it does. An attempt that failed may apply late, but not after the next run
//   of its replica has returned.
// * A read gives a value that the variable had at some time between the beginning of the attempt and its return: the
//   reads and writes of one count are linearizable. A restore excuses nothing here: it is a write like any other.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vigil/sim/checkers/attempts.h"
#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/reach.h"

namespace vigil::sim {
namespace {

// Of one replica on one server.
struct AppliedCount {
  std::optional<std::int64_t> now;    // none: the server has begun anew
  std::set<std::int64_t> early;       // counts beyond now that were told before those between
  std::vector<std::int64_t> held;     // since the attempt began
  std::set<std::int64_t> ever;        // attempts that were applied
  std::set<std::int64_t> in_attempt;  // since the attempt began
  std::int64_t applied_since = 0;     // the last run that returned

  void Begin() {
    held.clear();
    if (now.has_value()) held.push_back(*now);
    held.insert(held.end(), early.begin(), early.end());
    in_attempt.clear();
  }

  void Set(std::int64_t count) {
    now = count;
    early.clear();
  }

  // false: no update can have made it.
  bool Update(std::int64_t count) {
    if (!now.has_value() || count <= *now || !early.insert(count).second) {
      Set(count);
      return false;
    }
    while (early.erase(*now + 1) > 0) ++*now;
    return true;
  }
};

class AppliedUpdates {
 public:
  explicit AppliedUpdates(Findings& findings) : findings_(findings) {}

  void See(const JobMoment& moment) {
    if (!IsServer(moment.task)) attempts_[moment.task].See(moment);
    switch (moment.kind) {
      case JobMoment::Kind::kReplaced:
        Replace(moment);
        break;
      case JobMoment::Kind::kHealed:  // zombies are gone
        for (auto& [replica, followed] : followed_) followed.gone = true;
        break;
      case JobMoment::Kind::kStarted:
        if (IsServer(moment.task)) {
          for (auto& [replica, count] : counts_[moment.task]) count.now.reset(), count.early.clear();
        }
        break;
      case JobMoment::Kind::kApplied:
        Apply(moment);
        break;
      case JobMoment::Kind::kAssigned:
        for (const std::string& viewer : ViewersOf(moment.subject)) {
          AppliedCount& count = counts_[moment.task][viewer];
          count.Set(moment.step);
          count.held.push_back(moment.step);
        }
        break;
      case JobMoment::Kind::kRunStarted:
        Begin(moment.task);
        break;
      case JobMoment::Kind::kAttempt:
        if (moment.code != Code::kOk) Begin(moment.task);
        break;
      case JobMoment::Kind::kRecovery:
        Begin(moment.task);
        break;
      case JobMoment::Kind::kRunReturned:
        Return(moment);
        break;
      default:
        break;
    }
  }

 private:
  // A replica that several processes are, each of which sees the updates of all.
  struct Followed {
    std::vector<std::string> zombies;
    bool gone = false;  // they are
  };

  void Replace(const JobMoment& moment) {
    const std::string& replica = moment.subject;
    followed_[replica].zombies.push_back(moment.task);
    attempts_[moment.task] = attempts_[replica];
    for (auto& [server, replicas] : counts_) replicas[moment.task] = replicas[replica];
  }

  std::vector<std::string> ViewersOf(const std::string& replica) const {
    std::vector<std::string> viewers = {replica};
    const auto found = followed_.find(replica);
    if (found != followed_.end())
      viewers.insert(viewers.end(), found->second.zombies.begin(), found->second.zombies.end());
    return viewers;
  }

  void Begin(const std::string& replica) {
    for (auto& [server, replicas] : counts_) replicas[replica].Begin();
  }

  void Apply(const JobMoment& moment) {
    findings_.Arm();
    AppliedCount& count = counts_[moment.task][moment.subject];
    const std::optional<std::int64_t> before = count.now;
    if (!count.Update(moment.step)) {
      findings_.Violate(
          moment,
          before.has_value()
              ? fmt::format("a count of {} after one more update of {}", *before + 1, moment.subject)
              : fmt::format("no update of {}: the model was neither restored nor initialised", moment.subject),
          fmt::format("{}", moment.step));
    }
    if (moment.attempt != 0 && !count.ever.insert(moment.attempt).second) {
      findings_.Violate(moment, fmt::format("each attempt of {} once", moment.subject), "one that was applied before");
    }
    for (const std::string& viewer : ViewersOf(moment.subject)) {
      AppliedCount& seen = counts_[moment.task][viewer];
      seen.now = count.now;
      seen.early = count.early;
      seen.held.push_back(moment.step);
      seen.in_attempt.insert(moment.attempt);
      ++seen.applied_since;
    }
  }

  void Return(const JobMoment& moment) {
    Attempts& attempts = attempts_[moment.task];
    const auto followed = followed_.find(std::string(WithoutZombie(moment.task)));
    std::optional<std::set<std::int64_t>> everywhere;  // attempts that were applied on all servers
    for (std::size_t i = 0; i < moment.ledger.size(); ++i) {
      const std::string server = fmt::format("ps:{}", i);
      const auto replicas = counts_.find(server);
      if (replicas == counts_.end()) continue;  // nobody watched it
      AppliedCount& count = replicas->second[moment.task];
      findings_.Arm();
      if (count.in_attempt.empty()) {
        findings_.Violate(moment, fmt::format("an update on {} before the run returned", server), "none");
      }
      if (followed == followed_.end() && count.applied_since > attempts.most()) {
        findings_.Violate(moment, fmt::format("at most {} updates on {}, one an attempt", attempts.most(), server),
                          fmt::format("{}", count.applied_since));
      }
      if (followed == followed_.end() && !count.early.empty()) {
        findings_.Violate(moment, fmt::format("an update to {} on {}", *count.now + 1, server),
                          fmt::format("one to {}", *count.early.begin()));
      }
      const auto read = static_cast<std::int64_t>(moment.ledger[i]);
      if (std::ranges::find(count.held, read) == count.held.end()) {
        findings_.Violate(moment,
                          fmt::format("a count that {} had during the run ({})", server, fmt::join(count.held, ", ")),
                          fmt::format("{}", read));
      }
      count.applied_since = 0;
      if (!everywhere.has_value()) {
        everywhere = count.in_attempt;
      } else {
        std::erase_if(*everywhere, [&](std::int64_t attempt) { return !count.in_attempt.contains(attempt); });
      }
    }
    if (everywhere.has_value() && everywhere->empty()) {
      findings_.Violate(moment, "one attempt that was applied on every server before the run returned", "none");
    }
    attempts = Attempts();
    if (followed != followed_.end() && followed->second.gone) followed_.erase(followed);
  }

  Findings& findings_;
  std::map<std::string, Followed, std::less<>> followed_;
  std::map<std::string, std::map<std::string, AppliedCount, std::less<>>, std::less<>> counts_;  // by server, replica
  std::map<std::string, Attempts, std::less<>> attempts_;
};

void CheckApplied(const JobRun& run, Findings& findings) {
  AppliedUpdates updates(findings);
  for (const JobMoment& moment : run.history) updates.See(moment);
}

}  // namespace

const Checker kUpdatesAsApplied = {
    .id = "updates.as_applied",
    .sentence =
        "As the servers tell it: each attempt of an update applies at most once to each server, the one that returns "
        "to all of them before it does; and what it reads of its count is a value that the count had meanwhile.",
    .source = "linearizability of one variable, lost operations applied once or never; MonitoredSession r1.4, Run",
    .check = CheckApplied,
    .stays =
        "What is lost or repeated for good updates.exactly_once finds in the next count. It alone looks at what comes "
        "close to a restore.",
    .excuses =
        "an attempt that failed and applies late, until the next run of its replica has returned, and until then the "
        "order in which a server tells of two updates; updates of the other process where a replica that was taken for "
        "dead goes on beside the one that follows it (zombie), until one of them returns after everything has healed",
    .why =
        "nobody knows of a lost operation whether it was applied, and a server that has changed a variable may tell of "
        "it later; both count as the same replica, each attempt still once",
};

}  // namespace vigil::sim
