// Which arguments the built-in hooks, the sessions and the unit recordings take, and of which type: one table for the
// parser, for generators and for the documentation.
//
// Only names and types are checked. A hook may be given arguments that its constructor refuses: scenarios record just
// that.
//
// Thread safety: constants.
#ifndef VIGIL_REPLAYS_FORMAT_SCHEMA_H_
#define VIGIL_REPLAYS_FORMAT_SCHEMA_H_

#include <span>
#include <string_view>

#include "vigil/replays/format/scenario.h"

namespace vigil::replays {

enum class ArgType {
  kInteger,
  kNumber,  // 1 and 1.0 are the same
  kBool,
  kString,
  kCode,     // the name of an error code
  kTensor,   // step, fed or loss
  kTensors,  // a list of "step" and "fed"
  kStrings,  // a list of names
};

struct ArgSpec {
  std::string_view name;
  ArgType type;
  bool nullable = false;  // null = passed as none
  bool required = false;
};

struct Schema {
  std::string_view name;
  std::span<const ArgSpec> args;
};

// The hooks that ship with the library, as they occur in `hooks`; the probe is none of them. The one table: the name in
// a scenario, and what it is called where its arguments are described (schema.cc) and where it is made
// (stage/builtin_hooks.cc); a hook that has no place there does not compile. `again`: one that the list has already.
#define VIGIL_BUILTIN_HOOKS(HOOK)            \
  HOOK(stop_at_step, StopAtStep)             \
  HOOK(checkpoint_saver, CheckpointSaver)    \
  HOOK(step_counter, StepCounter)            \
  HOOK(summary_saver, SummarySaver)          \
  HOOK(logging_tensor, LoggingTensor)        \
  HOOK(nan_tensor, NanTensor)                \
  HOOK(final_ops, FinalOps)                  \
  HOOK(feed_fn, FeedFn)                      \
  HOOK(global_step_waiter, GlobalStepWaiter) \
  HOOK(again, Again)                         \
  HOOK(profiler, Profiler)

std::span<const Schema> HookSchemas();
// The arguments of MonitoredTrainingSession and Supervisor, besides those that SessionSpec has fields for. Empty for
// others.
std::span<const ArgSpec> SessionArgs(SessionKind kind);
// Hooks whose constructor a unit recording "arguments" checks.
std::span<const Schema> ConstructorSchemas();
// Operations of a unit recording; empty if there is no such unit.
std::span<const Schema> UnitOps(std::string_view unit);
// Constructor arguments of what the unit is about.
std::span<const ArgSpec> UnitArgs(std::string_view unit);

// Null if there is none of that name.
const Schema* FindSchema(std::span<const Schema> schemas, std::string_view name);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_SCHEMA_H_
