// The arguments of a scenario's MonitoredTrainingSession, as the library takes them.
#ifndef VIGIL_REPLAYS_STAGE_TRAINING_H_
#define VIGIL_REPLAYS_STAGE_TRAINING_H_

#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::replays {

// What `session` says; hooks, directories and seams are left to the caller.
MonitoredTrainingSessionOptions TrainingOptions(const SessionSpec& session);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_STAGE_TRAINING_H_
