#include "vigil/properties/rules/rules.h"

#include <algorithm>
#include <memory>

namespace vigil::properties {
namespace {

std::vector<RuleFactory> Concatenate() {
  std::vector<RuleFactory> all;
  for (const auto family :
       {BeginRules,  OrderRules,      InitRules,    CreationRules,    RunRules,     EndRules,   RecoveryRules,
        StopRules,   CloseRules,      ErrorRules,   ConstructRules,   HookRules,    SaveRules,  StepRules,
        WorkerRules, SupervisorRules, RequestRules, CoordinatorRules, BuiltInRules, SaverRules, SupervisorEndRules}) {
    const std::vector<RuleFactory> rules = family();
    all.insert(all.end(), rules.begin(), rules.end());
  }
  return all;
}

// How many hooks some phase called.
std::size_t HooksSeen(const sim::Trace& trace, const TracePart& part) {
  std::size_t seen = 0;
  for (std::size_t i = part.first; i < part.last; ++i) {
    const Event& event = trace[i].event;
    if (trace[i].node != trace[part.first].node || event.kind != EventKind::kHookCall) continue;
    seen = std::max(seen, static_cast<std::size_t>(event.index) + 1);
  }
  return seen;
}

}  // namespace

const std::vector<RuleFactory>& AllRules() {
  static const std::vector<RuleFactory> all = Concatenate();
  return all;
}

Judgement JudgePart(const sim::Trace& trace, const TracePart& part, const RunFacts& facts, bool ended) {
  RunFacts known = facts;
  if (facts.hooks == kAsSeen) known.hooks = HooksSeen(trace, part);
  std::vector<std::unique_ptr<Rule>> rules;
  for (const RuleFactory factory : AllRules()) {
    rules.push_back(factory());
    if (!Applies(rules.back()->info(), known)) rules.back() = nullptr;
  }
  Watch watch(known);
  for (std::size_t i = part.first; i < part.last; ++i) {
    const sim::TraceRecord& record = trace[i];
    const sim::TraceRecord& begin = trace[part.first];
    if (record.node != begin.node) continue;
    const Moment now{watch, record.event, i, record.task == begin.task, record.time, record.task};
    for (const std::unique_ptr<Rule>& rule : rules) {
      if (rule != nullptr) rule->OnEvent(now);
    }
    watch.Update(record, i, now.on_main);
  }
  Judgement judgement;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::unique_ptr<Rule>& rule = rules[i];
    if (rule != nullptr && ended) rule->Finish(watch);
    judgement.armed.push_back(rule == nullptr ? 0 : rule->armed());
    if (rule == nullptr || !rule->violation().has_value()) continue;
    judgement.violations.push_back(*rule->violation());
    judgement.violations.back().number = i;
  }
  return judgement;
}

Judgement Judge(const sim::Trace& trace, const RunFacts& facts, bool ended) {
  return JudgePart(trace, {.last = trace.size()}, facts, ended);
}

Judgement CheckRules(const replays::Outcome& outcome, const replays::Scenario& scenario) {
  return Judge(outcome.trace, FactsOf(scenario), outcome.verdict == replays::Verdict::kPlayed);
}

}  // namespace vigil::properties
