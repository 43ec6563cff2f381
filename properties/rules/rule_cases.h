// For each rule, for its test and as an example: a stream of events that keeps it and arms it, and one that breaks it,
// with the events that prove it.
#ifndef VIGIL_PROPERTIES_RULES_RULE_CASES_H_
#define VIGIL_PROPERTIES_RULES_RULE_CASES_H_

#include <ostream>
#include <span>
#include <string_view>

#include "vigil/properties/rules/facts.h"

namespace vigil::properties {

struct RuleCase {
  std::string_view rule;
  std::string_view facts;  // singular, init_fn, queue, checkpoint, default, worker, supervisor; two hooks
  std::string_view keeps;  // breaks no rule at all
  std::string_view breaks;
  std::string_view witness;  // the words of the proving events
};

// What a rule may know of the run.
RunFacts FactsOf(const RuleCase& rule_case);

// Words as in stream.h.
std::span<const RuleCase> RuleCases();
// Part of them: service_rule_cases.cc.
std::span<const RuleCase> ServiceRuleCases();

inline void PrintTo(const RuleCase& c, std::ostream* out) { *out << c.rule << ": " << c.keeps << " | " << c.breaks; }

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_RULES_RULE_CASES_H_
