// That a job gets on once nothing keeps it from it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/reach.h"

namespace vigil::sim {
namespace {

// Longer than a creation of a session (a minute), and than a silent server is waited for (two).
constexpr std::chrono::minutes kSoon{5};
// From then on whatever was under way when the faults ended has come to its end.
constexpr std::chrono::minutes kSettled{3};

constexpr std::string_view kComesBack = "a run that begins or is under way when everything has healed comes back";

struct Progress {
  Time since;                  // everything has healed and the life has begun
  std::optional<Time> run;     // under way, from then
  Time tried;                  // the same, or when a recovery began it anew
  std::int64_t came_back = 0;  // runs, since then
};

void CheckProgress(const JobRun& run, Findings& findings) {
  if (!NobodyStaysAway(run.facts)) return;
  std::map<std::string, Progress, std::less<>> tasks;
  std::optional<Time> healed;
  std::optional<Time> left;  // the first one: who waits for him, for ever, may give up
  const auto stood_before = [&left](Time since) { return !left.has_value() || since + kSoon <= *left; };
  for (const JobMoment& moment : run.history) {
    if (moment.kind == JobMoment::Kind::kHealed) {
      healed = moment.at;
      for (auto& [name, progress] : tasks) {
        progress.since = moment.at;
        progress.came_back = 0;
      }
      continue;
    }
    if (moment.task.empty() || IsZombie(moment.task) || IsServer(moment.task) || moment.task.starts_with(kEvaluatorJob))
      continue;
    Progress& progress = tasks[moment.task];
    switch (moment.kind) {
      case JobMoment::Kind::kStarted:
        progress = {.since = moment.at};
        break;
      case JobMoment::Kind::kRunStarted:
        progress.run = progress.tried = moment.at;
        break;
      case JobMoment::Kind::kRecovery: {
        const Time tried = std::exchange(progress.tried, moment.at);
        const bool stood = healed.has_value() && tried < *healed + kSettled && moment.at >= *healed + kSoon;
        if (!stood || !progress.run.has_value() || !stood_before(std::max(tried, *healed))) break;
        findings.Arm();
        findings.Violate(moment, kComesBack, fmt::format("a recovery after {:.0f} s", ToSeconds(moment.at - tried)));
        break;
      }
      case JobMoment::Kind::kRunReturned:
      case JobMoment::Kind::kEvaluated:
        ++progress.came_back;
        break;
      case JobMoment::Kind::kAnswered:
        if (moment.code == Code::kOk && moment.answer->wrong.empty()) ++progress.came_back;
        break;
      case JobMoment::Kind::kRunFailed:
        if (!healed.has_value() || !progress.run.has_value()) break;
        // One that was under way, too, must have come to its end: nothing keeps it any more.
        if (*progress.run < *healed + kSettled && moment.at < *healed + kSoon) break;
        if (!stood_before(std::max(*progress.run, *healed))) break;
        findings.Arm();
        if (moment.code != Code::kDeadlineExceeded) break;
        findings.Violate(moment, kComesBack,
                         fmt::format("{} after {:.0f} s", CodeName(moment.code), ToSeconds(moment.at - *progress.run)));
        break;
      case JobMoment::Kind::kEnded: {
        const bool stood = stood_before(progress.since);
        if (!left.has_value()) left = moment.at;
        if (!healed.has_value() || !stood) break;
        findings.Arm();
        if (moment.code == Code::kOk || progress.came_back > 0 || moment.at < progress.since + kSoon) break;
        findings.Violate(moment, fmt::format("a run that comes back within {:.0f} min", ToSeconds(kSoon) / 60),
                         fmt::format("none, and the end {}", CodeName(moment.code)));
        break;
      }
      default:
        break;
    }
  }
}

}  // namespace

const Checker kGetsOnWhenHealed = {
    .id = "job.gets_on_when_healed",
    .sentence =
        "When every fault has ended and every node is there, a task that does not end at once trains: a run comes "
        "back, and no run stands until its deadline.",
    .source = "pains 3 to 6: replicas that stood still for ever",
    .needs = &Behaviour::bounded_recovery,
    .check = CheckProgress,
    .stays =
        "How such a task ends job.errors_have_a_cause finds, too. It finds what a fault could have brought about, had "
        "it not ended long ago.",
    .excuses =
        "jobs in which a node stays away; tasks that another one leaves before they have stood still for five minutes; "
        "ends within five minutes, also of runs that were under way; evaluators; errors of tasks that have trained "
        "since",
    .why = "who needs what is away cannot train; what broke before may end a task",
};

}  // namespace vigil::sim
