// A failure as the line that a CI service marks a build with.
//
// Thread safety: pure functions; ServiceOf reads the environment.
#ifndef VIGIL_CLI_ANNOTATIONS_H_
#define VIGIL_CLI_ANNOTATIONS_H_

#include <string>
#include <string_view>

#include "vigil/properties/campaign/check.h"

namespace vigil::cli {

enum class CiService { kNone, kGithub, kAzure, kTeamcity };

// "github", "azure", "teamcity", "none"; "auto": by what the services set in the environment of their jobs.
CiService ServiceOf(std::string_view name);

// With its newline; "" for no service. GitLab and Jenkins read JUnit instead (--junit).
std::string Annotation(CiService service, const properties::CheckFailure& failure);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_ANNOTATIONS_H_
