// Holds what the core did against what the reference model says.
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_JUDGE_MODEL_COMPARISON_H_
#define VIGIL_PROPERTIES_JUDGE_MODEL_COMPARISON_H_

#include <optional>
#include <string>

#include "vigil/replays/format/scenario.h"
#include "vigil/replays/stage/outcome.h"

namespace vigil::properties {

struct ModelComparison {
  std::string refused;          // the model does not model that: the name of the field
  std::string disagreement;     // one line: where the core did something else
  std::string report;           // of a disagreement: lines, each with its newline
  replays::Expectation expect;  // of a disagreement: what the model says
};

// Lines, the final state, and whether it ran away. REQUIRES: the scenario was played.
ModelComparison CompareWithModel(const replays::Scenario& scenario, const replays::PlainOutcome& outcome);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_JUDGE_MODEL_COMPARISON_H_
