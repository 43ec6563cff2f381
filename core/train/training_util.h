// The global step: the one integer that counts training steps (training_util.py).
//
// Errors are USAGE, in TensorFlow's words: 'Existing "global_step" does not have integer type: ...', '"global_step"
// already exists.' Thread safety: as the graph's.
#ifndef VIGIL_CORE_TRAIN_TRAINING_UTIL_H_
#define VIGIL_CORE_TRAIN_TRAINING_UTIL_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/session/session.h"

namespace vigil {

// What gives the value of a variable that ops::MakeVariable or MakeResourceVariable made; anything else is itself.
// Nodes run in the order in which they were made, and the read of a variable was made with it: whatever the graph does
// to the variable later, in a run that also reads it the read comes first.
Output ReadOfVariable(const Graph& graph, Output variable);
// The node's name that a global step goes by: where it is what reads a resource variable, that variable's.
std::string NameOfStep(const Graph& graph, Output step);

// The sole item of the GLOBAL_STEP collection; if that is empty, the tensor "global_step:0"; nullopt if there is none,
// or several. Of a resource variable it is what reads it.
absl::StatusOr<std::optional<Output>> GetGlobalStep(const Env& env, const Graph& graph);
// An int64 variable "global_step", 0 at first, in the collections of global variables and of the global step.
absl::StatusOr<Output> CreateGlobalStep(const Env& env, Builder& builder);
absl::StatusOr<Output> GetOrCreateGlobalStep(const Env& env, Builder& builder);
// The tensor that reads the global step, made once for a graph; nullopt without a global step. In a run that also
// trains, it gives the step from before (TensorFlow leaves the order open), if the step is a variable of
// ops::MakeVariable.
absl::StatusOr<std::optional<Output>> GetOrCreateGlobalStepRead(const Env& env, Builder& builder);
// A fetched global step as a number; USAGE if it is none.
absl::StatusOr<std::int64_t> GlobalStepValue(const Tensor& fetched);
// Its value in a session, by a run of its own.
absl::StatusOr<std::int64_t> ReadGlobalStep(Session& session, Output global_step);

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_TRAINING_UTIL_H_
