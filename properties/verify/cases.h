// The scenarios that a hook is driven through: enumerated ones, smallest first, and random ones.
//
// In each list of hooks "foreign" stands for the hook under verification. Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_VERIFY_CASES_H_
#define VIGIL_PROPERTIES_VERIFY_CASES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/replays/format/scenario.h"

namespace vigil {

// What the decisions of a hook in one case have to do with those in another.
enum class HookRelation {
  kNone,
  kSame,        // the same decisions after the same steps, as far as both came
  kStillStops,  // if it asked for a stop there, it does here
};

struct HookCase {
  std::string name;  // "calm.monitored.alone"
  replays::Scenario scenario;
  int lives = 1;  // sessions one after the other
  HookRelation relation = HookRelation::kNone;
  std::string like;             // the case that it is compared with: an earlier one
  std::string_view promise;     // that is broken if the relation does not hold
  std::string_view implied_by;  // another promise that, once broken, explains this; "" = none
};

const std::vector<HookCase>& EnumeratedCases();
// "random_<seed>".
HookCase RandomCase(std::uint64_t seed);

}  // namespace vigil

#endif  // VIGIL_PROPERTIES_VERIFY_CASES_H_
