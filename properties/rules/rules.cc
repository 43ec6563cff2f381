#include "vigil/properties/rules/rules.h"

#include <memory>

namespace vigil::properties {
namespace {

std::vector<RuleFactory> Concatenate() {
  std::vector<RuleFactory> all;
  for (const auto family : {BeginRules, OrderRules, InitRules, CreationRules, RunRules, EndRules, RecoveryRules,
                            StopRules, CloseRules, ErrorRules}) {
    const std::vector<RuleFactory> rules = family();
    all.insert(all.end(), rules.begin(), rules.end());
  }
  return all;
}

bool Applies(const RuleInfo& info, const RunFacts& facts) {
  return facts.judged && (info.holds == Holds::kAlways || facts.tensorflow);
}

}  // namespace

const std::vector<RuleFactory>& AllRules() {
  static const std::vector<RuleFactory> all = Concatenate();
  return all;
}

Judgement Judge(const sim::Trace& trace, const RunFacts& facts, bool ended, const std::vector<RuleFactory>& rules) {
  std::vector<std::unique_ptr<Rule>> watching;  // null: does not apply
  for (const RuleFactory factory : rules) {
    watching.push_back(factory());
    if (!Applies(watching.back()->info(), facts)) watching.back() = nullptr;
  }
  Watch watch(facts);
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const sim::TraceRecord& record = trace[i];
    if (record.node != trace[0].node) continue;
    const Moment now{watch, record.event, i, record.task == trace[0].task};
    for (const std::unique_ptr<Rule>& rule : watching) {
      if (rule != nullptr) rule->OnEvent(now);
    }
    watch.Update(record, i, now.on_main);
  }
  Judgement judgement;
  for (std::size_t i = 0; i < watching.size(); ++i) {
    const std::unique_ptr<Rule>& rule = watching[i];
    if (rule != nullptr && ended) rule->Finish(watch);
    judgement.armed.push_back(rule == nullptr ? 0 : rule->armed());
    if (rule == nullptr || !rule->violation().has_value()) continue;
    judgement.violations.push_back(*rule->violation());
    judgement.violations.back().number = i;
  }
  return judgement;
}

Judgement CheckRules(const replays::Outcome& outcome, const replays::Scenario& scenario,
                     const std::vector<RuleFactory>& rules) {
  return Judge(outcome.trace, FactsOf(scenario), outcome.verdict == replays::Verdict::kPlayed, rules);
}

}  // namespace vigil::properties
