// The options of `vigil explore --crash-every`.
#include <CLI/CLI.hpp>
#include <string>

#include "fmt/format.h"
#include "vigil/cli/crash_every.h"
#include "vigil/cli/parse_command.h"

namespace vigil::cli {

void AddCrashEveryOptions(CLI::App& app, CrashEveryArguments& a) {
  constexpr char kGroup[] = "Of a small job, faults at every point";
  std::string names;
  for (const properties::SmallJobInfo& job : properties::SmallJobs())
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", job.name, job.what);
  app.add_option("--cluster", a.cluster, fmt::format("The job: {}; or FILE, or FILE#ID, with a job", names))
      ->type_name("SPEC")
      ->group(kGroup);
  app.add_flag("--crash-every", a.every,
               "A crash, a power cut, a cut of the link, a lost reply at every message and operation on a file")
      ->group(kGroup);
  app.add_flag("--pairs", a.options.pairs, "All pairs of them: the second in the course that the first has changed")
      ->group(kGroup);
}

bool AsksForCrashEvery(const CLI::App& app) {
  static constexpr const char* kOptions[] = {"--cluster", "--crash-every", "--pairs"};
  return FirstGiven(app, kOptions) != nullptr;
}

}  // namespace vigil::cli
