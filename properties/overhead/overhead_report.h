// What was measured (overhead.h), for people, programs and documents.
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_OVERHEAD_OVERHEAD_REPORT_H_
#define VIGIL_PROPERTIES_OVERHEAD_OVERHEAD_REPORT_H_

#include <string>

#include "vigil/properties/overhead/overhead.h"

namespace vigil {

// A line a hook, aligned, with what stands in the columns below it. Ends with a newline.
std::string OverheadTable(const OverheadReport& report);
// One object: {"run_ns", "blocks", "runs", "hooks": [{"name", "ns", "low", "high", "ns_later", "allocations"}]}.
// allocations is null where they were not counted.
std::string OverheadJson(const OverheadReport& report);
// A picture by itself: a bar a hook from 1 ns on, on a logarithmic scale, with its quartiles.
std::string OverheadSvg(const OverheadReport& report);

}  // namespace vigil

#endif  // VIGIL_PROPERTIES_OVERHEAD_OVERHEAD_REPORT_H_
