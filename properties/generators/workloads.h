// What the jobs of the cluster suite are, faults aside: their tasks, and what these train.
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_GENERATORS_WORKLOADS_H_
#define VIGIL_PROPERTIES_GENERATORS_WORKLOADS_H_

#include "vigil/core/base/time.h"
#include "vigil/properties/generators/draws.h"
#include "vigil/sim/cluster/job_spec.h"

namespace vigil::properties {

// A chief, mostly one to three parameter servers, up to three workers; two in a hundred are large.
void DrawCluster(Draws draws, sim::JobSpec& job);

// REQUIRES: the cluster is drawn; an evaluation adds its evaluator.
void DrawWorkload(Draws draws, sim::JobSpec& job);

// How long the training takes if, of all replicas, one is left to do the work.
Duration LongestTraining(const sim::JobSpec& job);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_GENERATORS_WORKLOADS_H_
