// Graphs drawn from a seed, which mean the same wherever their nodes stand: for tests that run them in one process and
// on several tasks.
//
// A graph has constants, what is fed, arithmetic, nodes with several outputs, variables and updates of them, control
// edges, branches (in branches), checks that fail when they are told so; each node on a task of the cluster
// {"ps": 1, "worker": 2}, of which its device says more or less. What a shorter graph of the same seed has is the
// beginning of a longer one, so a failure is looked for in a shorter one.
//
// Thread safety: none.
#ifndef VIGIL_CORE_CLUSTER_SERVER_RANDOM_GRAPH_H_
#define VIGIL_CORE_CLUSTER_SERVER_RANDOM_GRAPH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "vigil/core/base/splitmix64.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

struct RandomGraphOptions {
  std::uint64_t seed = 0;
  int size = 0;        // in statements of several nodes each
  bool other = false;  // other numbers and ops in as many bytes
  // The graph for one process that stands for a session of that worker: its variables are named by their tasks. -1:
  // the one for a cluster.
  int stands_for_worker = -1;
};

struct RandomGraph {
  explicit RandomGraph(const RandomGraphOptions& options);

  Graph graph;
  NodeId init = kNoNode;
  std::vector<Output> numbers;               // placeholders: of vectors of two
  std::vector<Output> choices;               // ... of what branches go by
  std::vector<Output> holds;                 // ... of what checks look at
  std::vector<NodeId> checks;                // as many: each fails if its own does not hold
  std::vector<Output> variables;             // by reference
  std::vector<std::vector<NodeId>> updates;  // by variable
  std::vector<Output> values;                // that are there in every run
  std::vector<Output> mortal;                // that may be dead
  std::vector<Output> pairs;                 // first outputs of nodes with two, both scalars
  std::vector<NodeId> reads_in_branches;     // nodes in branches that take a variable's value by reference
  std::vector<NodeId> effects;               // nodes to run for their own sake

  // One line for each node.
  std::string Describe() const;
};

// A vector of two small numbers.
Tensor TwoSmallNumbers(SplitMix64& draws);

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_SERVER_RANDOM_GRAPH_H_
