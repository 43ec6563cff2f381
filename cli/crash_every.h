// `vigil explore --cluster SPEC --crash-every`: a small job with a fault at each point of its course.
//
// Thread safety: called once, on the main thread.
#ifndef VIGIL_CLI_CRASH_EVERY_H_
#define VIGIL_CLI_CRASH_EVERY_H_

#include <string>
#include <vector>

#include "vigil/properties/explore/crash_every.h"

namespace CLI {
class App;
}

namespace vigil::cli {

struct CrashEveryArguments {
  properties::CrashEveryOptions options;
  std::string cluster;  // a small job's name, or FILE, or FILE#ID
  bool every = false;
  std::string json;             // a file, or "-"; "" = none
  bool failures_given = false;  // then the folder is looked at before the work
};

void AddCrashEveryOptions(CLI::App& app, CrashEveryArguments& arguments);
// Whether it is asked for: by any of its options.
bool AsksForCrashEvery(const CLI::App& app);

// Plays them and tells what came of it; returns the exit code.
int ExploreCrashEvery(CrashEveryArguments arguments);

std::string CrashEveryPlan(const properties::CrashEveryOptions& options, const properties::CrashEverySummary& summary);
std::string CrashEveryText(const properties::CrashEveryOptions& options, const properties::CrashEverySummary& summary);
std::string CrashEveryJson(const properties::CrashEveryOptions& options, const properties::CrashEverySummary& summary,
                           const std::vector<properties::ExploreFailure>& failures);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_CRASH_EVERY_H_
