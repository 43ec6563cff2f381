#include "vigil/replays/format/schema.h"

namespace vigil::replays {
namespace {

using enum ArgType;

constexpr bool kNullable = true;
constexpr bool kRequired = true;

constexpr ArgSpec kStopAtStep[] = {{"num_steps", kInteger, kNullable}, {"last_step", kInteger, kNullable}};
constexpr ArgSpec kCheckpointSaver[] = {
    {"save_secs", kNumber, kNullable}, {"save_steps", kInteger, kNullable}, {"async_saves", kBool}};
constexpr ArgSpec kStepCounter[] = {{"every_n_steps", kInteger, kNullable}, {"every_n_secs", kNumber, kNullable}};
constexpr ArgSpec kSummarySaver[] = {{"save_steps", kInteger, kNullable}, {"save_secs", kNumber, kNullable}};
constexpr ArgSpec kLoggingTensor[] = {
    {"tensors", kTensors, false, kRequired},
    {"every_n_iter", kInteger, kNullable},
    {"every_n_secs", kNumber, kNullable},
    {"at_end", kBool},
};
constexpr ArgSpec kNanTensor[] = {{"fail_on_nan_loss", kBool}};
constexpr ArgSpec kFinalOps[] = {{"what", kTensor, false, kRequired}};
constexpr ArgSpec kFeedFn[] = {{"value", kInteger, false, kRequired}};
constexpr ArgSpec kAgain[] = {{"of", kInteger, false, kRequired}};
constexpr ArgSpec kGlobalStepWaiter[] = {{"wait_until_step", kInteger, false, kRequired}};

constexpr ArgSpec kProfiler[] = {{"save_steps", kInteger, kNullable}, {"save_secs", kNumber, kNullable}};

#define VIGIL_HOOK_SCHEMA(name, type) {#name, k##type},
constexpr Schema kHooks[] = {VIGIL_BUILTIN_HOOKS(VIGIL_HOOK_SCHEMA)};
#undef VIGIL_HOOK_SCHEMA

constexpr ArgSpec kMonitored[] = {{"stop_grace_period_secs", kNumber}, {"stop_on_sigterm", kBool}};
constexpr ArgSpec kTraining[] = {
    {"stop_grace_period_secs", kNumber},
    {"is_chief", kBool},
    {"save_checkpoint_steps", kInteger, kNullable},
    {"save_checkpoint_secs", kNumber, kNullable},
    {"save_summaries_steps", kInteger, kNullable},
    {"save_summaries_secs", kNumber, kNullable},
    {"log_step_count_steps", kInteger, kNullable},
    {"max_wait_secs", kNumber, kNullable},
    {"async_saves", kBool},
    {"stop_on_sigterm", kBool},
};
constexpr ArgSpec kSupervisorArgs[] = {
    {"is_chief", kBool},          {"logdir", kBool},
    {"services", kBool},          {"save_summaries_secs", kNumber},
    {"save_model_secs", kNumber}, {"recovery_wait_secs", kNumber},
    {"stop_grace_secs", kNumber}, {"checkpoint_basename", kString},
    {"stop_on_sigterm", kBool},
};

// With `saver`, `scaffold`, `summary_op`: true = one is given.
constexpr ArgSpec kCheckpointSaverCheck[] = {
    {"save_secs", kNumber, kNullable},
    {"save_steps", kInteger, kNullable},
    {"saver", kBool},
    {"scaffold", kBool},
};
constexpr ArgSpec kSummarySaverCheck[] = {
    {"save_steps", kInteger, kNullable},
    {"save_secs", kNumber, kNullable},
    {"summary_op", kBool},
    {"scaffold", kBool},
};
constexpr ArgSpec kLoggingTensorCheck[] = {
    {"every_n_iter", kInteger, kNullable},
    {"every_n_secs", kNumber, kNullable},
    {"at_end", kBool},
};
constexpr ArgSpec kTimer[] = {{"every_secs", kNumber, kNullable}, {"every_steps", kInteger, kNullable}};
constexpr Schema kConstructors[] = {
    {"stop_at_step", kStopAtStep},
    {"checkpoint_saver", kCheckpointSaverCheck},
    {"step_counter", kStepCounter},
    {"summary_saver", kSummarySaverCheck},
    {"logging_tensor", kLoggingTensorCheck},
    {"profiler", kProfiler},
    {"timer", kTimer},
};

constexpr ArgSpec kSaver[] = {
    {"max_to_keep", kInteger, kNullable},
    {"keep_checkpoint_every_n_hours", kNumber},
    {"pad_step_number", kBool},
    {"save_relative_paths", kBool},
    {"sharded", kBool},
};

constexpr ArgSpec kAdvance[] = {{"secs", kNumber, false, kRequired}};
constexpr ArgSpec kStepArgs[] = {{"step", kInteger, false, kRequired}};
constexpr Schema kTimerOps[] = {
    {"advance", kAdvance}, {"should_trigger", kStepArgs}, {"update", kStepArgs}, {"reset", {}}};

constexpr ArgSpec kCodeArg[] = {{"code", kCode}};
constexpr Schema kCoordinatorOps[] = {
    {"request_stop", kCodeArg}, {"should_stop", {}}, {"wait_for_stop", {}},
    {"clear_stop", {}},         {"join", {}},        {"joined", {}},
    {"raise_requested", {}},    {"scope", kCodeArg},
};

constexpr ArgSpec kSave[] = {
    {"step", kInteger, false, kRequired}, {"name", kString},           {"with_step", kBool},
    {"latest_filename", kString},         {"write_meta_graph", kBool}, {"write_state", kBool},
};
constexpr ArgSpec kNewSaver[] = {{"recover", kBool}};  // and `args`, which UnitOp has a field for
constexpr ArgSpec kRestore[] = {{"path", kString}};
constexpr ArgSpec kDamage[] = {{"what", kString, false, kRequired}, {"step", kInteger}};
constexpr Schema kSaverOps[] = {
    {"advance", kAdvance}, {"save", kSave},          {"last", {}},      {"latest", {}}, {"restore", kRestore},
    {"damage", kDamage},   {"new_saver", kNewSaver}, {"power_cut", {}},
};

constexpr ArgSpec kCheckpointManager[] = {
    {"max_to_keep", kInteger, kNullable},
    {"keep_checkpoint_every_n_hours", kNumber},
    {"checkpoint_name", kString},
    {"checkpoint_interval", kInteger},
    {"last_checkpoint_step", kInteger},
    {"no_step_counter", kBool},
    {"init_fn", kBool},
};
constexpr ArgSpec kManagedSave[] = {
    {"step", kInteger, false, kRequired}, {"number", kInteger}, {"check_interval", kBool}};
constexpr Schema kCheckpointManagerOps[] = {
    {"advance", kAdvance}, {"save", kManagedSave}, {"restore", {}},     {"latest", {}},
    {"checkpoints", {}},   {"damage", kDamage},    {"new_manager", {}},  // and `args`, as new_saver
};

constexpr ArgSpec kDeviceSetter[] = {
    {"ps_tasks", kInteger},   {"ps_device", kString}, {"worker_device", kString},
    {"merge_devices", kBool}, {"cluster", kStrings},  {"ps_ops", kStrings},
};
constexpr ArgSpec kPlacedNode[] = {{"type", kString, false, kRequired}, {"device", kString}};
constexpr Schema kDeviceSetterOps[] = {{"node", kPlacedNode}};

constexpr ArgSpec kLooper[] = {
    {"timer_interval_secs", kNumber, kNullable}, {"start_code", kCode}, {"stop_code", kCode}};
constexpr ArgSpec kPass[] = {{"secs", kNumber}, {"stop", kBool}, {"code", kCode}};
constexpr Schema kLooperOps[] = {{"pass", kPass}};

}  // namespace

std::span<const Schema> HookSchemas() { return kHooks; }

std::span<const ArgSpec> SessionArgs(SessionKind kind) {
  if (kind == SessionKind::kTraining) return kTraining;
  if (kind == SessionKind::kSupervisor) return kSupervisorArgs;
  return kMonitored;
}

std::span<const Schema> ConstructorSchemas() { return kConstructors; }

std::span<const Schema> UnitOps(std::string_view unit) {
  if (unit == "timer") return kTimerOps;
  if (unit == "coordinator") return kCoordinatorOps;
  if (unit == "saver") return kSaverOps;
  if (unit == "checkpoint_manager") return kCheckpointManagerOps;
  if (unit == "device_setter") return kDeviceSetterOps;
  if (unit == "looper") return kLooperOps;
  return {};
}

std::span<const ArgSpec> UnitArgs(std::string_view unit) {
  if (unit == "timer") return kTimer;
  if (unit == "saver") return kSaver;
  if (unit == "checkpoint_manager") return kCheckpointManager;
  if (unit == "device_setter") return kDeviceSetter;
  if (unit == "looper") return kLooper;
  return {};
}

const Schema* FindSchema(std::span<const Schema> schemas, std::string_view name) {
  for (const Schema& schema : schemas) {
    if (schema.name == name) return &schema;
  }
  return nullptr;
}

}  // namespace vigil::replays
