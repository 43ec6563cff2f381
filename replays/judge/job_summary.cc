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

void AddTask(TaskExpectation& task, const sim::TaskFacts& facts, bool first) {
  Insert(task.outcome, facts.outcome);
  if (!facts.text.empty()) Insert(task.texts, facts.text);
  Widen(task.sessions, facts.sessions, first);
  for (const Code code : facts.run_failed) Insert(task.run_failed, code);
  Widen<std::int64_t>(task.run_failed_times, std::ssize(facts.run_failed), first);
  for (const Code code : facts.create_failed) Insert(task.create_failed, code);
  Widen<std::int64_t>(task.create_failed_times, std::ssize(facts.create_failed), first);
  for (const std::int64_t steps : facts.step_back_silent) Widen(task.step_back_silent, steps);
  Widen<std::int64_t>(task.step_back_silent_times, std::ssize(facts.step_back_silent), first);
  for (const std::int64_t steps : facts.step_back_recovered) Widen(task.step_back_recovered, steps);
  Widen<std::int64_t>(task.step_back_recovered_times, std::ssize(facts.step_back_recovered), first);
  Widen(task.longest_run_s, ToSeconds(facts.longest_run), first);
  if (facts.opened_after.has_value()) Widen(task.opened_after_s, ToSeconds(*facts.opened_after));
  if (facts.runs > 0) Widen(task.last_step, facts.last_step);
  Widen(task.hook_end, facts.hook_end, first);
}

}  // namespace

void JobSummary::Add(const sim::JobFacts& facts) {
  const bool first = expectation_.repeats++ == 0;
  for (const auto& [name, task] : facts.tasks) AddTask(expectation_.tasks[name], task, first);
  if (facts.newest_checkpoint.has_value()) Widen(expectation_.newest_checkpoint, *facts.newest_checkpoint);
}

}  // namespace vigil::replays
