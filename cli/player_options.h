// The options of commands that can have somebody else play (docs/players.md): --player and --player-limit.
//
// Thread safety: for the main thread.
#ifndef VIGIL_CLI_PLAYER_OPTIONS_H_
#define VIGIL_CLI_PLAYER_OPTIONS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/replays/crew/crash.h"
#include "vigil/replays/player/player_client.h"

namespace CLI {
class App;
}

namespace vigil::cli {

struct PlayerArguments {
  std::string command;
  std::string limit;
};

void AddPlayerOptions(CLI::App& app, PlayerArguments& arguments);

// Starts it once, to see whether it greets as it should; gives plays as much time as it may take. Returns a line that
// says who plays; "" if nobody but our core does. USAGE: what is no time; UNAVAILABLE: it does not start.
// `greeting` (may be null): what it said.
absl::StatusOr<std::string> ReadPlayer(const PlayerArguments& arguments, replays::PlayLimits& limits,
                                       replays::PlayerOptions& options, replays::Greeting* greeting = nullptr);

// Processes of this machine play clusters from now on, as long as it takes. UNAVAILABLE: vigil-task is not beside the
// running program.
absl::Status PlayByProcesses(replays::PlayLimits& limits, replays::PlayerOptions& options);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_PLAYER_OPTIONS_H_
