// Steps drawn for a random graph (random_graph.h): what is fed, fetched and run, of a few kinds which come again.
//
// Thread safety: none.
#ifndef VIGIL_FAKES_GRAPHS_RANDOM_STEPS_H_
#define VIGIL_FAKES_GRAPHS_RANDOM_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/base/splitmix64.h"
#include "vigil/core/session/session.h"
#include "vigil/core/tensor/tensor.h"
#include "vigil/fakes/graphs/random_graph.h"

namespace vigil::fakes {

struct RandomStep {
  RunSpec spec;
  std::vector<Tensor> feeds;
  bool may_fetch_dead = false;
  bool may_read_dead = false;  // a variable for a branch that is not taken
  NodeId fails = kNoNode;      // the only check that does not hold
  std::string text;            // for reports
};

// What a session says to a step.
struct StepAnswer {
  absl::Status status;
  std::vector<Tensor> values;
};
// "[1, 2], [0.5, 4]", "ABORTED: why".
std::string AnswerText(const StepAnswer& answer);

// Whether one on a cluster says what one in a single process says: the same values, or the same code. Before variables
// have values (`initialised`) a step may have several reasons to fail. And the task of a variable sends its value to
// another one without knowing whether who wants it is dead, as TensorFlow's do.
bool AreSameAnswers(const RandomStep& step, bool initialised, const StepAnswer& alone, const StepAnswer& cluster);

class StepDrawer {
 public:
  // `graph` is borrowed. Of `wrong_in` steps five are wrong: a check that does not hold (three of them, where there is
  // one), a feed of another shape, one that is missing. REQUIRES: wrong_in >= 5.
  StepDrawer(const RandomGraph& graph, std::uint64_t seed, std::uint64_t wrong_in = 10)
      : graph_(graph), draws_(seed), wrong_in_(wrong_in) {
    DrawKinds();
  }

  // Other kinds, of what the graph has by now.
  void DrawKinds();
  // All placeholders are fed: numbers, choices, what checks look at; now and then wrongly.
  RandomStep Next();

 private:
  struct Kind {
    RunSpec spec;
    bool may_fetch_dead = false;
    bool may_read_dead = false;
  };

  template <typename T>
  T Pick(const std::vector<T>& from) {
    return from[draws_.Below(from.size())];
  }
  bool Chance(std::size_t percent) { return draws_.Below(100) < percent; }
  bool IsOfPair(Output output) const;
  std::vector<NodeId> Needed(const std::vector<NodeId>& nodes, const RunSpec& spec) const;
  Kind DrawKind();
  Output Variable();
  void AddFeed(RunSpec& spec, Output feed) const;
  std::string Text(const RandomStep& step) const;

  const RandomGraph& graph_;
  SplitMix64 draws_;
  const std::uint64_t wrong_in_;
  std::vector<Kind> kinds_;
};

// The variables of which it is determined what a step that failed at `failed` has done to them: whatever updates them
// has to run before it, or after it.
std::vector<Output> DeterminedVariables(const RandomGraph& random, const RunSpec& spec, NodeId failed);

// Whether such a step changes a variable.
bool Updates(const RandomGraph& random, const RunSpec& spec);

}  // namespace vigil::fakes

#endif  // VIGIL_FAKES_GRAPHS_RANDOM_STEPS_H_
