// Random scenarios for property tests with rapidcheck, the very ones of `vigil check --suite random`:
//
//   RC_GTEST_PROP(MyHook, NeverRunsAfterAStop, ()) {
//     const replays::Scenario scenario = *vigil::properties::AnyScenario();
//     RC_ASSERT(...);
//   }
//
// A failing one is shrunk by taking away hooks, faults and statements, one at a time, and shown as its record, which
// `vigil replay` plays. To be included by tests alone: rapidcheck is slow to compile, and its generators belong to one
// thread.
#ifndef VIGIL_PROPERTIES_GENERATORS_RAPIDCHECK_SCENARIOS_H_
#define VIGIL_PROPERTIES_GENERATORS_RAPIDCHECK_SCENARIOS_H_

#include <rapidcheck.h>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <utility>
#include <vector>

#include "vigil/properties/generators/scenarios.h"
#include "vigil/replays/format/print.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::replays {

// Found by rapidcheck.
inline void showValue(const Scenario& scenario, std::ostream& out) { out << PrintRecord(scenario); }

}  // namespace vigil::replays

namespace vigil::properties {

// The list with one statement less, those in bodies too: one of each. A body keeps its last one, for it may not be
// empty.
inline std::vector<std::vector<replays::Statement>> ShorterLists(const std::vector<replays::Statement>& list) {
  std::vector<std::vector<replays::Statement>> shorter;
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::vector<replays::Statement> less = list;
    less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
    shorter.push_back(std::move(less));
    for (std::vector<replays::Statement>& body : ShorterLists(list[i].body)) {
      if (body.empty()) continue;
      shorter.push_back(list);
      shorter.back()[i].body = std::move(body);
    }
  }
  return shorter;
}

// The scenario with one hook, fault or statement less: one of each.
inline std::vector<replays::Scenario> SmallerScenarios(const replays::Scenario& scenario) {
  std::vector<replays::Scenario> smaller;
  const auto without = [&](auto member) {
    for (std::size_t i = 0; i < (scenario.*member).size(); ++i) {
      replays::Scenario less = scenario;
      (less.*member).erase((less.*member).begin() + static_cast<std::ptrdiff_t>(i));
      smaller.push_back(std::move(less));
    }
  };
  without(&replays::Scenario::hooks);
  without(&replays::Scenario::faults);
  for (const auto member : {&replays::Scenario::drive, &replays::Scenario::after}) {
    for (std::vector<replays::Statement>& shorter : ShorterLists(scenario.*member)) {
      smaller.push_back(scenario);
      smaller.back().*member = std::move(shorter);
    }
  }
  return smaller;
}

inline rc::Gen<replays::Scenario> AnyScenario() {
  const rc::Gen<replays::Scenario> drawn =
      rc::gen::map(rc::gen::noShrink(rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>())),
                   [](std::uint64_t seed) { return RandomScenario(seed); });
  return rc::gen::shrink(drawn,
                         [](replays::Scenario scenario) { return rc::seq::fromContainer(SmallerScenarios(scenario)); });
}

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_GENERATORS_RAPIDCHECK_SCENARIOS_H_
