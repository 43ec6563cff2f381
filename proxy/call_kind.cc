#include "vigil/proxy/call_kind.h"

#include <algorithm>
#include <iterator>

namespace vigil::proxy {
namespace {

constexpr CallKindInfo kAll[] = {
    {CallKind::kCreateSession, "create_session", "CreateSession"},
    {CallKind::kExtendSession, "extend_session", "ExtendSession: the graph has grown"},
    {CallKind::kCloseSession, "close_session", "CloseSession"},
    {CallKind::kListDevices, "list_devices", "ListDevices"},
    {CallKind::kReset, "reset", "Reset: tf.Session.reset"},
    {CallKind::kInit, "init", "a step that assigns variables, or initialises tables, and does not train"},
    {CallKind::kRestore, "restore", "a step that reads a checkpoint"},
    {CallKind::kSave, "save", "a step that writes a checkpoint"},
    {CallKind::kReady, "ready", "a step that asks which variables are not initialised"},
    {CallKind::kReadStep, "read_step", "a step that reads the global step, and nothing else"},
    {CallKind::kTrain, "train", "a step that updates variables: by an optimizer, an accumulator, a count"},
    {CallKind::kEnqueue, "enqueue", "a step that puts something into a queue, and does not train"},
    {CallKind::kRun, "run", "any other step"},
    {CallKind::kOther, "other", "any other method: callables, partial runs, what tasks ask one another"},
};

}  // namespace

std::span<const CallKindInfo> AllCallKinds() { return kAll; }

std::optional<CallKind> CallKindFromName(std::string_view name) {
  const auto* const found = std::ranges::find(kAll, name, &CallKindInfo::name);
  if (found == std::end(kAll)) return std::nullopt;
  return found->kind;
}

}  // namespace vigil::proxy
