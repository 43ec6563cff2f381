// A scenario in one line, for people: who takes part, what goes wrong, what the caller does.
//
// "a monitored session with probe a (before_run 2: request_stop); run 2 fails with ABORTED; the caller: run, run"
// "chief, 2 workers, 1 ps train async_regression to step 100; at 12.5 s ps:0 crashes, back after 2 s"
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_SHRINK_SCENARIO_SUMMARY_H_
#define VIGIL_PROPERTIES_SHRINK_SCENARIO_SUMMARY_H_

#include <string>

#include "vigil/replays/format/scenario.h"

namespace vigil::properties {

std::string ScenarioSummary(const replays::Scenario& scenario);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_SHRINK_SCENARIO_SUMMARY_H_
