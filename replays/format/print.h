// Writes a scenario as one line of JSON: fields in a fixed order, what has its default left out, no spaces. The inverse
// of parse.h: parsing the line gives an equal Scenario.
//
// Thread safety: pure functions.
#ifndef VIGIL_REPLAYS_FORMAT_PRINT_H_
#define VIGIL_REPLAYS_FORMAT_PRINT_H_

#include <string>

#include "vigil/replays/format/scenario.h"

namespace vigil::replays {

// Without a newline. `expect` may be null.
std::string PrintRecord(const Scenario& scenario, const Expectation* expect = nullptr);

// What real clusters did, as "expect" of a record has it.
std::string PrintJobExpectation(const JobExpectation& expectation);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_PRINT_H_
