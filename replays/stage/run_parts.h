// What a scenario says of one run beyond its feed: nested fetches and options; and how what comes of it is written.
//
// Thread safety: pure functions.
#ifndef VIGIL_REPLAYS_STAGE_RUN_PARTS_H_
#define VIGIL_REPLAYS_STAGE_RUN_PARTS_H_

#include <string>

#include "vigil/core/session/run_options.h"
#include "vigil/core/train/fetches.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/stage/model.h"

namespace vigil::replays {

// The fetches of a scenario with tensors for names. A name that the model has nothing for is one that no graph has.
Fetches FetchesOf(const Model& model, const FetchSpec& spec);
Fetches FetchesOf(const Model& model, std::string_view name);

// Values in the shape of their fetches: "[1, {a: 0.5}, none]".
std::string ValueText(const FetchedValues& values);
// The fields that are not at their default, in a fixed order: "trace_level=full timeout_in_ms=5"; "defaults".
std::string OptionsText(const RunOptions& options);
// "yes" if there are statistics of the nodes of a run.
std::string_view TracedText(const RunMetadata& metadata);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_STAGE_RUN_PARTS_H_
