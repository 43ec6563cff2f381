// The rules held against the sessions of a cluster: each life of each training task is a run of its own.
//
// A life that was cut off (a crash, the end of the world) is judged by what it did. Parameter servers, evaluators and
// the workload of the supervisor have no monitored session: they are not judged. What a rule may know of a node is what
// the job says of it.
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_JUDGE_NODE_RULES_H_
#define VIGIL_PROPERTIES_JUDGE_NODE_RULES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/properties/rules/rules.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/play/runner.h"
#include "vigil/sim/kernel/trace.h"

namespace vigil::properties {

// The invariant under which a job reports what its nodes broke.
inline constexpr std::string_view kNodeRules = "job.node_rules";
inline constexpr std::string_view kNodeRulesSentence =
    "Every training task keeps, in each of its lives, the rules of a session (docs/rules.md).";
inline constexpr std::string_view kNodeRulesStay =
    "It is all the rules above, which find their bugs in sessions of one process. It stays for what only a cluster "
    "brings about.";

struct NodeJudgement {
  std::string node;  // "worker:0"
  int life = 1;
  RunFacts facts;
  Judgement judgement;
};

// OnArmed of rules.h, with whose life it is; from 1. May be null.
using OnNodeArmed =
    std::function<void(const std::string& node, int life, std::size_t rule, std::uint64_t armed, std::size_t event)>;

// REQUIRES: the outcome of a job. In the order of the nodes' names and lives.
std::vector<NodeJudgement> JudgeNodes(const replays::Outcome& outcome, const replays::Scenario& scenario,
                                      const OnNodeArmed& on_armed = nullptr);

// "worker:0 (life 1) order.end: expected ..., actual ...; at 3.200 s ...", with the events of the outcome's trace that
// prove it.
std::string NodeViolationText(const NodeJudgement& node, const Violation& violation, const replays::Outcome& outcome);

// The whole judgement of a job: its invariants, then the rules held against its nodes. Of an interrupted play the
// latter only.
void JudgeJob(const replays::Scenario& scenario, replays::Outcome& outcome, const OnNodeArmed& on_armed = nullptr);

// Adds to the job's violations and to what was armed; each violation names node, life and rule, with the events that
// prove it. For JudgeJob, and for tests.
void AddNodeRules(const replays::Scenario& scenario, replays::Outcome& outcome, const OnNodeArmed& on_armed = nullptr);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_JUDGE_NODE_RULES_H_
