// Which runs train: those whose fetches change a global variable (whatever they do to local ones, to queues and to
// files).
//
// Thread safety: one task at a time. The graph must not change between calls other than by growing.
#ifndef VIGIL_CORE_TRAIN_HOOKS_TRAINING_RUNS_H_
#define VIGIL_CORE_TRAIN_HOOKS_TRAINING_RUNS_H_

#include <cstddef>
#include <vector>

#include "vigil/core/graph/graph.h"
#include "vigil/core/session/session.h"
#include "vigil/core/train/fetches.h"

namespace vigil {

// Whether a run of `spec` reaches an op that changes one of the graph's global variables. Feeds are not looked at.
bool ChangesGlobalVariables(const Graph& graph, const RunSpec& spec);

// Remembers the answers for the few kinds of runs that a loop makes; then it allocates nothing.
class TrainingRuns {
 public:
  bool Contain(const Graph& graph, const Fetches& fetches);

 private:
  struct Known {
    const Graph* graph = nullptr;
    RunSpec spec;
    bool trains = false;
  };
  std::vector<Known> known_;
  std::size_t next_ = 0;  // the one to be replaced
  RunSpec asked_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKS_TRAINING_RUNS_H_
