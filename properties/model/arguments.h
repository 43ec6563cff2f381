// Reading the arguments of the modelled hooks and sessions, and the timer that many hooks have.
// Thread safety: none.
#ifndef VIGIL_PROPERTIES_MODEL_ARGUMENTS_H_
#define VIGIL_PROPERTIES_MODEL_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "vigil/replays/format/scenario.h"

namespace vigil::properties::model {

// Given at all, null included.
bool IsGivenArgument(const replays::Args& args, std::string_view name);
// nullopt: not given, or null, or no number.
std::optional<double> NumberArgument(const replays::Args& args, std::string_view name);
bool FlagArgument(const replays::Args& args, std::string_view name, bool missing);

// Fires every so many steps or seconds after it was last told that it has.
struct StepTimer {
  std::optional<double> secs;
  std::optional<double> steps;
  std::optional<std::int64_t> last_step = std::nullopt;
  double last_time = 0;

  bool valid() const { return secs.has_value() != steps.has_value(); }
  bool ShouldTrigger(std::int64_t step, double now) const {
    if (!last_step.has_value()) return true;
    if (step == *last_step) return false;
    if (secs.has_value()) return now >= last_time + *secs;
    return steps.has_value() && static_cast<double>(step - *last_step) >= *steps;
  }
  struct Elapsed {
    double secs = 0;
    std::int64_t steps = 0;
  };
  // Since the last time; nullopt at the first.
  std::optional<Elapsed> Update(std::int64_t step, double now) {
    std::optional<Elapsed> elapsed;
    if (last_step.has_value()) elapsed = Elapsed{now - last_time, step - *last_step};
    last_step = step;
    last_time = now;
    return elapsed;
  }
};

}  // namespace vigil::properties::model

#endif  // VIGIL_PROPERTIES_MODEL_ARGUMENTS_H_
