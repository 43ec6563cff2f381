// What the model does not model, by name. Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_MODEL_REFUSAL_H_
#define VIGIL_PROPERTIES_MODEL_REFUSAL_H_

#include <string>

#include "vigil/replays/format/scenario.h"

namespace vigil::properties::model {

// The first field that is not modelled, with its value where that matters; "" if there is none. What turns up only on
// the way is refused then (World::Refuse).
std::string WhatIsNotModelled(const replays::Scenario& scenario);

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_REFUSAL_H_
