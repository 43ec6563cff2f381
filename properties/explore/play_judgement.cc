#include "vigil/properties/explore/play_judgement.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <utility>

#include "vigil/properties/explore/explore.h"
#include "vigil/properties/judge/broken_rules.h"
#include "vigil/properties/judge/model_comparison.h"
#include "vigil/properties/judge/node_rules.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/judge/compare.h"
#include "vigil/replays/judge/job_comparison.h"
#include "vigil/replays/judge/result.h"
#include "vigil/sim/kernel/running_hash.h"

namespace vigil::properties {
namespace {

using replays::Outcome;
using replays::Scenario;
using replays::Verdict;

// Without times: they follow from the order, but for latencies.
std::uint64_t HashOfTrace(const sim::Trace& trace) {
  sim::RunningHash hash;
  std::string_view task = "/";  // none is called so
  for (const sim::TraceRecord& record : trace) {
    if (trace.TaskLabel(record) != task) {
      task = trace.TaskLabel(record);
      hash.AddTask(0, task);
    }
    hash.AddEvent(record.event);
  }
  return hash.value();
}

std::uint64_t HashOfEvents(const std::vector<std::string>& events) {
  std::uint64_t hash = 0;
  for (const std::string& line : events) hash = XXH64(line.data(), line.size(), hash);
  return hash;
}

// "chief:0 clean, worker:0 UNAVAILABLE"
std::string EndOfJob(const Outcome& outcome) {
  if (outcome.verdict != Verdict::kPlayed) return std::string(replays::VerdictName(outcome.verdict));
  std::string end;
  for (const auto& [name, task] : outcome.job->tasks)
    end += fmt::format("{}{} {}", end.empty() ? "" : ", ", name, task.outcome);
  return end;
}

void JudgeSession(const Outcome& outcome, const Scenario& scenario, PlayJudgement& play) {
  Judgement judgement = CheckRules(outcome, scenario);
  play.armed = std::move(judgement.armed);
  play.rules = RulesIn(judgement.violations);
  ModelComparison says = CompareWithModel(scenario, outcome);
  play.refused = std::move(says.refused);
  play.disagreement = std::move(says.disagreement);
}

}  // namespace

const std::string& PlayJudgement::What() const {
  if (!disagreement.empty()) return disagreement;
  return endless.empty() ? unexpected : endless;
}

std::string_view PlayJudgement::Kind() const {
  if (!disagreement.empty()) return "disagrees";
  return endless.empty() ? "unexpected" : replays::VerdictName(verdict);
}

PlayJudgement JudgePlay(Outcome outcome, const Scenario& scenario, const replays::Expectation* expect,
                        std::string name) {
  PlayJudgement play{.name = std::move(name), .verdict = outcome.verdict};
  if (play.verdict == Verdict::kInterrupted) return play;
  play.trace_hash = HashOfTrace(outcome.trace);
  play.events_hash = HashOfEvents(outcome.events);
  if (outcome.job.has_value()) {
    play.end = EndOfJob(outcome);
    play.refused = "cluster";
    JudgeJob(scenario, outcome);
    play.rules = RulesIn(outcome.job->violations);
  } else {
    play.end = EndOf(outcome);
    JudgeSession(outcome, scenario, play);
  }
  const bool foretold = play.verdict == Verdict::kRunaway && play.refused.empty() && play.disagreement.empty();
  if (play.verdict != Verdict::kPlayed && !foretold)
    play.endless = fmt::format("{}: {}", replays::VerdictName(play.verdict), outcome.reason);
  if (expect != nullptr && expect->job != nullptr) {
    const std::vector<std::string> misses = replays::Misses(*scenario.job, *outcome.job, *expect->job);
    if (!misses.empty()) play.unexpected = fmt::format("not like the recording: {}", misses.front());
    for (const std::string& miss : misses) play.report += fmt::format("  {}\n", replays::Escaped(miss));
  } else if (expect != nullptr) {
    replays::Difference difference = replays::Compare(outcome, *expect);
    if (difference.first_event.has_value()) {
      play.unexpected = fmt::format("event {} is not what the file expects", difference.first_event->event);
    } else if (difference.final_differs) {
      play.unexpected = "the final state is not what the file expects";
    }
    play.report = std::move(difference.report);
  }
  if (!play.kept()) play.choices = std::move(outcome.choices);
  return play;
}

}  // namespace vigil::properties
