// `vigil explore FILE`: one scenario under all schedules of its tasks, or under many.
//
// Thread safety: called once, on the main thread.
#ifndef VIGIL_CLI_SCHEDULES_H_
#define VIGIL_CLI_SCHEDULES_H_

#include <string>
#include <vector>

#include "vigil/properties/explore/schedules.h"

namespace CLI {
class App;
}

namespace vigil::cli {

struct SchedulesArguments {
  properties::SchedulesOptions options;
  std::string file;             // or FILE#ID
  std::string only;             // the id; "" = as `file` says
  std::string search = "dfs";   // or dpor, pct
  std::string seeds;            // of pct: "A..B"; "" = the default
  std::string json;             // a file, or "-"; "" = none
  bool preempt = false;         // sim::Preempt::kAtCalls
  bool spins = false;           // ... kAtSpins
  bool failures_given = false;  // then the folder is looked at before the work
};

// Options that explore has only with a FILE.
inline constexpr const char* kOfSchedules[] = {"--only",       "--schedules", "--limit",  "--choices", "--changes",
                                               "--all-points", "--seeds",     "--depth",  "--plant",   "--as-expected",
                                               "--preempt",    "--spins",     "--guarded"};
void AddScheduleOptions(CLI::App& app, SchedulesArguments& arguments);

// Checks what was parsed, then ExploreSchedules().
int ExploreFile(SchedulesArguments arguments, const CLI::App& app);

// Plays them and tells what came of it; returns the exit code.
int ExploreSchedules(const SchedulesArguments& arguments);

std::string SchedulesText(const properties::SchedulesSummary& summary);
std::string SchedulesJson(const std::string& id, const properties::SchedulesOptions& options,
                          const properties::SchedulesSummary& summary,
                          const std::vector<properties::SchedulesFailure>& failures);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_SCHEDULES_H_
