#include "vigil/cli/commands.h"
#include "vigil/properties/campaign/recording_player.h"

namespace vigil::cli {

replays::Player NewPlayer(const ReplayArguments& arguments, const std::atomic<bool>* interrupt) {
  properties::RecordingPlayerOptions options;
  if (arguments.seeds > 0) options.seeds = arguments.seeds;
  if (arguments.seed.has_value()) {
    options.first_seed = *arguments.seed;
    options.seeds = 1;
  }
  options.timeline = LooksAtOne(arguments);
  options.why = arguments.why;
  if (arguments.real && arguments.seeds == 0) options.seeds = 1;
  options.player = arguments.player_options;
  options.interrupt = interrupt;
  if (arguments.trace) {
    replays::JobTextOptions& text = options.job_text.emplace();
    if (arguments.until_s.has_value()) text.until = Seconds(*arguments.until_s);
    text.only_nodes = arguments.only_nodes;
    text.numbers = arguments.numbers;
  }
  return properties::NewRecordingPlayer(options);
}

}  // namespace vigil::cli
