// How long processes and clients of TensorFlow took, as was recorded.
//
// Thread safety: pure function.
#ifndef VIGIL_PROPERTIES_GENERATORS_MEASURED_H_
#define VIGIL_PROPERTIES_GENERATORS_MEASURED_H_

#include "vigil/sim/cluster/job_spec.h"

namespace vigil::properties {

// Starts of processes, new sessions and first runs of a kind are drawn from what was measured.
void TakeMeasuredTimes(sim::WorkloadSpec& workload);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_GENERATORS_MEASURED_H_
