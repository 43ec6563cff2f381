// What `vigil check` says in the end, as text and as JSON. Sorted by name: two runs of the same code say the same.
//
// Thread safety: pure functions.
#ifndef VIGIL_CLI_CHECK_REPORT_H_
#define VIGIL_CLI_CHECK_REPORT_H_

#include <string>
#include <string_view>
#include <vector>

#include "vigil/properties/campaign/check.h"

namespace vigil::replays {
class JsonWriter;
}

namespace vigil::cli {

// Suites; of those that hold rules, each rule with how often it was armed, and of those that draw or record faults,
// seams with how often something failed there; the last line is "N passed, N failed".
std::string CheckText(const properties::CheckOptions& options, const properties::CheckSummary& summary);

// {"passed","failed","unreadable","interrupted","seeds","suites":{..},"rules":[..],"seams":{..},"incomplete":[..],
// "failures":[{"suite","id","rule","file"},..]}
std::string CheckJson(const properties::CheckOptions& options, const properties::CheckSummary& summary,
                      const std::vector<properties::CheckFailure>& failures);

// What was reached after so many seeds or plays (`of`): a line each below a head; a list of pairs.
std::string CurveText(std::string_view of, const properties::ReachedCurve& curve);
void WriteCurve(replays::JsonWriter& w, const properties::ReachedCurve& curve);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_CHECK_REPORT_H_
