// Unit "arguments": what the constructors of the hooks (and of the timer) refuse, and what Begin does without a global
// step.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/hooks/checkpoint_saver_hook.h"
#include "vigil/core/train/hooks/logging_tensor_hook.h"
#include "vigil/core/train/hooks/profiler_hook.h"
#include "vigil/core/train/hooks/second_or_step_timer.h"
#include "vigil/core/train/hooks/step_counter_hook.h"
#include "vigil/core/train/hooks/stop_at_step_hook.h"
#include "vigil/core/train/hooks/summary_saver_hook.h"
#include "vigil/core/train/training_util.h"
#include "vigil/replays/format/args.h"
#include "vigil/replays/format/names.h"
#include "vigil/replays/units/unit.h"

namespace vigil::replays {
namespace {

using Made = absl::StatusOr<HookPtr>;  // null: constructed, but no hook

constexpr char kDirectory[] = "unused";

Made Timer(const Env& env, Graph&, const Args& args) {
  VIGIL_RETURN_IF_ERROR(SecondOrStepTimer::Create(env, {.every_secs = SecondsArg(args, "every_secs"),
                                                        .every_steps = IntegerArg(args, "every_steps")})
                            .status());
  return HookPtr();
}

Made StopAtStep(const Env& env, Graph&, const Args& args) {
  return StopAtStepHook::Create(
      env, {.num_steps = IntegerArg(args, "num_steps"), .last_step = IntegerArg(args, "last_step")});
}

Made CheckpointSaver(const Env& env, Graph& graph, const Args& args) {
  CheckpointSaverHookOptions options{.checkpoint_dir = kDirectory,
                                     .save_secs = SecondsArg(args, "save_secs"),
                                     .save_steps = IntegerArg(args, "save_steps")};
  if (BoolArg(args, "saver")) options.saver = std::make_shared<Saver>(env, SaverOptions{.allow_empty = true});
  if (BoolArg(args, "scaffold")) options.scaffold = std::make_shared<Scaffold>(env, graph);
  return CheckpointSaverHook::Create(env, std::move(options));
}

Made StepCounter(const Env& env, Graph&, const Args& args) {
  const StepCounterHookOptions defaults;
  return StepCounterHook::Create(env, {.every_n_steps = IntegerArg(args, "every_n_steps", defaults.every_n_steps),
                                       .every_n_secs = SecondsArg(args, "every_n_secs")});
}

Made SummarySaver(const Env& env, Graph& graph, const Args& args) {
  SummarySaverHookOptions options{.save_steps = IntegerArg(args, "save_steps"),
                                  .save_secs = SecondsArg(args, "save_secs")};
  if (BoolArg(args, "scaffold")) options.scaffold = std::make_shared<Scaffold>(env, graph);
  if (BoolArg(args, "summary_op")) {
    Builder b(graph);
    options.summary_op = {b.Const("summary", Tensor::Scalar<std::string>(""))};
    VIGIL_RETURN_IF_ERROR(b.status());
  }
  return SummarySaverHook::Create(env, std::move(options));
}

Made LoggingTensor(const Env& env, Graph&, const Args& args) {
  return LoggingTensorHook::Create(env, {.tensors = TaggedTensors{{"t", "x:0"}},
                                         .every_n_iter = IntegerArg(args, "every_n_iter"),
                                         .every_n_secs = SecondsArg(args, "every_n_secs"),
                                         .at_end = BoolArg(args, "at_end")});
}

Made Profiler(const Env& env, Graph&, const Args& args) {
  return ProfilerHook::Create(
      env, {.save_steps = IntegerArg(args, "save_steps"), .save_secs = SecondsArg(args, "save_secs")});
}

using Maker = Made (*)(const Env&, Graph&, const Args&);
constexpr Named<Maker> kMakers[] = {
    {"timer", Timer},
    {"stop_at_step", StopAtStep},
    {"checkpoint_saver", CheckpointSaver},
    {"step_counter", StepCounter},
    {"summary_saver", SummarySaver},
    {"logging_tensor", LoggingTensor},
    {"profiler", Profiler},
};

bool Flag(const UnitSpec& unit, std::string_view name, bool missing) {
  const auto it = unit.flags.find(name);
  return it == unit.flags.end() ? missing : it->second;
}

}  // namespace

absl::Status PlayArguments(const UnitSpec& unit, const Env& env, std::vector<std::string>& lines) {
  Graph graph(BuiltinOps());
  if (Flag(unit, "global_step", true)) {
    Builder b(graph);
    VIGIL_RETURN_IF_ERROR(GetOrCreateGlobalStep(env, b).status());
  }
  const std::optional<Maker> maker = FromName(kMakers, unit.hook);
  if (!maker.has_value()) return UsageError(fmt::format("unit \"arguments\" knows no hook \"{}\"", unit.hook));
  const Made hook = (*maker)(env, graph, unit.args);
  if (!hook.ok()) {
    lines.push_back(fmt::format("error {}", CodeName(CodeOf(hook.status()))));
    return absl::OkStatus();
  }
  lines.emplace_back("constructed");
  if (!Flag(unit, "begin", false) || *hook == nullptr) return absl::OkStatus();
  BeginContext context{env, graph};
  const absl::Status begun = (*hook)->Begin(context);
  lines.push_back(begun.ok() ? "begin ok" : fmt::format("begin failed {}", CodeName(CodeOf(begun))));
  return absl::OkStatus();
}

}  // namespace vigil::replays
