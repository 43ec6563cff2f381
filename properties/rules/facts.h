// What a rule may know of a run besides its events: only what its scenario says, never what the core thinks.
#ifndef VIGIL_PROPERTIES_RULES_FACTS_H_
#define VIGIL_PROPERTIES_RULES_FACTS_H_

#include <cstddef>
#include <limits>

#include "vigil/replays/format/scenario.h"

namespace vigil::properties {

// As many hooks as some phase called: of sessions that add hooks of their own.
inline constexpr std::size_t kAsSeen = std::numeric_limits<std::size_t>::max();

struct RunFacts {
  unsigned unseen = 0;      // the details that nobody tells of (RuleInfo::details): rules that need them have no say
  bool judged = true;       // a kind of run that the rules speak of: any but a unit, a cluster, a trace
  bool recovers = true;     // monitored; neither a singular session nor a supervisor ever does
  bool tensorflow = true;   // plays under Behaviour::TensorFlow()
  bool by_default = false;  // plays under Behaviour::Default(); neither: under some switches
  // Any OUT_OF_RANGE or STOP_ITERATION ends a scope cleanly; else only one that a run returned, or that a step function
  // asked for.
  bool any_clean_end = true;
  bool supervisor = false;
  bool by_hand = false;   // a supervisor without a scope: its caller prepares, stops and closes
  bool worker = false;    // waits for a model that a chief makes ready
  bool may_join = false;  // finds a model that lives on servers, and goes on with it
  std::size_t hooks = 0;  // in the list, or kAsSeen
  bool init_fn = false;
  bool initialises = true;      // a chief has something that makes the model ready: an init op or an init function
  bool asks_ready = true;       // there is an op that says whether the model is ready
  bool queue = false;           // an input that needs queue runners
  bool may_restore = false;     // it was given a directory or a file name
  bool saves_something = true;  // the model has a variable that checkpoints hold; else restoring is silent
  bool disk_fails = false;      // looking for a checkpoint may fail, of which no event tells
  bool told_to_end = false;     // some time, of which no event tells
  bool has_checkpoint = false;  // the directory it was given holds an undamaged checkpoint from the start
};

RunFacts FactsOf(const replays::Scenario& scenario);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_RULES_FACTS_H_
