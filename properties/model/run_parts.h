// What a modelled run is asked for and what it answers, beyond the step: nested fetches, options.
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_MODEL_RUN_PARTS_H_
#define VIGIL_PROPERTIES_MODEL_RUN_PARTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "vigil/core/session/run_options.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::properties::model {

// The values of one run.
struct RunValues {
  std::int64_t before = 0;  // the global step, read before the training step
  std::int64_t after = 0;   // what the training step returned
  std::int64_t fed = 0;
  std::int64_t base = 0;
  double loss = 0;
};

// Whether every name is one that the model has.
bool IsInGraph(const replays::FetchSpec& fetch, const replays::ModelSpec& model);
// Whether the loss depends on a training step: it says something of what was trained.
bool LossTrains(const replays::ModelSpec& model);
// Whether evaluating it does a training step.
bool FetchTrains(const replays::FetchSpec& fetch, const replays::ModelSpec& model);
// "[1, {a: 0.5}, none]"
std::string FetchedText(const replays::FetchSpec& fetch, const RunValues& values);
// Of a single name that has a number.
std::optional<double> FetchedNumber(const replays::FetchSpec& fetch, const RunValues& values);

// Adds what a hook asks for to what the run has been asked for so far.
void MergeRunOptions(const RunOptions& from, RunOptions& into);
// "trace_level=full timeout_in_ms=5"; "defaults"
std::string RunOptionsText(const RunOptions& options);
// `on_server`: the session shares its variables with those of others.
bool IsTraced(const RunOptions& options, bool on_server);

// As printed by "%g"; NaN has no sign.
std::string NumberText(double value);

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_RUN_PARTS_H_
