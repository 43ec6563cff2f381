#include "vigil/replays/stage/behaviour.h"

namespace vigil::replays {

Behaviour BehaviourOf(const BehaviourSpec& spec) {
  Behaviour out = spec.name == "default" ? Behaviour::Default() : Behaviour::TensorFlow();
  for (const BehaviourSwitch& known : BehaviourSwitches()) {
    const auto given = spec.switches.find(known.name);
    if (given != spec.switches.end()) out.*known.value = given->second;
  }
  return out;
}

bool LikeTensorFlow(const BehaviourSpec& spec) { return BehaviourOf(spec) == Behaviour::TensorFlow(); }

}  // namespace vigil::replays
