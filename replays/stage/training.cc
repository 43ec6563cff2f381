#include "vigil/replays/stage/training.h"

#include "vigil/replays/format/args.h"

namespace vigil::replays {
namespace {

// Given as null: none. Not given: the default.
template <typename T>
OrDefault<T> GivenOrDefault(const Args& args, std::string_view name, const std::optional<T>& value) {
  if (!IsGiven(args, name)) return {};
  return value.has_value() ? OrDefault<T>(*value) : OrDefault<T>(std::nullopt);
}

OrDefault<Duration> SecondsOrDefault(const Args& args, std::string_view name) {
  return GivenOrDefault(args, name, SecondsArg(args, name));
}

OrDefault<std::int64_t> StepsOrDefault(const Args& args, std::string_view name) {
  return GivenOrDefault(args, name, IntegerArg(args, name));
}

}  // namespace

MonitoredTrainingSessionOptions TrainingOptions(const SessionSpec& session) {
  const Args& args = session.args;
  MonitoredTrainingSessionOptions options;
  options.is_chief = BoolArg(args, "is_chief", options.is_chief);
  options.save_checkpoint_secs = SecondsOrDefault(args, "save_checkpoint_secs");
  options.save_checkpoint_steps = StepsOrDefault(args, "save_checkpoint_steps");
  options.save_summaries_secs = SecondsOrDefault(args, "save_summaries_secs");
  options.save_summaries_steps = StepsOrDefault(args, "save_summaries_steps");
  options.log_step_count_steps = IntegerArg(args, "log_step_count_steps", options.log_step_count_steps);
  options.stop_grace_period = SecondsArg(args, "stop_grace_period_secs").value_or(options.stop_grace_period);
  options.max_wait = SecondsArg(args, "max_wait_secs", options.max_wait);
  options.async_saves = BoolArg(args, "async_saves");
  options.stop_on_sigterm = BoolArg(args, "stop_on_sigterm");
  return options;
}

}  // namespace vigil::replays
