// What a play has reached: pairs of a rule's state and of two events that follow each other. A campaign that reaches
// nothing new any more is saturated; a scenario that reaches something new is worth more of its kind.
//
// A pair is reached where an event arms a rule: which rule, how often it has been armed by then (once, twice, up to
// four times, more often), that event, and what its task did before it. Events are told apart by kind, call and
// code, not by numbers and names. Of a job the same of each life of each training task, by its role, and besides:
// an invariant that had something to look at, together with a kind of fault that changed something.
// Thread safety: data; pure functions.
#ifndef VIGIL_PROPERTIES_JUDGE_COVERAGE_H_
#define VIGIL_PROPERTIES_JUDGE_COVERAGE_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>

#include "vigil/properties/judge/node_rules.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/replays/play/runner.h"

namespace vigil::properties {

// Collects while a play is judged: OfSession() and OfJob() are what the judges tell. Borrows the outcome.
class Coverage {
 public:
  explicit Coverage(const replays::Outcome& outcome) : outcome_(outcome) {}
  OnArmed OfSession();
  OnNodeArmed OfJob();
  // Of a job, once it has been judged.
  void AddFaults();
  // Hashes: the same on every machine.
  const std::set<std::uint64_t>& pairs() const { return pairs_; }

 private:
  void Add(std::string_view role, std::size_t rule, std::uint64_t armed, std::size_t event);

  const replays::Outcome& outcome_;
  std::set<std::uint64_t> pairs_;
};

// Which events there were, in their order, without times: two plays with one hash did the same.
std::uint64_t TraceHash(const replays::Outcome& outcome);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_JUDGE_COVERAGE_H_
