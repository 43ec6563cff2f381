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
constexpr std::chrono::minutes kOverBy{3};

constexpr std::string_view kComesBack = "a run that begins or is under way when everything has healed comes back";

struct Progress {
  Time since;                  // everything has healed and the life has begun
  std::optional<Time> run;     // under way, from then
  Time tried;                  // the same, or when a recovery began it anew
  std::optional<Time> waits;   // for a session, from when the life, or a recovery, began
  std::int64_t came_back = 0;  // runs, since then
};

// For so long the slowest task stands between two steps, and does not look whether anything has happened.
Duration LongestPause(const JobSpec& spec) {
  double rate = 1;
  for (const TimedFault& fault : spec.plan.timed) {
    if (fault.kind == TimedFault::Kind::kSlowNode) rate = std::max(rate, fault.rate);
  }
  return Seconds(rate * ToSeconds(spec.workload.step + spec.workload.before_save));
}

class ProgressJudge {
 public:
  ProgressJudge(const JobRun& run, Findings& findings)
      : findings_(findings), spec_(run.spec), pause_(LongestPause(run.spec)) {}

  void See(const JobMoment& moment) {
    if (moment.kind == JobMoment::Kind::kHealed) return Heal(moment.at);
    if (moment.task.empty() || IsZombie(moment.task) || IsServer(moment.task) || moment.task.starts_with(kEvaluatorJob))
      return;
    Progress& progress = tasks_[moment.task];
    switch (moment.kind) {
      case JobMoment::Kind::kStarted:
        progress = {.since = moment.at, .waits = moment.at};
        left_.erase(moment.task);
        break;
      case JobMoment::Kind::kSession:
        if (progress.waits.has_value()) InTime(moment, *std::exchange(progress.waits, std::nullopt), "a session");
        progress.tried = moment.at;
        break;
      case JobMoment::Kind::kRunStarted:
        progress.run = progress.tried = moment.at;
        break;
      case JobMoment::Kind::kRecovery:
        progress.waits = moment.at;
        Recovers(moment, progress);
        break;
      case JobMoment::Kind::kRunReturned:
        if (progress.run.has_value()) InTime(moment, progress.tried, "a run that comes back");
        ++progress.came_back;
        break;
      case JobMoment::Kind::kEvaluated:
        ++progress.came_back;
        break;
      case JobMoment::Kind::kAnswered:
        if (moment.code == Code::kOk && moment.answer->wrong.empty()) ++progress.came_back;
        break;
      case JobMoment::Kind::kRunFailed:
        Fails(moment, progress);
        break;
      case JobMoment::Kind::kEnded:
        Ends(moment, progress);
        break;
      default:
        break;
    }
  }

 private:
  void Heal(Time at) {
    healed_ = at;
    for (auto& [name, progress] : tasks_) {
      progress.since = at;
      progress.came_back = 0;
    }
  }
  // Who waits for one that has left, for ever, may give up.
  bool StoodBefore(Time since) const {
    return std::ranges::all_of(left_, [since](const auto& entry) { return since + kSoon <= entry.second; });
  }
  bool OthersNeed(std::string_view task) const {
    return task.starts_with("chief") || NeedsAll(spec_) || spec_.workload.kind == WorkloadKind::kSyncRegression ||
           spec_.workload.shared_input;
  }
  void InTime(const JobMoment& moment, Time since, std::string_view what) {
    if (!healed_.has_value()) return;
    const Time from = std::max(since, *healed_);
    if (!StoodBefore(from)) return;
    findings_.Arm();
    const Duration took = moment.at - from;
    if (took <= kSoon + pause_) return;
    findings_.Violate(moment,
                      fmt::format("{} within {:g} s, once everything has healed", what, ToSeconds(kSoon + pause_)),
                      fmt::format("{:.0f} s", ToSeconds(took)));
  }
  void Recovers(const JobMoment& moment, Progress& progress) {
    const Time tried = std::exchange(progress.tried, moment.at);
    const bool stood = healed_.has_value() && tried < *healed_ + kOverBy && moment.at >= *healed_ + kSoon;
    if (!stood || !progress.run.has_value() || !StoodBefore(std::max(tried, *healed_))) return;
    findings_.Arm();
    findings_.Violate(moment, kComesBack, fmt::format("a recovery after {:.0f} s", ToSeconds(moment.at - tried)));
  }
  void Fails(const JobMoment& moment, const Progress& progress) {
    if (!healed_.has_value() || !progress.run.has_value()) return;
    // One that was under way, too, must have come to its end: nothing keeps it any more.
    if (*progress.run < *healed_ + kOverBy && moment.at < *healed_ + kSoon) return;
    if (!StoodBefore(std::max(*progress.run, *healed_))) return;
    findings_.Arm();
    if (moment.code != Code::kDeadlineExceeded) return;
    findings_.Violate(moment, kComesBack,
                      fmt::format("{} after {:.0f} s", CodeName(moment.code), ToSeconds(moment.at - *progress.run)));
  }
  void Ends(const JobMoment& moment, const Progress& progress) {
    const bool stood = StoodBefore(progress.since);
    if (OthersNeed(moment.task)) left_.try_emplace(moment.task, moment.at);
    if (!healed_.has_value() || !stood) return;
    findings_.Arm();
    if (moment.code == Code::kOk || progress.came_back > 0 || moment.at < progress.since + kSoon) return;
    findings_.Violate(moment, fmt::format("a run that comes back within {:.0f} min", ToSeconds(kSoon) / 60),
                      fmt::format("none, and the end {}", CodeName(moment.code)));
  }

  Findings& findings_;
  const JobSpec& spec_;
  const Duration pause_;
  std::map<std::string, Progress, std::less<>> tasks_;
  std::optional<Time> healed_;
  std::map<std::string, Time, std::less<>> left_;  // those whom others need, while they are away
};

void CheckProgress(const JobRun& run, Findings& findings) {
  if (!NobodyStaysAway(run.facts)) return;
  ProgressJudge judge(run, findings);
  for (const JobMoment& moment : run.history) judge.See(moment);
}

}  // namespace

const Checker kGetsOnWhenHealed = {
    .id = "job.gets_on_when_healed",
    .sentence =
        "When every fault has ended and every node is there, a task that does not end at once trains: a run comes "
        "back, no run stands until its deadline, and neither a run nor making a session takes more than five minutes.",
    .source = "pains 3 to 6: replicas that stood still for ever",
    .needs = &Behaviour::bounded_recovery,
    .check = CheckProgress,
    .stays =
        "How such a task ends job.errors_have_a_cause finds, too. It finds what a fault could have brought about, had "
        "it not ended long ago.",
    .excuses =
        "jobs in which a node stays away; tasks that another one leaves before they have stood still for five minutes; "
        "ends within five minutes, also of runs that were under way; evaluators; errors of tasks that have trained "
        "since; runs and sessions are counted from the last recovery, and may take one pause of the slowest task "
        "longer",
    .why = "who needs what is away cannot train; what broke before may end a task",
};

}  // namespace vigil::sim
