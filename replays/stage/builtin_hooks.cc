#include "vigil/replays/stage/builtin_hooks.h"

#include <fmt/format.h>

#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/classify.h"
#include "vigil/core/train/hooks/checkpoint_saver_hook.h"
#include "vigil/core/train/hooks/feed_fn_hook.h"
#include "vigil/core/train/hooks/final_ops_hook.h"
#include "vigil/core/train/hooks/global_step_waiter_hook.h"
#include "vigil/core/train/hooks/logging_tensor_hook.h"
#include "vigil/core/train/hooks/nan_tensor_hook.h"
#include "vigil/core/train/hooks/profiler_hook.h"
#include "vigil/core/train/hooks/step_counter_hook.h"
#include "vigil/core/train/hooks/stop_at_step_hook.h"
#include "vigil/core/train/hooks/summary_saver_hook.h"
#include "vigil/replays/format/args.h"
#include "vigil/replays/format/names.h"
#include "vigil/replays/format/schema.h"
#include "vigil/replays/stage/listener.h"
#include "vigil/replays/stage/probe.h"

namespace vigil::replays {
namespace {

using Made = absl::StatusOr<HookPtr>;
using Hooks = std::vector<HookPtr>;  // those before it in the list

// A tensor of the model by the name that scenarios give it; one that no graph has, if the model has none.
Output TensorOf(const Model& model, std::string_view what) {
  if (what == "step") return model.read.value_or(Output());
  return what == "loss" ? model.loss : model.fed;
}

Made Probes(const HookSpec& spec, const HookParts& parts, const Hooks&) {
  return std::make_shared<Probe>(parts.env, spec, parts.model);
}

Made StopAtStep(const HookSpec& spec, const HookParts& parts, const Hooks&) {
  return StopAtStepHook::Create(parts.env, {.num_steps = IntegerArg(spec.args, "num_steps"),
                                            .last_step = IntegerArg(spec.args, "last_step"),
                                            .behaviour = parts.behaviour});
}

Made CheckpointSaver(const HookSpec& spec, const HookParts& parts, const Hooks&) {
  CheckpointSaverHookOptions options{.checkpoint_dir = parts.directory,
                                     .save_secs = SecondsArg(spec.args, "save_secs"),
                                     .save_steps = IntegerArg(spec.args, "save_steps"),
                                     .scaffold = parts.scaffold,
                                     .async_saves = BoolArg(spec.args, "async_saves"),
                                     .behaviour = parts.behaviour};
  for (const ListenerSpec& listener : spec.listeners) {
    options.listeners.push_back(std::make_shared<Listener>(parts.env, listener));
  }
  return CheckpointSaverHook::Create(parts.env, std::move(options));
}

Made StepCounter(const HookSpec& spec, const HookParts& parts, const Hooks&) {
  const StepCounterHookOptions defaults;
  return StepCounterHook::Create(parts.env,
                                 {.every_n_steps = IntegerArg(spec.args, "every_n_steps", defaults.every_n_steps),
                                  .every_n_secs = SecondsArg(spec.args, "every_n_secs"),
                                  .output_dir = parts.directory,
                                  .behaviour = parts.behaviour});
}

Made SummarySaver(const HookSpec& spec, const HookParts& parts, const Hooks&) {
  return SummarySaverHook::Create(parts.env, {.save_steps = IntegerArg(spec.args, "save_steps"),
                                              .save_secs = SecondsArg(spec.args, "save_secs"),
                                              .output_dir = parts.directory,
                                              .scaffold = parts.scaffold,
                                              .behaviour = parts.behaviour});
}

Made LoggingTensor(const HookSpec& spec, const HookParts& parts, const Hooks&) {
  TaggedTensors tensors;
  for (const std::string& name : ListArg(spec.args, "tensors")) tensors.emplace(name, TensorOf(parts.model, name));
  return LoggingTensorHook::Create(parts.env, {.tensors = std::move(tensors),
                                               .every_n_iter = IntegerArg(spec.args, "every_n_iter"),
                                               .every_n_secs = SecondsArg(spec.args, "every_n_secs"),
                                               .at_end = BoolArg(spec.args, "at_end")});
}

Made NanTensor(const HookSpec& spec, const HookParts& parts, const Hooks&) {
  return NanTensorHook::Create(
      parts.env, {.loss_tensor = parts.model.loss, .fail_on_nan_loss = BoolArg(spec.args, "fail_on_nan_loss", true)});
}

Made FinalOps(const HookSpec& spec, const HookParts& parts, const Hooks&) {
  Graph& graph = *parts.model.graph;
  Builder b(graph);
  const Output what = TensorOf(parts.model, StringArg(spec.args, "what"));
  if (!graph.Has(what)) return UsageError("final_ops needs a tensor that the model has.");
  const Output final = ops::Identity(b, "final", what);
  VIGIL_RETURN_IF_ERROR(b.status());
  graph.AddToCollection(kWellKnownCalls, WellKnownCall{final.node, CallKind::kFinalOps});
  return FinalOpsHook::Create(parts.env, {.final_ops = final});
}

Made FeedFn(const HookSpec& spec, const HookParts& parts, const Hooks&) {
  const Feed feed{parts.model.feed_me, Tensor::Scalar<std::int64_t>(IntegerArg(spec.args, "value").value_or(0))};
  return FeedFnHook::Create(parts.env, {.feed_fn = [feed] { return Feeds{feed}; }});
}

Made GlobalStepWaiter(const HookSpec& spec, const HookParts& parts, const Hooks&) {
  return GlobalStepWaiterHook::Create(
      parts.env,
      {.wait_until_step = IntegerArg(spec.args, "wait_until_step").value_or(0), .behaviour = parts.behaviour});
}

Made Profiler(const HookSpec& spec, const HookParts& parts, const Hooks&) {
  return ProfilerHook::Create(parts.env, {.save_steps = IntegerArg(spec.args, "save_steps"),
                                          .save_secs = SecondsArg(spec.args, "save_secs"),
                                          .output_dir = parts.directory,
                                          .behaviour = parts.behaviour});
}

// One and the same object at two places of the list.
Made Again(const HookSpec& spec, const HookParts&, const Hooks& hooks) {
  const std::int64_t of = IntegerArg(spec.args, "of").value_or(0);
  if (of >= 1 && of <= std::ssize(hooks)) return hooks[static_cast<std::size_t>(of) - 1];
  return UsageError(fmt::format("There is no hook number {} before this one.", of));
}

using Maker = Made (*)(const HookSpec&, const HookParts&, const Hooks&);
#define VIGIL_HOOK_MAKER(name, type) {#name, type},
constexpr Named<Maker> kMakers[] = {{"probe", Probes}, VIGIL_BUILTIN_HOOKS(VIGIL_HOOK_MAKER)};
#undef VIGIL_HOOK_MAKER

}  // namespace

absl::StatusOr<std::vector<HookPtr>> MakeHooks(const std::vector<HookSpec>& specs, const HookParts& parts) {
  std::vector<HookPtr> hooks;
  for (const HookSpec& spec : specs) {
    if (spec.hook == kForeignHook && parts.foreign != nullptr) {
      VIGIL_ASSIGN_OR_RETURN(HookPtr hook, parts.foreign->make(parts));
      hooks.push_back(std::move(hook));
      continue;
    }
    const std::optional<Maker> maker = FromName(kMakers, spec.hook);
    if (!maker.has_value()) return UsageError(fmt::format("There is no hook \"{}\".", spec.hook));
    VIGIL_ASSIGN_OR_RETURN(HookPtr hook, (*maker)(spec, parts, hooks));
    hooks.push_back(std::move(hook));
  }
  return hooks;
}

}  // namespace vigil::replays
