// What a rule may know of a run besides its events: only what its scenario says, never what the core thinks.
#ifndef VIGIL_PROPERTIES_RULES_FACTS_H_
#define VIGIL_PROPERTIES_RULES_FACTS_H_

#include <cstddef>

#include "vigil/replays/scenario.h"

namespace vigil::properties {

struct RunFacts {
  bool judged = true;      // a kind of session that the rules speak of: monitored or singular
  bool recovers = true;    // monitored; a singular session never does
  bool tensorflow = true;  // plays under Behaviour::TensorFlow()
  std::size_t hooks = 0;   // in the list
  bool init_fn = false;
  bool queue = false;           // an input that needs queue runners
  bool may_restore = false;     // it was given a directory or a file name
  bool saves_something = true;  // the model has a variable that checkpoints hold; else restoring is silent
  bool has_checkpoint = false;  // the directory it was given holds an undamaged checkpoint from the start
};

RunFacts FactsOf(const replays::Scenario& scenario);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_RULES_FACTS_H_
