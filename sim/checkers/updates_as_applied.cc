// What the servers say of each update, held against what its replica was told: by the identity of the update, not by
// counts before and after. Each server tells of every write to the count that it keeps of a replica's updates
// (sim/cluster/update_watch.h): one applied, or the count overwritten, by a restore or an initialisation.
//
// * An update changes what was there by one. What was overwritten stays overwritten, and nothing else changes: each
//   took place at some time between its beginning and its being told, and there is an order of all that explains them.
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
#include "vigil/sim/checkers/counter_model.h"
#include "vigil/sim/checkers/linearizability.h"
#include "vigil/sim/checkers/reach.h"
#include "vigil/sim/checkers/writes.h"

namespace vigil::sim {
namespace {

// The updates of one replica on one server, as one number that is written.
class WrittenCount {
 public:
  // `write` has begun: history[id]. It will be told.
  void Begin(std::size_t id, const JobMoment& write) {
    under_way_[id] = &write;
    search_.Call(static_cast<std::int64_t>(id), OperationOf(write), write.at.since_epoch.count());
  }
  // Where nothing explains it, it is believed.
  Linearizer<CounterModel>::Verdict End(std::size_t id, const JobMoment& write) {
    if (!under_way_.contains(id)) Begin(id, write);
    const Search::Verdict verdict = search_.Return(static_cast<std::int64_t>(id));
    under_way_.erase(id);
    if (verdict == Search::Verdict::kExplained) return verdict;
    search_.Restart(write.step);
    for (const auto& [other, open] : std::exchange(under_way_, {})) Begin(other, *open);
    return verdict;
  }
  // The server begins anew: nothing is there.
  void Die() {
    under_way_.clear();
    search_.Restart(std::nullopt);
  }
  // What may be there now; nothing: it was neither restored nor initialised.
  std::set<std::int64_t> Values() const {
    std::set<std::int64_t> values;
    for (const CounterModel::State& state : search_.States()) {
      if (state.has_value()) values.insert(*state);
    }
    return values;
  }
  // ... or very soon.
  std::set<std::int64_t> ValuesSoon() const {
    std::set<std::int64_t> values = Values();
    for (const auto& [id, write] : under_way_) values.insert(write->step);
    return values;
  }

 private:
  using Search = Linearizer<CounterModel>;

  static CounterModel::Operation OperationOf(const JobMoment& write) {
    using Does = CounterModel::Operation::Does;
    return {.does = write.kind == JobMoment::Kind::kApplied ? Does::kAddTo : Does::kAssign, .number = write.step};
  }

  std::map<std::size_t, const JobMoment*> under_way_;
  Search search_{std::nullopt};
};

// What one process knows of them.
struct SeenCount {
  std::vector<std::int64_t> held;     // since the attempt began
  std::set<std::int64_t> ever;        // attempts that were applied
  std::set<std::int64_t> in_attempt;  // since the attempt began
  std::int64_t applied_since = 0;     // the last run that returned
};

class AppliedUpdates {
 public:
  explicit AppliedUpdates(Findings& findings) : findings_(findings) {}

  void Begun(std::size_t place, const JobMoment& write) {
    if (!IsOfACount(write)) return;
    writes_[write.task][write.subject].Begin(place, write);
    for (const std::string& viewer : ViewersOf(write.subject)) counts_[write.task][viewer].held.push_back(write.step);
  }

  void See(std::size_t place, const JobMoment& moment) {
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
          for (auto& [replica, count] : writes_[moment.task]) count.Die();
        }
        break;
      case JobMoment::Kind::kApplied:
        Apply(place, moment);
        break;
      case JobMoment::Kind::kAssigned:
        writes_[moment.task][moment.subject].End(place, moment);
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
    for (auto& [server, replicas] : counts_) {
      SeenCount& seen = replicas[replica];
      const std::set<std::int64_t> values = writes_[server][std::string(WithoutZombie(replica))].ValuesSoon();
      seen.held.assign(values.begin(), values.end());
      seen.in_attempt.clear();
    }
  }

  void Apply(std::size_t place, const JobMoment& moment) {
    findings_.Arm();
    WrittenCount& written = writes_[moment.task][moment.subject];
    const std::set<std::int64_t> before = written.Values();
    const auto verdict = written.End(place, moment);
    using Verdict = Linearizer<CounterModel>::Verdict;
    if (verdict == Verdict::kGivenUp) {  // not in silence: this judge is blind then
      findings_.Violate(moment, fmt::format("fewer orders of the updates of {} that are under way", moment.subject),
                        "too many to look at");
    } else if (verdict == Verdict::kImpossible) {
      findings_.Violate(
          moment,
          !before.empty()
              ? fmt::format("one more update of {} than {}", moment.subject, fmt::join(before, " or "))
              : fmt::format("no update of {}: the model was neither restored nor initialised", moment.subject),
          fmt::format("{}", moment.step));
    }
    SeenCount& count = counts_[moment.task][moment.subject];
    if (moment.attempt != 0 && !count.ever.insert(moment.attempt).second) {
      findings_.Violate(moment, fmt::format("each attempt of {} once", moment.subject), "one that was applied before");
    }
    for (const std::string& viewer : ViewersOf(moment.subject)) {
      SeenCount& seen = counts_[moment.task][viewer];
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
      SeenCount& count = replicas->second[moment.task];
      findings_.Arm();
      if (count.in_attempt.empty()) {
        findings_.Violate(moment, fmt::format("an update on {} before the run returned", server), "none");
      }
      if (followed == followed_.end() && count.applied_since > attempts.most()) {
        findings_.Violate(moment, fmt::format("at most {} updates on {}, one an attempt", attempts.most(), server),
                          fmt::format("{}", count.applied_since));
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
  // By server, replica; the latter also of each process that is it.
  std::map<std::string, std::map<std::string, WrittenCount, std::less<>>, std::less<>> writes_;
  std::map<std::string, std::map<std::string, SeenCount, std::less<>>, std::less<>> counts_;
  std::map<std::string, Attempts, std::less<>> attempts_;
};

void CheckApplied(const JobRun& run, Findings& findings) {
  AppliedUpdates updates(findings);
  WritesBegun writes(*run.writes);
  for (std::size_t place = 0; place < run.history.size(); ++place) {
    writes.BegunBy(place, [&](std::size_t begun) { updates.Begun(begun, run.history[begun]); });
    updates.See(place, run.history[place]);
  }
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
        "an attempt that failed and applies late, until the next run of its replica has returned; the order in which a "
        "server tells of what was under way there at once; updates of the other process where a replica that was taken "
        "for "
        "dead goes on beside the one that follows it (zombie), until one of them returns after everything has healed",
    .why =
        "nobody knows of a lost operation whether it was applied, and a server that has changed a variable may tell of "
        "it later; both count as the same replica, each attempt still once",
};

}  // namespace vigil::sim
