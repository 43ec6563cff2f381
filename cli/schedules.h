// `vigil explore FILE`: one scenario under all schedules of its tasks, or under many.
//
// Thread safety: called once, on the main thread.
#ifndef VIGIL_CLI_SCHEDULES_H_
#define VIGIL_CLI_SCHEDULES_H_

#include <string>
#include <vector>

#include "vigil/properties/schedules.h"

namespace vigil::cli {

struct SchedulesArguments {
  properties::SchedulesOptions options;
  std::string file;             // or FILE#ID
  std::string only;             // the id; "" = as `file` says
  std::string json;             // a file, or "-"; "" = none
  bool failures_given = false;  // then the folder is looked at before the work
};

// Plays them and tells what came of it; returns the exit code.
int ExploreSchedules(const SchedulesArguments& arguments);

std::string SchedulesText(const properties::SchedulesSummary& summary);
std::string SchedulesJson(const std::string& id, const properties::SchedulesOptions& options,
                          const properties::SchedulesSummary& summary,
                          const std::vector<properties::SchedulesFailure>& failures);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_SCHEDULES_H_
