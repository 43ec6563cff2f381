// The reference model: what a scenario of one session must do, line by line, predicted from the description of
// TensorFlow's behaviour alone.
//
// The second of two independent oracles (the rules are the other): slow, obvious and sequential. It shares no code with
// the core, the rules or the runner: it reads a Scenario and spells the lines itself. There is no graph, no task and no
// scheduler in it; an error is a Code that is returned. What differs by the switches of Behaviour it knows from
// docs/differences.md.
//
// What it does not model it refuses by name; it never guesses.
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_MODEL_MODEL_H_
#define VIGIL_PROPERTIES_MODEL_MODEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::properties::model {

struct Prediction {
  std::vector<std::string> lines;  // as recordings have them
  replays::FinalState final;       // without the number of events files
  bool runaway = false;            // more lines than the scenario's limit; `lines` ends there
};

// UNIMPLEMENTED for what is not modelled: the message names the field ("session.save_model_secs").
absl::StatusOr<Prediction> Predict(const replays::Scenario& scenario);

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_MODEL_H_
