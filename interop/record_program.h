// Runs a drawn program and writes down what it gave, in the form of replays/graphs.
// Thread safety: each recording is alone.
#ifndef VIGIL_INTEROP_RECORD_PROGRAM_H_
#define VIGIL_INTEROP_RECORD_PROGRAM_H_

#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/interop/drawn_program.h"
#include "vigil/replays/graphs/graph_player.h"

namespace vigil::interop {

// Initialises, looks at the values, then kSteps times: trains, looks at the values. Errors: those of the runs, and of
// exporting the graph.
absl::StatusOr<RecordedPlay> RecordProgram(const Env& env, Graph& graph, const DrawnProgram& program);

}  // namespace vigil::interop

#endif  // VIGIL_INTEROP_RECORD_PROGRAM_H_
