// What a client of a cluster spends before the cluster hears of it: TensorFlow's clients take a while to send the graph
// of a new session, and to prepare each new set of fetches. Without it recoveries would be faster than any that was
// recorded.
//
// Thread safety: as the sessions that it wraps.
#ifndef VIGIL_SIM_CLUSTER_CLIENT_COSTS_H_
#define VIGIL_SIM_CLUSTER_CLIENT_COSTS_H_

#include <memory>

#include "vigil/core/env/env.h"
#include "vigil/core/session/session.h"
#include "vigil/sim/cluster/job_spec.h"

namespace vigil::sim {

std::shared_ptr<SessionFactory> NewCostlyFactory(const Env& env, std::shared_ptr<SessionFactory> inner,
                                                 const WorkloadSpec& costs);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_CLIENT_COSTS_H_
