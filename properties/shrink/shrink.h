// Makes what fails as small as it gets: the least that is needed to break the same promise.
//
// The idea: lists (hooks, faults, statements, the plan, choices) lose halves, then quarters, ... then single entries;
// members that may be absent go; bodies take the place of their loops; two faults, probes or runs become one that does
// the work of both; numbers come down; then pairs go at once, and the numbers of calls come down together with the runs
// that lead there. Every candidate is played again and must fail in the same way. It ends where no single step is left
// (minimal), or with the budget.
// Works on the text of the scenario (replays/format/edits.h): sessions and clusters alike.
//
// Thread safety: pure but for `fails`.
#ifndef VIGIL_PROPERTIES_SHRINK_SHRINK_H_
#define VIGIL_PROPERTIES_SHRINK_SHRINK_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "vigil/replays/format/scenario.h"

namespace vigil::properties {

struct ShrinkOptions {
  std::uint64_t max_plays = 5000;
  std::function<bool()> stop;  // asked before each play; may be empty
};

struct Shrunk {
  replays::Scenario scenario;
  std::uint64_t plays = 0;
  // No single entry, pair of entries or smaller number, alone or with fewer runs, can be had; else its budget was
  // spent.
  bool minimal = false;
};

// Whether it (still) fails in the way that is looked into.
using StillFails = std::function<bool(const replays::Scenario&)>;

// REQUIRES: fails(failing), by failing.choices.
Shrunk Shrink(const replays::Scenario& failing, const StillFails& fails, const ShrinkOptions& options = {});

// Hooks, faults (of a cluster: entries of the plan, and what its links do to messages) and statements, those in bodies
// included: how big it is for a reader.
std::size_t Elements(const replays::Scenario& scenario);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_SHRINK_SHRINK_H_
