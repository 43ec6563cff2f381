#include "vigil/replays/judge/job_summary.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace vigil::replays {
namespace {

template <typename T>
void Insert(std::vector<T>& sorted, const T& value) {
  const auto at = std::ranges::lower_bound(sorted, value);
  if (at == sorted.end() || *at != value) sorted.insert(at, value);
}

// `first`: nothing was added yet.
template <typename T>
void Widen(Span<T>& span, T value, bool first) {
  span.least = first ? value : std::min(span.least, value);
  span.most = first ? value : std::max(span.most, value);
}
template <typename T>
void Widen(std::optional<Span<T>>& span, T value) {
  const bool first = !span.has_value();
  if (first) span.emplace();
  Widen(*span, value, first);
}

void AddTask(TaskExpectation& task, const TaskPlay& play, bool first) {
  Insert(task.outcome, play.outcome);
  Widen(task.sessions, play.sessions, first);
  for (const Code code : play.run_failed) Insert(task.run_failed, code);
  Widen<std::int64_t>(task.run_failed_times, std::ssize(play.run_failed), first);
  for (const Code code : play.create_failed) Insert(task.create_failed, code);
  Widen<std::int64_t>(task.create_failed_times, std::ssize(play.create_failed), first);
  for (const std::int64_t steps : play.step_back_silent) Widen(task.step_back_silent, steps);
  Widen<std::int64_t>(task.step_back_silent_times, std::ssize(play.step_back_silent), first);
  for (const std::int64_t steps : play.step_back_recovered) Widen(task.step_back_recovered, steps);
  Widen<std::int64_t>(task.step_back_recovered_times, std::ssize(play.step_back_recovered), first);
  Widen(task.longest_run_s, play.longest_run_s, first);
  if (play.opened_after_s.has_value()) Widen(task.opened_after_s, *play.opened_after_s);
  if (play.last_step.has_value()) Widen(task.last_step, *play.last_step);
  Widen(task.hook_end, play.hook_end, first);
  if (!play.text.empty()) Insert(task.texts, play.text);
}

TaskPlay PlayOf(const sim::TaskFacts& facts) {
  TaskPlay play{.outcome = facts.outcome,
                .sessions = facts.sessions,
                .run_failed = facts.run_failed,
                .create_failed = facts.create_failed,
                .step_back_silent = facts.step_back_silent,
                .step_back_recovered = facts.step_back_recovered,
                .longest_run_s = ToSeconds(facts.longest_run),
                .hook_end = facts.hook_end,
                .text = facts.text};
  if (facts.opened_after.has_value()) play.opened_after_s = ToSeconds(*facts.opened_after);
  if (facts.runs > 0) play.last_step = facts.last_step;
  return play;
}

}  // namespace

JobPlay PlayOf(const sim::JobFacts& facts) {
  JobPlay play{.newest_checkpoint = facts.newest_checkpoint};
  for (const auto& [name, task] : facts.tasks) play.tasks[name] = PlayOf(task);
  return play;
}

void JobSummary::Add(const JobPlay& play) {
  const bool first = expectation_.repeats++ == 0;
  for (const auto& [name, task] : play.tasks) AddTask(expectation_.tasks[name], task, first);
  if (play.newest_checkpoint.has_value()) Widen(expectation_.newest_checkpoint, *play.newest_checkpoint);
}

}  // namespace vigil::replays
