// The behaviour that a scenario asks for.
#ifndef VIGIL_REPLAYS_STAGE_BEHAVIOUR_H_
#define VIGIL_REPLAYS_STAGE_BEHAVIOUR_H_

#include "vigil/core/base/behaviour.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::replays {

// Switches that are named start from TensorFlow's behaviour. Pure.
Behaviour BehaviourOf(const BehaviourSpec& spec);

// Whether it is that of TensorFlow, with nothing mended. Pure.
bool LikeTensorFlow(const BehaviourSpec& spec);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_STAGE_BEHAVIOUR_H_
