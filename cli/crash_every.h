// `vigil explore --cluster SPEC`: a small job with a fault at each point of its course (--crash-every), or with chains
// of them (--guided).
//
// Thread safety: called once, on the main thread.
#ifndef VIGIL_CLI_CRASH_EVERY_H_
#define VIGIL_CLI_CRASH_EVERY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "vigil/properties/explore/crash_every.h"
#include "vigil/properties/explore/guided.h"

namespace CLI {
class App;
}

namespace vigil::cli {

struct CrashEveryArguments {
  properties::CrashEveryOptions options;
  std::uint64_t guided = 0;          // plays of chains of faults (guided.h); 0 = none
  properties::GuidedOptions chains;  // of these, as far as they are not in `options`
  std::string cluster;               // a small job's name, or FILE, or FILE#ID
  bool every = false;
  std::string json;             // a file, or "-"; "" = none
  bool failures_given = false;  // then the folder is looked at before the work
};

void AddCrashEveryOptions(CLI::App& app, CrashEveryArguments& arguments);
// Whether it is asked for: by any of its options.
bool AsksForCrashEvery(const CLI::App& app);

// Plays them and tells what came of it; returns the exit code.
int ExploreCrashEvery(CrashEveryArguments arguments);
int ExploreGuided(CrashEveryArguments arguments);

// The job that `cluster` names: a small job's name goes before a file's. `source` gets the file.
absl::Status FindCluster(Files& files, const std::string& cluster, replays::Scenario& scenario, std::string& source);

std::string CrashEveryPlan(const properties::CrashEveryOptions& options, const properties::CrashEverySummary& summary);
std::string CrashEveryText(const properties::CrashEveryOptions& options, const properties::CrashEverySummary& summary);
std::string CrashEveryJson(const properties::CrashEveryOptions& options, const properties::CrashEverySummary& summary,
                           const std::vector<properties::ExploreFailure>& failures);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_CRASH_EVERY_H_
