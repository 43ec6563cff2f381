#include "vigil/cli/crew_options.h"

#include <CLI/CLI.hpp>
#include <optional>

#include "fmt/format.h"
#include "vigil/cli/commands.h"
#include "vigil/cli/system.h"
#include "vigil/cli/words.h"
#include "vigil/core/base/code.h"

namespace vigil::cli {

void AddCrewOptions(CLI::App& app, CrewArguments& arguments, std::chrono::milliseconds limit, const std::string& more) {
  app.add_option("--jobs", arguments.jobs,
                 "How many to play at a time (default: one for each core); 0: in this process, for a debugger" + more)
      ->check(CheckNumber(0, kMostJobs))
      ->type_name("N");
  app.add_option(
         "--play-limit", arguments.play_limit,
         fmt::format("A play that needs more processor time than this does not end, which is a finding (default: "
                     "{}s)",
                     limit.count() / 1000))
      ->type_name("TIME");
}

int JobsOf(const CrewArguments& arguments) { return arguments.jobs >= 0 ? arguments.jobs : Cores(); }

absl::Status ReadPlayLimit(const CrewArguments& arguments, replays::PlayLimits& limits) {
  if (arguments.play_limit.empty()) return absl::OkStatus();
  const std::optional<Duration> limit = ParseTime(arguments.play_limit);
  if (!limit.has_value()) {
    return UsageError(fmt::format("--play-limit: expected a time as 30s, 10m or 1h, got '{}'", arguments.play_limit));
  }
  limits.cpu = std::chrono::duration_cast<std::chrono::milliseconds>(*limit);
  return absl::OkStatus();
}

}  // namespace vigil::cli
