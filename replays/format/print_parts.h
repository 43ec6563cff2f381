// The parts of the printer. Not part of the interface of replays/: used by print*.cc only.
//
// Thread safety: pure functions.
#ifndef VIGIL_REPLAYS_FORMAT_PRINT_PARTS_H_
#define VIGIL_REPLAYS_FORMAT_PRINT_PARTS_H_

#include <cstddef>

#include "vigil/replays/format/job_expectation.h"
#include "vigil/replays/format/json_writer.h"
#include "vigil/sim/cluster/job_spec.h"
#include "vigil/sim/faults/fault_kinds.h"

namespace vigil::replays {

// The fields of a cluster, inside an open object.
void PrintJob(JsonWriter& w, const sim::JobSpec& job);
// One entry of a plan, as it stands in "plan".
void PrintPlanEntry(JsonWriter& w, const sim::FaultPlan& plan, sim::InertFault::List list, std::size_t index);
void PrintJobExpectation(JsonWriter& w, const JobExpectation& expect);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_PRINT_PARTS_H_
