// Graphs drawn from a seed, which mean the same wherever their nodes stand: for whoever runs them in one process and on
// several tasks.
//
// A graph has constants, what is fed, arithmetic, nodes with several outputs, variables and updates of them, control
// edges, branches (in branches), checks that fail when they are told so; each node at one of the places, of which its
// device says more or less. What a shorter graph of the same seed has is the beginning of a longer one, so a failure is
// looked for in a shorter one; and a graph may grow while sessions use it.
//
// Thread safety: none.
#ifndef VIGIL_FAKES_GRAPHS_RANDOM_GRAPH_H_
#define VIGIL_FAKES_GRAPHS_RANDOM_GRAPH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vigil/core/base/splitmix64.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil::fakes {

// Where a node may stand.
struct GraphPlace {
  std::string task;                  // "ps0": in the names of variables; "" = the task whose session it is
  std::vector<std::string> devices;  // that say so
  // Those of a session of a worker of the cluster {"ps": 1, "worker": 2}; what is there twice is as likely again.
  static const std::vector<GraphPlace>& OfTwoWorkers();
};

struct RandomGraphOptions {
  std::uint64_t seed = 0;
  int size = 0;        // in statements of several nodes each
  bool other = false;  // other numbers and ops in as many bytes
  std::vector<GraphPlace> places = GraphPlace::OfTwoWorkers();
  // The graph for one process that stands for a session of that task, "worker0": its variables are named by their
  // tasks. "": the one for a cluster.
  std::string stands_for = {};
  std::string container = {};  // of its variables
};

struct RandomGraph {
  explicit RandomGraph(const RandomGraphOptions& options);
  ~RandomGraph();

  // By so many statements. REQUIRES: the graph is not finalized.
  void Grow(int statements);

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

 private:
  class Drawer;
  const std::unique_ptr<Drawer> drawer_;
};

// To the bit: what is not a number is the same as itself.
bool AreSame(const std::vector<Tensor>& some, const std::vector<Tensor>& others);
// "[0.5, -2]".
std::string ValueText(const Tensor& value);

// A vector of two small numbers.
Tensor TwoSmallNumbers(SplitMix64& draws);

}  // namespace vigil::fakes

#endif  // VIGIL_FAKES_GRAPHS_RANDOM_GRAPH_H_
