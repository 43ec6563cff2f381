// Queue runners as a MetaGraphDef holds them (QueueRunnerDef).
// Thread safety: as the graph's. Source: queue_runner_impl.py (to_proto, from_proto).
#ifndef VIGIL_CORE_COORD_QUEUE_RUNNER_DEF_H_
#define VIGIL_CORE_COORD_QUEUE_RUNNER_DEF_H_

#include "vigil/core/env/env.h"
#include "vigil/core/ops/meta_graph.h"

namespace vigil {

// Writes and reads kQueueRunners. Runners that are read belong to `env`. INVALID_ARGUMENT for a message that is none,
// and for the name of an op that is not in the graph.
CollectionCodec QueueRunnerCodec(const Env& env);

}  // namespace vigil

#endif  // VIGIL_CORE_COORD_QUEUE_RUNNER_DEF_H_
