#include "vigil/cli/commands.h"
#include "vigil/properties/check.h"

namespace vigil::cli {

replays::Player NewPlayer(const ReplayArguments& arguments) {
  return arguments.seeds > 0 ? properties::NewJudgingPlayer(arguments.seeds) : properties::NewJudgingPlayer();
}

}  // namespace vigil::cli
