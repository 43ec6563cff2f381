#include "vigil/properties/judge/node_rules.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "vigil/core/base/time.h"
#include "vigil/replays/judge/job_invariants.h"
#include "vigil/replays/show/event_text.h"
#include "vigil/sim/cluster/job_facts.h"
#include "vigil/sim/faults/fault_kinds.h"

namespace vigil::properties {
namespace {

constexpr std::size_t kShown = 3;  // violations of one job

bool IsJudged(const std::string& node, const sim::JobSpec& job) {
  return job.workload.kind != sim::WorkloadKind::kSupervisor && !node.starts_with("evaluator");
}

RunFacts FactsOfNode(const std::string& node, const replays::Scenario& scenario) {
  const bool tensorflow = scenario.behaviour.name == "tensorflow";
  const bool chief = node.starts_with("chief");
  const sim::WorkloadSpec& workload = scenario.job->workload;
  return {
      .tensorflow = tensorflow,
      .by_default = scenario.behaviour.name == "default",
      .any_clean_end = tensorflow,
      .worker = !chief,
      .may_join = !tensorflow,
      .hooks = kAsSeen,
      .init_fn = chief && workload.init_fn,
      .queue = workload.kind == sim::WorkloadKind::kInputPipeline && (chief || !workload.shared_input),
      .may_restore = chief,
      .disk_fails = sim::FailsDisksOf(scenario.job->plan, node),
      .told_to_end = sim::IsToldToStop(scenario.job->plan, node),
  };
}

// The events of the life that begins with the given one; none if it made none.
std::optional<TracePart> PartOf(const sim::Trace& trace, const std::string& node, std::size_t first, std::size_t last) {
  while (first < last && trace.NodeName(trace[first]) != node) ++first;
  if (first == last) return std::nullopt;
  return TracePart{first, last};
}

// Of that life.
const std::string& NodeOf(const std::string& task, const sim::TaskFacts& facts, std::size_t life) {
  return life < facts.nodes.size() ? facts.nodes[life] : task;
}

}  // namespace

std::string NodeViolationText(const NodeJudgement& node, const Violation& violation, const replays::Outcome& outcome) {
  std::string text = fmt::format("{} (life {}) {}: expected {}, actual {}", node.node, node.life, violation.rule,
                                 violation.expected, violation.actual);
  for (const std::size_t i : violation.witness) {
    const sim::TraceRecord& record = outcome.trace[i];
    text += fmt::format("; at {:.3f} s {}", ToSeconds(record.time - outcome.start), replays::EventText(record.event));
  }
  return text;
}

std::vector<NodeJudgement> JudgeNodes(const replays::Outcome& outcome, const replays::Scenario& scenario,
                                      const OnNodeArmed& on_armed) {
  std::vector<NodeJudgement> judged;
  for (const auto& [name, task] : outcome.job->tasks) {
    if (!IsJudged(name, *scenario.job)) continue;
    const RunFacts facts = FactsOfNode(name, scenario);
    for (std::size_t life = 0; life < task.first_events.size(); ++life) {
      const bool newest = life + 1 == task.first_events.size();
      const std::string& node = NodeOf(name, task, life);
      // On another machine it may go on beside the next one.
      const bool until_next = !newest && NodeOf(name, task, life + 1) == node;
      const std::size_t last = until_next ? task.first_events[life + 1] : outcome.trace.size();
      const std::optional<TracePart> part = PartOf(outcome.trace, node, task.first_events[life], last);
      if (!part.has_value()) continue;
      const bool ended = newest && task.outcome != "running" && task.outcome != "killed";
      const int number = static_cast<int>(life) + 1;
      OnArmed of_life;
      if (on_armed) {
        of_life = [&on_armed, &task_name = name, number](std::size_t rule, std::uint64_t armed, std::size_t event) {
          on_armed(task_name, number, rule, armed, event);
        };
      }
      judged.push_back({name, number, facts, JudgePart(outcome.trace, *part, facts, ended, of_life)});
    }
  }
  return judged;
}

void JudgeJob(const replays::Scenario& scenario, replays::Outcome& outcome, const OnNodeArmed& on_armed) {
  if (outcome.verdict != replays::Verdict::kInterrupted) replays::CheckInvariants(scenario, outcome, *outcome.job);
  AddNodeRules(scenario, outcome, on_armed);
}

void AddNodeRules(const replays::Scenario& scenario, replays::Outcome& outcome, const OnNodeArmed& on_armed) {
  std::int64_t& armed = outcome.job->armed[std::string(kNodeRules)];
  std::size_t shown = 0;
  for (const NodeJudgement& node : JudgeNodes(outcome, scenario, on_armed)) {
    for (const std::uint64_t times : node.judgement.armed) armed += static_cast<std::int64_t>(times);
    for (const Violation& violation : node.judgement.violations) {
      if (++shown > kShown) return;
      sim::JobViolation& added = outcome.job->violations.emplace_back();
      added.rule = kNodeRules;
      added.text = NodeViolationText(node, violation, outcome);
      added.task = node.node;
      if (!violation.witness.empty()) added.event = violation.witness.back();
    }
  }
}

}  // namespace vigil::properties
