#include "vigil/cli/commands.h"
#include "vigil/properties/check.h"

namespace vigil::cli {

replays::Player NewPlayer() { return properties::NewJudgingPlayer(); }

}  // namespace vigil::cli
