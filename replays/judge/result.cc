#include "vigil/replays/judge/result.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/show/job_text.h"

namespace vigil::replays {
namespace {

std::string WhyViolated(const std::vector<std::string>& rules) {
  std::string all;
  for (auto rule = rules.begin(); rule != rules.end(); ++rule) {
    if (std::find(rules.begin(), rule, *rule) == rule) all += (all.empty() ? "violates " : ", ") + Escaped(*rule);
  }
  return all;
}

// Of a saved failure: "" once neither its rule nor any other is violated any more.
std::string WhyStillViolated(const std::string& rule, const PlainOutcome& outcome) {
  if (!outcome.violated.has_value())
    return fmt::format("saved for violating {}, but no rules were checked", Escaped(rule));
  const auto& violated = *outcome.violated;
  if (violated.empty()) return "";
  if (std::find(violated.begin(), violated.end(), rule) != violated.end()) return "violates " + Escaped(rule);
  return fmt::format("{} (was saved for {})", WhyViolated(violated), Escaped(rule));
}

std::string WhyDifferent(const Difference& difference) {
  if (difference.first_event.has_value()) return fmt::format("event {} differs", difference.first_event->event);
  return difference.final_differs ? "the final state differs" : "";
}

// Of a cluster: its plays, held against what real ones did.
void JudgeJob(Result& result, const PlainOutcome& outcome) {
  if (outcome.misses.empty()) return;
  result.reason = fmt::format("not like the recording: {}", Escaped(outcome.misses.front()));
  for (const std::string& miss : outcome.misses) result.difference.report += fmt::format("  {}\n", Escaped(miss));
}

}  // namespace

Result Judge(const Recording& recording, PlainOutcome outcome) {
  Result result;
  result.source = recording.source;
  result.record = recording.record;
  result.id = recording.scenario.id;
  result.title = recording.scenario.title;
  result.note = recording.note;
  const std::optional<Expectation>& expect = recording.expect;
  const bool of_a_cluster = expect.has_value() && expect->job != nullptr;
  result.by_seeds = of_a_cluster && recording.scenario.choices.empty();
  const bool seen = outcome.verdict != Verdict::kNotSetUp && !IsWithoutPlay(outcome.verdict);
  const bool compare = expect.has_value() && !of_a_cluster && expect->violates.empty() && seen;
  if (compare) result.difference = Compare(outcome, *expect);
  if (outcome.verdict != Verdict::kPlayed) {
    result.reason = std::string(VerdictName(outcome.verdict));
    if (!outcome.reason.empty()) result.reason += ": " + Escaped(outcome.reason);
    const bool crashed = outcome.verdict == Verdict::kCrashed || outcome.verdict == Verdict::kPlayerFailed;
    const bool broken = !expect.has_value() && !outcome.violated.value_or(std::vector<std::string>()).empty();
    if (broken && !crashed) result.reason += "; " + WhyViolated(*outcome.violated);
    if (crashed || broken) result.difference.report = outcome.explanation;
  } else if (!expect.has_value()) {
    result.reason = "nothing to compare: the record has no 'expect'";
    if (outcome.violated.has_value()) result.reason += "; it breaks no rule";
    if (!outcome.violated.value_or(std::vector<std::string>()).empty()) {
      result.reason = WhyViolated(*outcome.violated);
      result.difference.report = outcome.explanation;
    }
  } else if (of_a_cluster) {
    JudgeJob(result, outcome);
  } else if (compare) {
    result.reason = WhyDifferent(result.difference);
  } else {
    result.reason = WhyStillViolated(expect->violates, outcome);
    result.difference.report = outcome.explanation;
  }
  if (!result.reason.empty() && outcome.job.has_value() && recording.scenario.job.has_value()) {
    for (const std::string& line : InertText(*recording.scenario.job, *outcome.job))
      result.difference.report += fmt::format("  {}\n", Escaped(line));
  }
  result.status = result.reason.empty() ? Status::kPassed : Status::kFailed;
  if (outcome.verdict == Verdict::kCannot) {
    result.status = Status::kNotPlayed;
    result.reason = Escaped(outcome.reason);
  }
  result.outcome = std::move(outcome);
  return result;
}

std::string_view StatusName(Status status) {
  switch (status) {
    case Status::kPassed:
      return "passed";
    case Status::kFailed:
      return "failed";
    case Status::kUnreadable:
      return "unreadable";
    case Status::kNotPlayed:
      return "not played";
  }
  return "";
}

std::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPlayed:
      return "played";
    case Verdict::kNotSetUp:
      return "not set up";
    case Verdict::kRunaway:
      return "runaway";
    case Verdict::kDeadlock:
      return "deadlock";
    case Verdict::kCrashed:
      return "crashed";
    case Verdict::kInterrupted:
      return "interrupted";
    case Verdict::kCannot:
      return "not played";
    case Verdict::kPlayerFailed:
      return "player failed";
  }
  return "";
}

}  // namespace vigil::replays
