// A part of the printer for those who show plans.
//
// Thread safety: pure functions.
#ifndef VIGIL_REPLAYS_FORMAT_PRINT_PARTS_H_
#define VIGIL_REPLAYS_FORMAT_PRINT_PARTS_H_

#include <cstddef>

#include "vigil/replays/format/json_writer.h"
#include "vigil/sim/faults/fault_kinds.h"

namespace vigil::replays {

// One entry of a plan, as it stands in "plan".
void PrintPlanEntry(JsonWriter& w, const sim::FaultPlan& plan, sim::InertFault::List list, std::size_t index);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_PRINT_PARTS_H_
