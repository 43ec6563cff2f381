// Whether a model is ready, as an op of its graph tells: a vector of the names of what is not initialized.
// Thread safety: as the session's. Source: session_manager.py (_ready).
#ifndef VIGIL_CORE_TRAIN_READINESS_H_
#define VIGIL_CORE_TRAIN_READINESS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/session/session.h"

namespace vigil {

// An answer, and why if it is no.
struct Readiness {
  bool ready = true;
  std::string why_not;
  std::vector<std::string> missing = {};  // what is not initialized, where the op names it
};

// Runs the op. Not ready: it names something ("Variables not initialized: v, w"), or fails since something it needs is
// not initialized.
// Errors: what the run fails with otherwise (FAILED_PRECONDITION is logged, after `what`); USAGE for an op that gives
// no names.
absl::StatusOr<Readiness> AskWhetherReady(const Env& env, Session& session, Output op, std::string_view what);

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_READINESS_H_
