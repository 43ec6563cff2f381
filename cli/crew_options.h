// The options of commands that play in processes of their own (replays/crew/crew.h): --jobs and --play-limit.
//
// Thread safety: for the main thread.
#ifndef VIGIL_CLI_CREW_OPTIONS_H_
#define VIGIL_CLI_CREW_OPTIONS_H_

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "vigil/replays/crew/crash.h"

namespace CLI {
class App;
}

namespace vigil::cli {

struct CrewArguments {
  int jobs = -1;  // one for each core
  std::string play_limit;
};

// `limit`: of a play, if nothing is said. `more`: what else there is to say of --jobs; "" = nothing.
void AddCrewOptions(CLI::App& app, CrewArguments& arguments,
                    std::chrono::milliseconds limit = replays::PlayLimits().cpu, const std::string& more = "");
int JobsOf(const CrewArguments& arguments);
// USAGE: what is no time.
absl::Status ReadPlayLimit(const CrewArguments& arguments, replays::PlayLimits& limits);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_CREW_OPTIONS_H_
