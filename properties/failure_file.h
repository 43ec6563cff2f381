// Saves what failed as a scenario file that `vigil replay` reads.
//
// Thread safety: pure functions over the file seam.
#ifndef VIGIL_PROPERTIES_FAILURE_FILE_H_
#define VIGIL_PROPERTIES_FAILURE_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "vigil/core/env/files.h"
#include "vigil/replays/scenario.h"

namespace vigil::properties {

// Into `folder`, which is made if it is not there. The name of the file is made of `name`, which may hold anything. Returns its path;
// the message of an error names it. `expect` may be null.
absl::StatusOr<std::string> SaveFailure(Files& files, const std::string& folder, std::string_view name,
                                        const replays::Scenario& scenario, const replays::Expectation* expect);

// "  ./vigil replay failures/x.json\n"
std::string ReplayLine(std::string_view path);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_FAILURE_FILE_H_
