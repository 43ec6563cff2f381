// Compares what was played with what was recorded, and says where they part.
//
// The report is stable and can be compared by diff: the last lines that agree, then the lines of both sides from the
// first difference on, aligned.
//
// Thread safety: pure functions.
#ifndef VIGIL_REPLAYS_JUDGE_COMPARE_H_
#define VIGIL_REPLAYS_JUDGE_COMPARE_H_

#include <cstddef>
#include <optional>
#include <string>

#include "vigil/replays/format/scenario.h"
#include "vigil/replays/stage/outcome.h"

namespace vigil::replays {

struct EventDifference {
  std::size_t event = 0;                // 1 = the first
  std::optional<std::string> expected;  // none = nothing more was expected
  std::optional<std::string> played;    // none = nothing more happened
};

struct Difference {
  std::optional<EventDifference> first_event;
  bool final_differs = false;
  std::string report;  // lines, each ending in a newline; "" if nothing differs
  bool none() const { return !first_event.has_value() && !final_differs; }
};

// How many lines around the first difference a report shows, on either side.
inline constexpr std::size_t kContextLines = 5;

// Events, and the final state if `expected` has one; messages are not compared.
Difference Compare(const PlainOutcome& played, const Expectation& expected);

// "checkpoints 2 4, latest model.ckpt-4, all model.ckpt-2 model.ckpt-4"; "none" for what is absent.
std::string FinalText(const FinalState& state);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_JUDGE_COMPARE_H_
