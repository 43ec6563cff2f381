// A violation as text: what was promised, what happened, and the events that prove it.
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_JUDGE_EXPLAIN_H_
#define VIGIL_PROPERTIES_JUDGE_EXPLAIN_H_

#include <string>

#include "vigil/properties/rules/rule.h"
#include "vigil/sim/kernel/trace.h"

namespace vigil::properties {

// Lines, each indented and with its newline:
//   end.only_on_clean_exit: end is called only while ...
//     expected  no end: the scope was left with INTERNAL
//     actual    end is called
//     event 41  close begins after INTERNAL
//     event 42  hook a end session=1
std::string Explain(const Violation& violation, const sim::Trace& trace);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_JUDGE_EXPLAIN_H_
