#include "vigil/replays/judge/tolerances.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "vigil/core/base/check.h"

namespace vigil::replays {
namespace {

constexpr std::string_view kCounted = "nothing";

// Of values that lie by that ratio apart: from their middle to the farthest.
double FromTheMiddle(double ratio) { return std::sqrt(ratio); }

const Tolerance kAllTolerances[] = {
    {.field = "outcome", .excuses = kCounted, .why = "each way that a task ended was recorded"},
    {.field = "sessions", .excuses = kCounted, .why = "how many sessions a fault costs was recorded"},
    {.field = "run_failed", .excuses = kCounted, .why = "with which codes runs fail is a promise"},
    {.field = "run_failed_times", .excuses = kCounted, .why = "how many runs a fault costs was recorded"},
    {.field = "create_failed", .excuses = kCounted, .why = "with which codes creations fail is a promise"},
    {.field = "create_failed_times", .excuses = kCounted, .why = "how many creations a fault costs was recorded"},
    {.field = "step_back_silent_times",
     .excuses = "fewer, where a chief that is back restored a checkpoint of the very step that was reached",
     .why = "whether the newest checkpoint is of that step is chance"},
    {.field = "step_back_silent",
     .least_factor = 186.0 / 104,
     .most_factor = 186.0 / 104,
     .saves = 1,
     .excuses = "by how many steps, within the factor or one save interval",
     .why = "where in the interval of saves it strikes is chance, and how far the others train while a task is away "
            "hangs on the speed of the machine (cluster_chief_restart_2: "
            "104 "
            "to 186)"},
    {.field = "step_back_recovered_times",
     .excuses = "fewer, where a recovery kept the step; more, where at least one was recorded",
     .why = "whether the newest checkpoint is of the very step, and which of the tasks looks first, is chance"},
    {.field = "step_back_recovered",
     .saves = 1,
     .excuses = "by how many steps, within one save interval",
     .why = "a recovery goes back to the newest checkpoint: where in the interval it strikes is chance"},
    {.field = "longest_run_s",
     .least_factor = 2,
     .most_factor = 1.5,
     .slack = 2,
     .excuses = "by how many seconds; also the pauses of the task itself, and for how long the machine stood still in "
                "that run, measured beside the job (real processes only)",
     .why = "whether a fault meets a run or the time between two is chance, and machines differ in speed"},
    {.field = "opened_after_s",
     .slack = 30,
     .excuses =
         "anything within the same number of 30 s sleeps; that no session was opened, where not all plays had one",
     .why = "how long TensorFlow takes to be imported differs between machines; how often a worker looks does not"},
    {.field = "last_step",
     .least_factor = 69.0 / 37,
     .most_factor = 69.0 / 37,
     .excuses = "at which step a task ends, within the factor",
     .why = "how steps are shared between tasks hangs on their speed (cluster_worker_first: 37 to 69)"},
    {.field = "last_step of a task that is cut off",
     .least_factor = FromTheMiddle(384.0 / 77),
     .most_factor = FromTheMiddle(384.0 / 77),
     .excuses = "at which step, within the factor",
     .why = "how far it gets in a given time hangs on the speed of the machine (77 to 384 until a fault in second 4)"},
    {.field = "hook_end", .excuses = kCounted, .why = "whether end is called is a promise"},
    {.field = "newest_checkpoint",
     .slack = 3,
     .excuses = "a step a task, of a job all of whose tasks end cleanly",
     .why = "a job that ends by itself ends at its last step, but for the steps that are under way then"},
    {.field = "newest_checkpoint of a job that is cut off",
     .least_factor = FromTheMiddle(383.0 / 85),
     .most_factor = FromTheMiddle(383.0 / 85),
     .excuses = "which step was saved last, within the factor",
     .why =
         "how far a job gets in a given time hangs on the speed of the machine (85 to 383 until a fault in second 4)"},
};

}  // namespace

std::span<const Tolerance> Tolerances() { return kAllTolerances; }

const Tolerance& ToleranceOf(std::string_view field) {
  const auto* const found = std::ranges::find(kAllTolerances, field, &Tolerance::field);
  VIGIL_CHECK(found != std::end(kAllTolerances));
  return *found;
}

std::string ToleranceText(const Tolerance& tolerance) {
  std::string text;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (tolerance.least_factor != tolerance.most_factor) {
    add(fmt::format("by a factor of {:.3g} below and {:.3g} above", tolerance.least_factor, tolerance.most_factor));
  } else if (tolerance.most_factor != 1) {
    add(fmt::format("by a factor of {:.3g}", tolerance.most_factor));
  }
  if (tolerance.slack > 0) add(fmt::format("by {:g} in any case", tolerance.slack));
  if (tolerance.saves > 0) add(fmt::format("by {:g} save interval", tolerance.saves));
  return text.empty() ? "exactly" : text;
}

bool Tolerates(const Tolerance& tolerance, double least, double most, double save_steps, double seen) {
  const double slack = tolerance.slack + tolerance.saves * save_steps;
  return seen >= std::min(least / tolerance.least_factor, least - slack) &&
         seen <= std::max(most * tolerance.most_factor, most + slack);
}

}  // namespace vigil::replays
