#include "vigil/properties/model/training.h"

#include <iterator>
#include <utility>

#include "vigil/properties/model/arguments.h"
#include "vigil/properties/model/built_in_hooks.h"

namespace vigil::properties::model {
namespace {

// Every so many seconds or steps; one that is given switches the other's default off.
struct Period {
  std::optional<double> secs;
  std::optional<double> steps;
  bool any() const { return secs.value_or(0) > 0 || steps.value_or(0) > 0; }
};

Period PeriodOf(const replays::Args& args, std::string_view secs, std::string_view steps, Period missing) {
  if (!IsGivenArgument(args, secs) && !IsGivenArgument(args, steps)) return missing;
  return {NumberArgument(args, secs), NumberArgument(args, steps)};
}

}  // namespace

Code CompleteTraining(World& world, std::vector<std::unique_ptr<Hook>>& hooks, double& max_wait_secs) {
  constexpr double kSummarySteps = 100;
  constexpr double kCheckpointSecs = 600;
  constexpr double kCountSteps = 100;
  const replays::Args& args = world.scenario().session.args;
  max_wait_secs = NumberArgument(args, "max_wait_secs").value_or(max_wait_secs);
  std::vector<std::unique_ptr<Hook>> chief;
  const Code made = MakeHooks(world, world.scenario().session.chief_only_hooks, chief);
  if (made != Code::kOk) return made;
  if (!FlagArgument(args, "is_chief", true)) return Code::kOk;  // a worker has the user's hooks alone
  if (world.scenario().checkpoint.dir) {
    const double count = IsGivenArgument(args, "log_step_count_steps")
                             ? NumberArgument(args, "log_step_count_steps").value_or(0)
                             : kCountSteps;
    if (count > 0) chief.push_back(NewStepCounterModel(world, std::nullopt, count));
    const Period summaries =
        PeriodOf(args, "save_summaries_secs", "save_summaries_steps", {std::nullopt, kSummarySteps});
    if (summaries.any()) {
      std::unique_ptr<Hook> hook = NewSummarySaverModel(world, summaries.secs, summaries.steps);
      if (hook == nullptr) return Code::kUsage;
      chief.push_back(std::move(hook));
    }
    const Period checkpoints =
        PeriodOf(args, "save_checkpoint_secs", "save_checkpoint_steps", {kCheckpointSecs, std::nullopt});
    if (checkpoints.any()) {
      static const std::vector<replays::ListenerSpec> kNoListeners;
      std::unique_ptr<Hook> hook = NewCheckpointSaverModel(world, kNoListeners, checkpoints.secs, checkpoints.steps);
      if (hook == nullptr) return Code::kUsage;
      chief.push_back(std::move(hook));
    }
  }
  chief.insert(chief.end(), std::make_move_iterator(hooks.begin()), std::make_move_iterator(hooks.end()));
  hooks = std::move(chief);
  return Code::kOk;
}

}  // namespace vigil::properties::model
