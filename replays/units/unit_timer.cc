// Unit "timer": SecondOrStepTimer.
#include <fmt/format.h>

#include "vigil/core/base/code.h"
#include "vigil/core/train/hooks/second_or_step_timer.h"
#include "vigil/replays/format/args.h"
#include "vigil/replays/units/unit.h"

namespace vigil::replays {
namespace {

std::string Update(SecondOrStepTimer& timer, std::int64_t step) {
  const std::optional<SecondOrStepTimer::Elapsed> elapsed = timer.UpdateLastTriggeredStep(step);
  if (!elapsed.has_value()) return fmt::format("update {} -> none", step);
  return fmt::format("update {} -> secs={:g} steps={}", step, ToSeconds(elapsed->time), elapsed->steps);
}

}  // namespace

absl::Status PlayTimer(const UnitSpec& unit, const Env& env, std::vector<std::string>& lines) {
  absl::StatusOr<SecondOrStepTimer> timer = SecondOrStepTimer::Create(
      env, {.every_secs = SecondsArg(unit.args, "every_secs"), .every_steps = IntegerArg(unit.args, "every_steps")});
  if (!timer.ok()) {
    lines.push_back(fmt::format("error {}", CodeName(CodeOf(timer.status()))));
    return absl::OkStatus();
  }
  for (const UnitOp& op : unit.ops) {
    const std::int64_t step = IntegerArg(op.args, "step", 0).value_or(0);
    if (op.op == "advance") {
      env.tasks->SleepUntil(DeadlineAfter(env, SecondsArg(op.args, "secs").value_or(Duration::zero())));
    } else if (op.op == "should_trigger") {
      lines.push_back(fmt::format("should_trigger {} -> {}", step, timer->ShouldTriggerForStep(step) ? "yes" : "no"));
    } else if (op.op == "update") {
      lines.push_back(Update(*timer, step));
    } else if (op.op == "reset") {
      timer->Reset();
      lines.emplace_back("reset");
    } else {
      return UsageError(fmt::format("unit \"timer\" has no operation \"{}\"", op.op));
    }
  }
  return absl::OkStatus();
}

}  // namespace vigil::replays
