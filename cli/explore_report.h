// What `vigil explore` prints. Thread safety: pure functions.
#ifndef VIGIL_CLI_EXPLORE_REPORT_H_
#define VIGIL_CLI_EXPLORE_REPORT_H_

#include <string>
#include <vector>

#include "vigil/properties/explore/explore.h"

namespace vigil::cli {

std::string ExploreText(const properties::ExploreOptions& options, const properties::ExploreSummary& summary);
std::string ExploreJson(const properties::ExploreOptions& options, const properties::ExploreSummary& summary,
                        const std::vector<properties::ExploreFailure>& failures);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_EXPLORE_REPORT_H_
