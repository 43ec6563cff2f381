#include "vigil/replays/judge/job_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "vigil/replays/judge/tolerances.h"

namespace vigil::replays {
namespace {

std::string CodesText(const std::vector<Code>& codes) {
  std::string text;
  for (const Code code : codes) text += fmt::format("{}{}", text.empty() ? "" : ", ", CodeName(code));
  return text.empty() ? "none" : text;
}

// Collects the misses of one task.
class Comparison {
 public:
  Comparison(std::string_view task, std::int64_t save_steps, std::vector<std::string>& misses)
      : task_(task), save_steps_(static_cast<double>(save_steps)), misses_(misses) {}

  void Miss(std::string_view field, std::string_view recorded, std::string_view seen) {
    misses_.push_back(fmt::format("{} {}: recorded {}, seen {}", task_, field, recorded, seen));
  }
  void Count(std::string_view field, const Span<std::int64_t>& recorded, std::int64_t seen) {
    if (seen >= recorded.least && seen <= recorded.most) return;
    Miss(field, fmt::format("{} to {}", recorded.least, recorded.most), fmt::format("{}", seen));
  }
  void Codes(std::string_view field, const std::vector<Code>& recorded, const std::vector<Code>& seen) {
    const bool known =
        std::ranges::all_of(seen, [&](Code code) { return std::ranges::find(recorded, code) != recorded.end(); });
    if (!known) Miss(field, CodesText(recorded), CodesText(seen));
  }
  // By its tolerance.
  void Amount(std::string_view field, std::string_view tolerance, double least, double most, double seen) {
    if (!Tolerates(ToleranceOf(tolerance), least, most, save_steps_, seen))
      Miss(field, fmt::format("{:g} to {:g}", least, most), fmt::format("{:.4g}", seen));
  }
  void Amounts(std::string_view field, std::string_view tolerance, const std::optional<Span<std::int64_t>>& recorded,
               const std::vector<std::int64_t>& seen) {
    if (!recorded.has_value()) return;  // then the count says that there is to be none
    for (const std::int64_t amount : seen)
      Amount(field, tolerance, static_cast<double>(recorded->least), static_cast<double>(recorded->most),
             static_cast<double>(amount));
  }

