// The one place in which a hook is called: events before and after, exceptions turned into errors.
#ifndef VIGIL_CORE_TRAIN_HOOK_CALL_H_
#define VIGIL_CORE_TRAIN_HOOK_CALL_H_

#include <string>

#include "absl/status/status.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/event.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/env/env.h"
#include "vigil/core/session/session.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

// What a hook fails with came from that hook, whatever run of its own it may have come from.
inline absl::Status OfHook(absl::Status status, const SessionRunHook& hook, std::size_t index, HookMethod method) {
  if (status.ok()) return status;
  std::string origin(hook.name());
  origin = origin.empty() ? "hook number " + std::to_string(index + 1) : "hook '" + origin + "'";
  return ReplaceOrigin(std::move(status), origin + " in " + std::string(HookMethodName(method)));
}

// Calls `body`, which calls `method` of `hook`; `index` is the hook's place in the list, `session` what it gets to see.
// `result` (may be null): its value, if it is a number, goes into the event. `context` (null outside of runs): what it
// asks for a stop goes into the event.
template <typename Body>
absl::Status CallHook(const Env& env, const SessionRunHook& hook, std::size_t index, HookMethod method,
                      const Session* session, const FetchedValues* result, const RunContext* context, Body&& body) {
  if (env.events == nullptr) return OfHook(CallGuarded(body), hook, index, method);
  Event event{.kind = EventKind::kHookCall,
              .call = static_cast<std::uint8_t>(method),
              .index = static_cast<std::int32_t>(index),
              .subject = hook.name()};
  if (session != nullptr) {
    event.session = session->number();
    event.closed = session->closed();
  }
  if (result != nullptr && result->is_tensor()) event.has_value = result->tensor().AsNumber(&event.value);
  env.events->Emit(event);
  const bool stop_before = context != nullptr && context->stop_requested();
  const absl::Status status = CallGuarded(body);
  event.kind = EventKind::kHookReturn;
  event.code = CodeOf(status);
  event.has_value = context != nullptr;
  event.value = context != nullptr && !stop_before && context->stop_requested() ? 1 : 0;
  env.events->Emit(event);
  return OfHook(status, hook, index, method);
}

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOK_CALL_H_
