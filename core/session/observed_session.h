// A session that emits an event for each call: put around whatever the factory made, fault injection included.
// Thread safety and errors: those of the session inside.
#ifndef VIGIL_CORE_SESSION_OBSERVED_SESSION_H_
#define VIGIL_CORE_SESSION_OBSERVED_SESSION_H_

#include <memory>

#include "vigil/core/env/env.h"
#include "vigil/core/session/session.h"

namespace vigil {

// Creates through `factory` and emits kSessionCreated or kSessionCreateFailed; each Run and the first Close of the
// session emits kSessionCall when it returns (value = the answer of kReadStep; 1/0 = yes/no of the readiness kinds). A
// Run on a closed session emits as well. Without an event sink the session is returned as the factory made it.
absl::StatusOr<std::unique_ptr<Session>> CreateObserved(const Env& env, SessionFactory& factory, const Graph& graph,
                                                        const std::string& master, const SessionConfig& config);

}  // namespace vigil

#endif  // VIGIL_CORE_SESSION_OBSERVED_SESSION_H_