 private:
  const std::string_view task_;
  const double save_steps_;
  std::vector<std::string>& misses_;
};

bool EndsClean(const TaskExpectation& recorded) {
  return recorded.outcome.size() == 1 && recorded.outcome.front() == "clean";
}

Duration PausesOf(std::string_view task, const sim::JobSpec& job) {
  Duration sum{0};
  for (const sim::TimedFault& fault : job.plan.timed) {
    if (fault.kind == sim::TimedFault::Kind::kPause && fault.task == task) sum += fault.lasts.value_or(Duration(0));
  }
  return sum;
}

// How often a worker has looked, with a sleep after each look.
double Polls(double seconds) { return std::floor(seconds / ToleranceOf("opened_after_s").slack); }

void CompareTimes(Comparison& compare, Duration own_pauses, const sim::TaskFacts& seen,
                  const TaskExpectation& recorded) {
  const double most = recorded.longest_run_s.most + ToSeconds(own_pauses);
  const double run = ToSeconds(seen.longest_run);
  // What the machine took is left out of a run that is longer than what was recorded, and no further than to that.
  compare.Amount("longest_run_s", "longest_run_s", recorded.longest_run_s.least, most,
                 std::max(std::min(run, most), run - ToSeconds(seen.machine_still)));
  if (recorded.opened_after_s.has_value() != seen.opened_after.has_value()) {
    // Where some plays never opened a session, the sessions' range says so.
    if (seen.opened_after.has_value() || recorded.sessions.least > 0) {
      compare.Miss("opened_after_s", recorded.opened_after_s.has_value() ? "opened" : "never opened",
                   seen.opened_after.has_value() ? "opened" : "never opened");
    }
  } else if (seen.opened_after.has_value()) {
    const double polls = Polls(ToSeconds(*seen.opened_after));
    if (polls < Polls(recorded.opened_after_s->least) || polls > Polls(recorded.opened_after_s->most)) {
      compare.Miss("opened_after_s",
                   fmt::format("{:g} to {:g} s", recorded.opened_after_s->least, recorded.opened_after_s->most),
                   fmt::format("{:.1f} s", ToSeconds(*seen.opened_after)));
    }
  }
}

void CompareTask(std::string_view task, const sim::JobSpec& job, std::int64_t lost_nothing, const sim::TaskFacts& seen,
                 const TaskExpectation& recorded, std::vector<std::string>& misses) {
  Comparison compare(task, job.workload.save_steps, misses);
  if (std::ranges::find(recorded.outcome, seen.outcome) == recorded.outcome.end()) {
    compare.Miss("outcome", fmt::format("{}", fmt::join(recorded.outcome, ", ")),
                 seen.text.empty() ? seen.outcome : fmt::format("{} ({})", seen.outcome, seen.text));
  }
  compare.Count("sessions", recorded.sessions, seen.sessions);
  compare.Codes("run_failed", recorded.run_failed, seen.run_failed);
  compare.Count("run_failed_times", recorded.run_failed_times, std::ssize(seen.run_failed));
  compare.Codes("create_failed", recorded.create_failed, seen.create_failed);
  compare.Count("create_failed_times", recorded.create_failed_times, std::ssize(seen.create_failed));
  const std::int64_t silent = std::ssize(seen.step_back_silent);
  const Span<std::int64_t>& silent_recorded = recorded.step_back_silent_times;
  compare.Count("step_back_silent_times", silent_recorded,
                std::max(silent, std::min(silent + lost_nothing, silent_recorded.least)));
  const Span<std::int64_t>& back_recorded = recorded.step_back_recovered_times;
  std::int64_t back = std::ssize(seen.step_back_recovered);
  if (back_recorded.most > 0) back = std::min(back, back_recorded.most);  // how many of its recoveries: chance
  compare.Count("step_back_recovered_times", back_recorded,
                std::max(back, std::min(back + seen.step_kept_recovered, back_recorded.least)));
  compare.Amounts("step_back_silent", "step_back_silent", recorded.step_back_silent, seen.step_back_silent);
  compare.Amounts("step_back_recovered", "step_back_recovered", recorded.step_back_recovered, seen.step_back_recovered);
  CompareTimes(compare, PausesOf(task, job), seen, recorded);
  const bool clean = EndsClean(recorded);
  compare.Amounts("last_step", clean ? "last_step" : "last_step of a task that is cut off", recorded.last_step,
                  {seen.last_step});
  compare.Count("hook_end", recorded.hook_end, seen.hook_end);
}

void CompareCheckpoint(const sim::JobFacts& seen, const JobExpectation& recorded, std::vector<std::string>& misses) {
  if (recorded.newest_checkpoint.has_value() != seen.newest_checkpoint.has_value()) {
    misses.push_back(fmt::format("newest_checkpoint: recorded {}, seen {}",
                                 recorded.newest_checkpoint.has_value() ? "one" : "none",
                                 seen.newest_checkpoint.has_value() ? "one" : "none"));
    return;
  }
  if (!seen.newest_checkpoint.has_value()) return;
  const Span<std::int64_t>& span = *recorded.newest_checkpoint;
  const bool ended = std::ranges::all_of(recorded.tasks, [](const auto& task) { return EndsClean(task.second); });
  const Tolerance& tolerance = ToleranceOf(ended ? "newest_checkpoint" : "newest_checkpoint of a job that is cut off");
  if (Tolerates(tolerance, static_cast<double>(span.least), static_cast<double>(span.most), 0,
                static_cast<double>(*seen.newest_checkpoint)))
    return;
  misses.push_back(
      fmt::format("newest_checkpoint: recorded {} to {}, seen {}", span.least, span.most, *seen.newest_checkpoint));
}

// The ways that one play took, and the ways that were recorded, by name.
struct Way {
  std::string_view field;
  std::int64_t seen;
  Span<std::int64_t> recorded;
};
std::vector<Way> WaysOf(const sim::TaskFacts& seen, const TaskExpectation& recorded) {
  return {{"step_back_silent", std::ssize(seen.step_back_silent), recorded.step_back_silent_times},
          {"step_back_recovered", std::ssize(seen.step_back_recovered), recorded.step_back_recovered_times},
          {"run_failed", std::ssize(seen.run_failed), recorded.run_failed_times},
          {"create_failed", std::ssize(seen.create_failed), recorded.create_failed_times}};
}

std::string WayName(std::string_view task, std::string_view field, bool with) {
  return fmt::format("{} {} {}", task, field, with ? "with" : "without");
}

}  // namespace

std::vector<std::string> Misses(const sim::JobSpec& job, const sim::JobFacts& seen, const JobExpectation& recorded) {
  std::vector<std::string> misses;
  for (const auto& [task, expected] : recorded.tasks) {
    const auto it = seen.tasks.find(task);
    if (it == seen.tasks.end()) {
      misses.push_back(fmt::format("{}: recorded, but the cluster has no such task", task));
    } else {
      CompareTask(task, job, seen.restores_without_loss, it->second, expected, misses);
    }
  }
  CompareCheckpoint(seen, recorded, misses);
  return misses;
}

void JobCoverage::Add(const sim::JobFacts& seen, const JobExpectation& recorded) {
  for (const auto& [task, facts] : seen.tasks) {
    const auto it = recorded.tasks.find(task);
    if (it == recorded.tasks.end()) continue;
    seen_.insert(fmt::format("{} outcome {}", task, facts.outcome));
    for (const Way& way : WaysOf(facts, it->second)) seen_.insert(WayName(task, way.field, way.seen > 0));
  }
}

std::vector<std::string> JobCoverage::Missing(const JobExpectation& recorded) const {
  std::vector<std::string> missing;
  for (const auto& [task, expected] : recorded.tasks) {
    for (const std::string& outcome : expected.outcome) {
      if (seen_.contains(fmt::format("{} outcome {}", task, outcome))) continue;
      missing.push_back(fmt::format("{} outcome: recorded {}, never seen", task, outcome));
    }
    for (const Way& way : WaysOf({}, expected)) {
      if (way.recorded.least != 0 || way.recorded.most == 0) continue;
      for (const bool with : {true, false}) {
        if (seen_.contains(WayName(task, way.field, with))) continue;
        missing.push_back(fmt::format("{} {}: recorded with and without, seen always {}", task, way.field,
                                      with ? "without" : "with"));
      }
    }
  }
  return missing;
}

}  // namespace vigil::replays
