#include <memory>

#include "vigil/cli/commands.h"
#include "vigil/replays/runner.h"

namespace vigil::cli {

replays::Player NewPlayer() {
  // Each worker has a runner of its own, which keeps what consecutive worlds can share.
  return [runner = std::make_shared<replays::Runner>()](const replays::Recording& recording) -> replays::PlainOutcome {
    return runner->Run(recording.scenario);
  };
}

}  // namespace vigil::cli
