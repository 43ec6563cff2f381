// What a client of a cluster spends before the cluster hears of it: TensorFlow's clients take a while to send the graph
// of a new session, and to prepare each new set of fetches. Without it recoveries would be faster than any that was
// recorded.
//
// Thread safety: as the sessions that it wraps.
#ifndef VIGIL_SIM_CLUSTER_CLIENT_COSTS_H_
#define VIGIL_SIM_CLUSTER_CLIENT_COSTS_H_

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "vigil/core/base/time.h"
#include "vigil/core/env/env.h"
#include "vigil/core/session/session.h"
#include "vigil/sim/cluster/job_spec.h"

namespace vigil::sim {

// One of some measured times, drawn where it says: at "session" or "signature".
using DrawTime = std::function<Duration(std::string_view point, const std::vector<Duration>& times)>;

// `draw` is asked only where the workload has measured times, by whichever task of the client spends them.
std::shared_ptr<SessionFactory> NewCostlyFactory(const Env& env, std::shared_ptr<SessionFactory> inner,
                                                 const WorkloadSpec& costs, DrawTime draw);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_CLIENT_COSTS_H_
