// What a run has broken: rules of a session, or invariants of a job.
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_BROKEN_H_
#define VIGIL_PROPERTIES_BROKEN_H_

#include <string>
#include <string_view>
#include <vector>

#include "vigil/replays/runner.h"
#include "vigil/replays/scenario.h"

namespace vigil::properties {

struct Broken {
  std::string rule;
  std::string text;  // its proof: indented lines
};

// In the order in which reports name them. Adds what the nodes of a job broke to its facts.
std::vector<Broken> BrokenIn(replays::Outcome& outcome, const replays::Scenario& scenario);

// By the scenario's choices.
bool Breaks(replays::Runner& runner, const replays::Scenario& scenario, std::string_view rule);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_BROKEN_H_
