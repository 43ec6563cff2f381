// Requests that give something back, and whose answers nobody waits for: a session, a graph, what a step has left.
//
// A network may lose one, and the server would keep what nobody needs. So it is said again, at most three times in all,
// until the server has answered, if only with an error. TensorFlow says each once. Who hears one twice has nothing to
// give back the second time.
// Never waits. Thread safety: safe from any task, and from where the network calls.
#ifndef VIGIL_CORE_CLUSTER_GOODBYE_H_
#define VIGIL_CORE_CLUSTER_GOODBYE_H_

#include "vigil/core/env/env.h"

namespace vigil {

// `env`'s clock and network must be there until the last answer. The deadline of the request is set here.
void SayGoodbye(const Env& env, NetworkRequest request);

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_GOODBYE_H_
