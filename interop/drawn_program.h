// Small programs that are drawn: a model with its data, a loss, an optimizer, made with the library as a user would.
//
// A program is a function of seed and number. Its variables' values after each step are what is compared.
// Thread safety: as the graph's.
#ifndef VIGIL_INTEROP_DRAWN_PROGRAM_H_
#define VIGIL_INTEROP_DRAWN_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"

namespace vigil::interop {

struct DrawnProgram {
  std::string about;            // "conv, embedding; Adam; resource variables"
  NodeId init = kNoNode;        // all variables
  Output train;                 // one step
  std::vector<Output> values;   // looked at after each step: the loss, all variables, the learning rate
  std::vector<Output> feeds;    // none, or the batch
  std::vector<Tensor> batches;  // one for each feed and step, a step's together
};

inline constexpr int kSteps = 20;

// Adds one to the graph, with collections interop_train and interop_loss, a saver and summaries. `repeatable`: a run
// that begins in the middle sees the same data (nothing is fed or dropped).
absl::StatusOr<DrawnProgram> DrawProgram(const Env& env, Graph& graph, std::uint64_t seed, int number,
                                         bool repeatable = false);

}  // namespace vigil::interop

#endif  // VIGIL_INTEROP_DRAWN_PROGRAM_H_
