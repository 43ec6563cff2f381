// All rules, and what judges a run by them.
//
//   const Judgement judgement = CheckRules(runner.Run(scenario), scenario);
//   for (const Violation& violation : judgement.violations) ...
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_RULES_RULES_H_
#define VIGIL_PROPERTIES_RULES_RULES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "vigil/properties/rules/facts.h"
#include "vigil/properties/rules/rule.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/play/runner.h"
#include "vigil/sim/kernel/trace.h"

namespace vigil::properties {

// The one list: every rule, in the order in which reports name them.
const std::vector<RuleFactory>& AllRules();

struct Judgement {
  std::vector<Violation> violations;
  std::vector<std::uint64_t> armed;  // of each rule of AllRules(), in its order
};

// A part of a trace: the events [first, last) of the node that emitted the first of them, whose main task is the one
// that did. The others are passed over.
struct TracePart {
  std::size_t first = 0;
  std::size_t last = 0;
};
// Is told of each event that armed a rule: the rule's number in AllRules(), how often it has been armed by then, and
// the event's number in the whole trace. May be null.
using OnArmed = std::function<void(std::size_t rule, std::uint64_t armed, std::size_t event)>;
// Witnesses and violations name events by their numbers in the whole trace.
Judgement JudgePart(const sim::Trace& trace, const TracePart& part, const RunFacts& facts, bool ended,
                    const OnArmed& on_armed = nullptr);

// Judges the events of the node that emitted first; its main task is the one that did. `ended`: the run came to an end
// by itself, so what should have happened must have.
Judgement Judge(const sim::Trace& trace, const RunFacts& facts, bool ended = true);

// The same for what a runner played. A run that was cut off (deadlock, runaway) is judged by what it did; what could
// not be played has no violations.
Judgement CheckRules(const replays::Outcome& outcome, const replays::Scenario& scenario,
                     const OnArmed& on_armed = nullptr);

// Each family of rules, for AllRules().
std::vector<RuleFactory> BeginRules();
std::vector<RuleFactory> OrderRules();
std::vector<RuleFactory> InitRules();
std::vector<RuleFactory> CreationRules();
std::vector<RuleFactory> RunRules();
std::vector<RuleFactory> EndRules();
std::vector<RuleFactory> RecoveryRules();
std::vector<RuleFactory> StopRules();
std::vector<RuleFactory> CloseRules();
std::vector<RuleFactory> ErrorRules();
std::vector<RuleFactory> ConstructRules();
std::vector<RuleFactory> HookRules();
std::vector<RuleFactory> SaveRules();
std::vector<RuleFactory> StepRules();
std::vector<RuleFactory> WorkerRules();
std::vector<RuleFactory> SupervisorRules();
std::vector<RuleFactory> RequestRules();
std::vector<RuleFactory> CoordinatorRules();
std::vector<RuleFactory> BuiltInRules();
std::vector<RuleFactory> SaverRules();
std::vector<RuleFactory> SupervisorEndRules();

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_RULES_RULES_H_
