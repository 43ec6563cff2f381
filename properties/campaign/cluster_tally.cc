#include "vigil/properties/campaign/cluster_tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "vigil/core/base/time.h"
#include "vigil/properties/judge/node_rules.h"
#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/faults/fault_kinds.h"

namespace vigil::properties {
namespace {

double Ratio(double count, std::uint64_t of) { return of == 0 ? 0 : count / static_cast<double>(of); }

}  // namespace

void ClusterTally::Add(const sim::JobFacts& facts) {
  ++jobs;
  virtual_us += static_cast<std::uint64_t>(facts.virtual_time / std::chrono::microseconds(1));
  messages += facts.messages;
  std::int64_t recoveries = 0;
  for (const auto& [name, task] : facts.tasks) {
    steps += static_cast<std::uint64_t>(task.runs);
    recoveries += task.recoveries;
    ++outcomes[task.outcome];
  }
  if (recoveries > 0) ++recovered;
  std::uint64_t effective = 0;
  for (const sim::FaultCount& count : facts.faults) {
    FaultKind& kind = faults[count.kind];
    kind.planned += static_cast<std::uint64_t>(count.planned);
    kind.fired += static_cast<std::uint64_t>(count.fired);
    kind.effective += static_cast<std::uint64_t>(count.effective);
    if (count.effective > 0) ++kind.jobs;
    // What a link does to every message counts once.
    effective += static_cast<std::uint64_t>(std::min(count.effective, count.planned));
  }
  ++effective_faults[effective];
  for (const auto& [rule, times] : facts.armed) armed[rule] += static_cast<std::uint64_t>(times);
  std::set<std::string> rules;
  for (const sim::JobViolation& violation : facts.violations) rules.insert(violation.rule);
  for (const std::string& rule : rules) ++violated[rule];
}

void ClusterTally::Add(const ClusterTally& other) {
  jobs += other.jobs;
  recovered += other.recovered;
  steps += other.steps;
  messages += other.messages;
  hash += other.hash;
  virtual_us += other.virtual_us;
  for (const auto& [name, kind] : other.faults) {
    FaultKind& mine = faults[name];
    mine.jobs += kind.jobs;
    mine.planned += kind.planned;
    mine.fired += kind.fired;
    mine.effective += kind.effective;
  }
  for (const auto& [name, count] : other.armed) armed[name] += count;
  for (const auto& [name, count] : other.violated) violated[name] += count;
  for (const auto& [name, count] : other.outcomes) outcomes[name] += count;
  for (const auto& [faults_of_a_job, count] : other.effective_faults) effective_faults[faults_of_a_job] += count;
}

double ClusterTally::VirtualSecondsAJob() const { return Ratio(static_cast<double>(virtual_us) / 1e6, jobs); }
double ClusterTally::StepsAJob() const { return Ratio(static_cast<double>(steps), jobs); }
double ClusterTally::RecoveredShare() const { return Ratio(static_cast<double>(recovered), jobs); }

std::uint64_t ClusterTally::MedianEffectiveFaults() const {
  std::uint64_t seen = 0;
  for (const auto& [count, times] : effective_faults) {
    seen += times;
    if (2 * seen >= jobs) return count;
  }
  return 0;
}

std::vector<std::string> ClusterTally::Incomplete() const {
  std::vector<std::string> missing;
  for (const sim::FaultKindInfo& kind : sim::AllFaultKinds()) {
    const auto found = faults.find(std::string(kind.name));
    if (found == faults.end() || found->second.fired == 0) {
      missing.push_back(fmt::format("the fault {} never fired", kind.name));
    } else if (found->second.effective == 0) {
      missing.push_back(
          fmt::format("the fault {} fired {} times and never changed anything", kind.name, found->second.fired));
    }
  }
  const auto require = [&](std::string_view invariant) {
    const auto found = armed.find(std::string(invariant));
    if (found == armed.end() || found->second == 0)
      missing.push_back(fmt::format("invariant {} was never armed", invariant));
  };
  for (const sim::Checker& checker : sim::Checkers()) require(checker.id);
  require(kNodeRules);
  return missing;
}

std::string ClusterTally::Text() const {
  std::string text = fmt::format("{:<44}{:>10}{:>10}{:>10}\n", "fault", "planned", "fired", "effective");
  for (const auto& [name, kind] : faults)
    text += fmt::format("{:<44}{:>10}{:>10}{:>10}\n", name, kind.planned, kind.fired, kind.effective);
  text += fmt::format("\n{:<44}{:>10}{:>10}\n", "invariant", "armed", "violated");
  for (const auto& [name, count] : armed) {
    const auto found = violated.find(name);
    text += fmt::format("{:<44}{:>10}{:>10}\n", name, count, found == violated.end() ? 0 : found->second);
  }
  text += fmt::format("\n{:<44}{:>10}\n", "end of a task", "tasks");
  for (const auto& [outcome, count] : outcomes) text += fmt::format("{:<44}{:>10}\n", outcome, count);
  text += fmt::format(
      "\n{} jobs: on average {:.0f} virtual seconds, {:.0f} training steps, {:.0f} messages; {:.0f} % with a recovery; "
      "effective faults in the median {}\n",
      jobs, VirtualSecondsAJob(), StepsAJob(), Ratio(static_cast<double>(messages), jobs), 100 * RecoveredShare(),
      MedianEffectiveFaults());
  // Plays by processes have none: they go another way each time.
  if (hash != 0) text += fmt::format("all plays together have the hash {:016x}\n", hash);
  return text;
}

}  // namespace vigil::properties
