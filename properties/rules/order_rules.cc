// The order of the hooks within each phase.
#include <fmt/format.h>

#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

constexpr std::string_view kListOrder =
    "MonitoredSession r1.4, Args: the hooks are an iterable, each of which is called in each phase; that every phase "
    "keeps "
    "its order is recorded";

constexpr RuleInfo kOrders[] = {
    {.id = "order.begin",
     .sentence = "begin is called in list order.",
     .documented = kListOrder,
     .observed = "lifecycle_two_hooks"},
    {.id = "order.after_create_session",
     .sentence = "after_create_session is called in list order, for each session anew.",
     .documented = kListOrder,
     .observed = "lifecycle_two_hooks after_create_aborted_monitored"},
    {.id = "order.before_run",
     .sentence = "before_run is called in list order, for each run anew.",
     .documented = kListOrder,
     .observed = "lifecycle_two_hooks hooks_before_the_failing_one_run_twice"},
    {.id = "order.after_run",
     .sentence = "after_run is called in list order, not in reverse.",
     .documented = kListOrder,
     .observed = "lifecycle_two_hooks aborted_after_run_monitored"},
    {.id = "order.end",
     .sentence = "end is called in list order, not in reverse.",
     .documented = kListOrder,
     .observed = "lifecycle_two_hooks close_inside_with_monitored"},
};

// Hook i > 0 is called directly after hook i - 1 of the same phase; a phase starts with hook 0.
template <HookMethod kMethod>
class ListOrder : public Rule {
 public:
  ListOrder() : Rule(kOrders[static_cast<std::size_t>(kMethod)]) {}
  void OnEvent(const Moment& now) override {
    if (!now.Is(EventKind::kHookCall)) return;
    if (now.HookCall(kMethod) && now.event.index > 0) {
      Arm();
      const bool follows = last_at_ != kNever && last_method_ == now.event.call && last_hook_ == now.event.index - 1;
      if (!follows) {
        Violate({last_at_, now.index},
                fmt::format("{} of hook {} directly before that of hook {}", HookMethodName(kMethod),
                            now.event.index - 1, now.event.index),
                last_at_ == kNever
                    ? "no hook was called before"
                    : fmt::format("{} of hook {} was", HookMethodName(HookMethod{last_method_}), last_hook_));
      }
    }
    last_at_ = now.index;
    last_method_ = now.event.call;
    last_hook_ = now.event.index;
  }

 private:
  std::size_t last_at_ = kNever;  // the last call of any hook
  std::uint8_t last_method_ = 0;
  std::int32_t last_hook_ = -1;
};

constexpr RuleInfo kPhaseEndsAtAFailure{
    .id = "order.phase_ends_at_a_failing_hook",
    .sentence = "When a hook fails, the hooks behind it are not called in that phase.",
    .documented = "",
    .observed =
        "end_raises_monitored begin_raises_monitored aborted_before_run_singular "
        "hooks_before_the_failing_one_run_twice",
};
class PhaseEndsAtAFailure : public Rule {
 public:
  PhaseEndsAtAFailure() : Rule(kPhaseEndsAtAFailure) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kHookReturn) && !now.ok()) {
      failed_ = now.index;
      method_ = now.event.call;
      hook_ = now.event.index;
      if (static_cast<std::size_t>(hook_) + 1 < now.run.hooks()) Arm();
    }
    if (!now.Is(EventKind::kHookCall) || failed_ == kNever) return;
    if (now.event.call == method_ && now.event.index == hook_ + 1) {
      Violate({failed_, now.index}, fmt::format("hook {} is not called after hook {} failed", hook_ + 1, hook_),
              "it is");
    }
    failed_ = kNever;
  }

 private:
  std::size_t failed_ = kNever;
  std::uint8_t method_ = 0;
  std::int32_t hook_ = -1;
};

}  // namespace

std::vector<RuleFactory> OrderRules() {
  return {NewRule<ListOrder<HookMethod::kBegin>>,     NewRule<ListOrder<HookMethod::kAfterCreateSession>>,
          NewRule<ListOrder<HookMethod::kBeforeRun>>, NewRule<ListOrder<HookMethod::kAfterRun>>,
          NewRule<ListOrder<HookMethod::kEnd>>,       NewRule<PhaseEndsAtAFailure>};
}

}  // namespace vigil::properties
