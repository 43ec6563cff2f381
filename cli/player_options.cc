#include "vigil/cli/player_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include "fmt/format.h"
#include "vigil/cli/system.h"
#include "vigil/cli/words.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/replays/format/escape.h"

namespace vigil::cli {

void AddPlayerOptions(CLI::App& app, PlayerArguments& arguments) {
  const replays::PlayerOptions missing;
  app.add_option(
         "--player", arguments.command,
         "This command plays instead of our own core: TensorFlow, a port, ... (docs/players.md); what it cannot "
         "play is counted by reason")
      ->type_name("CMD");
  app.add_option("--player-limit", arguments.limit,
                 fmt::format("A player that needs longer for one scenario is killed, which is a finding (default: {}s)",
                             missing.plays.count() / 1000))
      ->type_name("TIME");
}

absl::StatusOr<std::string> ReadPlayer(const PlayerArguments& arguments, replays::PlayLimits& limits,
                                       replays::PlayerOptions& options, replays::Greeting* greeting) {
  if (arguments.command.empty()) {
    if (!arguments.limit.empty()) return UsageError("--player-limit: it needs --player");
    return "";
  }
  options.command = arguments.command;
  if (!arguments.limit.empty()) {
    const std::optional<Duration> limit = ParseTime(arguments.limit);
    if (!limit.has_value())
      return UsageError(fmt::format("--player-limit: expected a time as 30s, 10m or 1h, got '{}'", arguments.limit));
    options.plays = std::chrono::duration_cast<std::chrono::milliseconds>(*limit);
  }
  // A worker waits for its player, which may have to start first.
  limits.wall = std::max(limits.wall, 2 * (options.greets + 3 * options.plays));
  VIGIL_ASSIGN_OR_RETURN(const replays::Greeting heard, replays::PlayerClient(options).Greet());
  if (greeting != nullptr) *greeting = heard;
  return fmt::format("player: {} ({})\n", heard.Title(), replays::Escaped(options.command));
}

absl::Status PlayByProcesses(replays::PlayLimits& limits, replays::PlayerOptions& options) {
  options.task_program = ProgramFolder() + "/vigil-task";
  if (!IsFile(options.task_program)) {
    return MakeStatus(Code::kUnavailable,
                      fmt::format("there is no {}: it is built with vigil where gRPC is installed (Debian's "
                                  "libgrpc++-dev), by cmake --build BUILD --target vigil_task, or ./vigil",
                                  replays::Escaped(options.task_program)));
  }
  if (!options.keep.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(options.keep, failed);
    if (failed) return MakeStatus(Code::kUnavailable, fmt::format("--keep: {}: {}", options.keep, failed.message()));
  }
  // Those jobs end by themselves.
  limits.wall = std::chrono::hours(24);
  return absl::OkStatus();
}

}  // namespace vigil::cli
