// The modelled MonitoredTrainingSession: which hooks it adds, and how long a worker waits. Thread safety: none.
#ifndef VIGIL_PROPERTIES_MODEL_TRAINING_H_
#define VIGIL_PROPERTIES_MODEL_TRAINING_H_

#include <memory>
#include <vector>

#include "vigil/properties/model/hook.h"

namespace vigil::properties::model {

// Puts the hooks of a chief before the user's. kUsage: an argument is refused.
Code CompleteTraining(World& world, std::vector<std::unique_ptr<Hook>>& hooks, double& max_wait_secs);

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_TRAINING_H_
