// How a job comes to its end.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "vigil/sim/checkers/checker.h"

namespace vigil::sim {
namespace {

// Where a needed node stays away, every survivor ends with an error within this time after everything else has healed.
constexpr std::chrono::minutes kMostBusy{1};
constexpr std::size_t kMostRecoveriesAMinute = 20;
constexpr std::chrono::minutes kCalmAfter{1};  // everything has healed

void CheckEnds(const JobRun& run, Findings& findings) {
  if (!run.spec.heal_after.has_value()) return;
  for (const auto& [task, facts] : run.facts.tasks) {
    if (facts.lives == 0) continue;
    findings.Arm();
    if (facts.outcome != "running") continue;
    findings.Violate(task,
                     fmt::format("an end within {:.0f} min after everything healed",
                                 ToSeconds(run.spec.limit - *run.spec.heal_after) / 60),
                     fmt::format("still running at step {}", facts.last_step));
  }
}

void CheckRecoveries(const JobRun& run, Findings& findings) {
  std::map<std::string, std::deque<Time>, std::less<>> recent;
  for (const JobMoment& moment : run.history) {
    if (moment.kind == JobMoment::Kind::kRunReturned) recent[moment.task].clear();
    if (moment.kind != JobMoment::Kind::kRecovery) continue;
    findings.Arm();
    std::deque<Time>& times = recent[moment.task];
    times.push_back(moment.at);
    while (times.front() + kMostBusy < moment.at) times.pop_front();
    if (times.size() <= kMostRecoveriesAMinute) continue;
    findings.Violate(moment,
                     fmt::format("at most {} recoveries a minute without a completed run", kMostRecoveriesAMinute),
                     fmt::format("{}", times.size()));
    times.clear();
  }
}

// A task that hangs on a server that is gone may outlast the stop grace period, which recoveries may have used up: only
// calm and clean ends of lives without one count. What is left is told just before the end.
void CheckLeft(const JobRun& run, Findings& findings) {
  Time calm = kNever;
  std::vector<const JobMoment*> left;
  std::set<std::string, std::less<>> recovered;
  for (const JobMoment& moment : run.history) {
    if (moment.kind == JobMoment::Kind::kStarted) recovered.erase(moment.task);
    if (moment.kind == JobMoment::Kind::kRecovery) recovered.insert(moment.task);
    if (moment.kind == JobMoment::Kind::kHealed) calm = moment.at + kCalmAfter;
    if (moment.kind == JobMoment::Kind::kTaskLeft) left.push_back(&moment);
    if (moment.kind != JobMoment::Kind::kEnded) continue;
    if (moment.code == Code::kOk && !recovered.contains(moment.task) &&
        (moment.at >= calm || !run.spec.heal_after.has_value())) {
      findings.Arm();
      for (const JobMoment* const task : left) {
        if (task->task != moment.task) continue;
        findings.Violate(*task, "no task left at the program's end", task->subject);
      }
    }
    std::erase_if(left, [&moment](const JobMoment* task) { return task->task == moment.task; });
  }
}

}  // namespace

const Checker kEveryTaskEnds = {
    .id = "job.every_task_ends",
    .sentence =
        "After the faults have ended every task ends: at its last step, or with an error where a task that it needs "
        "stays away.",
    .source = "pains 3 to 6: replicas that stood still for ever",
    .needs = &Behaviour::bounded_recovery,
    .check = CheckEnds,
    .excuses = "jobs without a time at which everything has healed; any end but one that never comes",
    .why = "before that a task may wait for what is away; with which error a task may end job.errors_have_a_cause says",
};

const Checker kBoundedRecovery = {
    .id = "recovery.bounded",
    .sentence = "A session is not created again and again at once: there are pauses between the attempts.",
    .source = "pain 1",
    .needs = &Behaviour::bounded_recovery,
    .check = CheckRecoveries,
    .stays =
        "That no pause is made recovery.pauses_before_the_next_attempt finds first, in the sessions of the tasks. It "
        "finds pauses that do not grow.",
    .excuses = "up to twenty recoveries a minute",
    .why = "a session that is created on broken servers may fail at once, a few times",
};

const Checker kNoTaskLeft = {
    .id = "job.no_task_left",
    .sentence =
        "When a program has ended cleanly, without a recovery and a minute or more after all faults, nothing that it "
        "started still runs.",
    .source = "pain 18",
    .check = CheckLeft,
    .excuses =
        "lives that had a recovery, that end within a minute of a fault, or with an error; the tasks of the process: "
        "main, event_writer and serve, by their whole names; what the server does beside its requests, if that ends "
        "within three seconds",
    .why =
        "a task that hangs on a server that is gone may outlast the grace period; writers and servers go away with "
        "their process; and a step that has failed is ended beside who has run it",
};

}  // namespace vigil::sim
