// The modelled built-in hooks, for scenarios and for the training session, which adds some by itself.
//
// Each returns null if the hook refuses its arguments. What the World needs of the specs must outlive the hook.
// Thread safety: none.
#ifndef VIGIL_PROPERTIES_MODEL_BUILT_IN_HOOKS_H_
#define VIGIL_PROPERTIES_MODEL_BUILT_IN_HOOKS_H_

#include <memory>
#include <optional>
#include <vector>

#include "vigil/properties/model/hook.h"

namespace vigil::properties::model {

std::unique_ptr<Hook> NewCheckpointSaverModel(World& world, const std::vector<replays::ListenerSpec>& listeners,
                                              std::optional<double> secs, std::optional<double> steps);
std::unique_ptr<Hook> NewStepCounterModel(World& world, std::optional<double> secs, std::optional<double> steps);
std::unique_ptr<Hook> NewSummarySaverModel(World& world, std::optional<double> secs, std::optional<double> steps);
std::unique_ptr<Hook> NewProfilerModel(World& world, std::optional<double> secs, std::optional<double> steps);
std::unique_ptr<Hook> NewLoggingModel(World& world, const replays::Args& args);

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_BUILT_IN_HOOKS_H_
