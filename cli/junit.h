// What `vigil check` and `vigil verify` found, as the JUnit XML that build servers read.
//
// Thread safety: pure functions.
#ifndef VIGIL_CLI_JUNIT_H_
#define VIGIL_CLI_JUNIT_H_

#include <string>
#include <string_view>
#include <vector>

#include "vigil/properties/campaign/check.h"

namespace vigil::cli {

// A testsuite for each suite, and one for the campaign as a whole: what it never met (if it was long enough to tell),
// and an error if it was interrupted. `tests` and `failures` count scenarios; the testcases are one for all that
// passed, one for each failure that was explained, with its text, and one for all further failures.
// `missing`: parts of which there is no result, an error each.
std::string JUnit(const properties::CheckSummary& summary, const std::vector<properties::CheckFailure>& failures,
                  const std::vector<std::string>& missing = {});

struct JUnitCase {
  std::string name;
  std::string failure = {};  // what is wrong, in a few words; "" = it passed
  std::string text = {};     // of a failure
};

// Of the command `vigil NAME`: one testsuite, a testcase for each. `interrupted`: there would be more, which is an
// error.
std::string JUnit(std::string_view name, const std::vector<JUnitCase>& cases, bool interrupted);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_JUNIT_H_
