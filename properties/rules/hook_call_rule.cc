#include "vigil/properties/rules/hook_call_rule.h"

namespace vigil::properties {

void HookCallRule::OnEvent(const Moment& now) {
  if (now.Is(EventKind::kHookCall)) {
    call_ = {.at = now.index, .has_value = now.event.has_value, .value = now.event.value};
  } else if (now.run.in_hook && now.ReadsStep()) {
    call_.read = now.index;
    call_.step = now.event.value;
  } else if (now.Detail(HookDetail::kTimerAsked)) {
    call_.asked.push_back({now.index, now.event.value, now.event.index == 1});
  } else if (now.Detail(HookDetail::kTimerSet)) {
    call_.set = now.index;
    call_.set_to = now.event.value;
  } else if (now.Detail(HookDetail::kSaves)) {
    call_.saves = now.index;
    call_.saves_step = now.event.value;
  } else if (now.Detail(HookDetail::kKeepsNothing)) {
    call_.keeps_nothing = true;
  }
  OnHookEvent(now);
}

}  // namespace vigil::properties
