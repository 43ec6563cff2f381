// Which fault may lead to which end of a task: the one table of causes. docs/faults.md shows it, and
// job.errors_have_a_cause judges by it: a fault explains an end only if it has struck, not after it where that is
// known, and where it could have reached the task, and if what its rule says besides has happened.
//
// Thread safety: pure functions.
#ifndef VIGIL_SIM_CHECKERS_CAUSES_H_
#define VIGIL_SIM_CHECKERS_CAUSES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "vigil/core/base/code.h"
#include "vigil/core/base/time.h"
#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/faults/fault_kinds.h"

namespace vigil::sim {

// The end of a task's program, and what a rule may ask about it.
struct TaskEnd {
  const JobRun& run;
  const JobMoment& moment;
  std::optional<Time> healed;  // if that was before
  // A hook had asked for a stop, the input had ended, or the session was being closed without an error.
  bool leaving = false;
  std::map<std::string, Code, std::less<>> gone;    // whose program has ended before, and how
  std::set<std::string, std::less<>> away;          // whom the plan may have taken away for good by then
  std::set<std::string, std::less<>> told;          // who was told to stop, in this life
  std::set<std::string, std::less<>> have_trained;  // to whom a run has come back, in any life
  std::set<std::string, std::less<>> out_of_input;  // whom the end of an input, told by a run, has made leave
  std::set<std::int64_t> saved;  // the steps of the checkpoints that somebody was told of, or has restored
};

struct Cause {
  std::span<const Code> codes;
  std::string_view who;  // in words
  bool (*applies)(const TaskEnd& end);
  std::span<const FaultKind> faults;  // one of them must have struck
  bool anywhere = false;              // ... any task, since it is another's end that this one comes of
  std::string_view rule;              // why that leads to it: a sentence
};

// In a fixed order.
std::span<const Cause> Causes();

// The first rule that explains that end; null: nothing does. REQUIRES: an end with an error.
const Cause* ExplanationOf(const TaskEnd& end);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CHECKERS_CAUSES_H_
