// Step functions: how often they are called, what they see, what their runs are.
#include <fmt/format.h>

#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

constexpr RuleInfo kCalledOnce{
    .id = "step_fn.called_once_for_each_attempt",
    .sentence =
        "run_step_fn that returns normally has called the step function exactly once since its last recovery, and at "
        "no other time is a step function called.",
    .documented = "SingularMonitoredSession.run_step_fn: the returned value of the step function is returned",
    .observed = "step_fn_recovers_after_hooks step_fn_recovers_before_hooks step_fn_request_stop_bare",
};
class CalledOnce : public Rule {
 public:
  CalledOnce() : Rule(kCalledOnce) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    if (now.Is(EventKind::kRunStart) || now.Is(EventKind::kRecovery)) calls_ = 0;
    if (now.Is(EventKind::kStepFnCall)) {
      ++calls_;
      if (run.phase != Phase::kStep) Violate({now.index}, "a step function in run_step_fn", "elsewhere");
    }
    if (!now.Is(EventKind::kRunEnd) || run.phase != Phase::kStep || !now.ok()) return;
    Arm();
    if (calls_ != 1) Violate({run.phase_start.at, now.index}, "one call", fmt::format("{} calls", calls_));
  }

 private:
  int calls_ = 0;
};

// Which session a step function sees.
class StepSession : public Rule {
 public:
  using Rule::Rule;
  void OnEvent(const Moment& now) final {
    if (now.LayerCall(CallKind::kReady) && now.yes()) ready_ = now.event.session;
    if (now.Is(EventKind::kRunStart)) start_ = ready_;
    if (!now.Is(EventKind::kStepFnCall)) return;
    const bool recovered = now.run.recovery && now.run.recovery.at > now.run.phase_start.at;
    if (recovered) Arm();
    const std::int64_t expected = Expected(now);
    if (now.event.session != expected) {
      Violate({now.run.session_at, now.index}, fmt::format("session {}", expected),
              fmt::format("session {}", now.event.session));
    }
  }

 protected:
  std::int64_t start_ = 0;  // the newest session that was ready when run_step_fn was called

 private:
  virtual std::int64_t Expected(const Moment& now) const = 0;
  std::int64_t ready_ = 0;
};

constexpr RuleInfo kSeesTheOldSession{
    .id = "step_fn.sees_the_session_of_the_call",
    .sentence =
        "A step function sees the session with which its call began, also in a repetition after a recovery, when it is "
        "closed.",
    .documented = "",
    .observed = "step_fn_recovers_after_hooks step_fn_recovers_before_hooks",
    .conflict = "SingularMonitoredSession.run_step_fn: a step function has access to a raw session",
    .holds = Holds::kTensorFlow,
};
class SeesTheOldSession : public StepSession {
 public:
  SeesTheOldSession() : StepSession(kSeesTheOldSession) {}

 private:
  std::int64_t Expected(const Moment&) const override { return start_; }
};

constexpr RuleInfo kSeesTheNewSession{
    .id = "step_fn.sees_the_newest_session",
    .sentence = "By default a step function sees the newest session, also in a repetition after a recovery.",
    .documented =
        "SingularMonitoredSession.run_step_fn: a step function has access to a raw session; docs/differences.md, "
        "step_fn_sees_new_session",
    .observed = "",
    .conflict = "TensorFlow shows it the closed one: step_fn.sees_the_session_of_the_call",
    .holds = Holds::kDefault,
};
class SeesTheNewSession : public StepSession {
 public:
  SeesTheNewSession() : StepSession(kSeesTheNewSession) {}

 private:
  std::int64_t Expected(const Moment& now) const override { return now.run.session; }
};

constexpr RuleInfo kRunWithHooks{
    .id = "step_fn.run_with_hooks_is_a_run",
    .sentence =
        "run_with_hooks is called inside a step function only; one that returns normally has made exactly one session "
        "run, which worked, with before_run and after_run of every hook.",
    .documented = "SingularMonitoredSession.run_step_fn, and Run: before_run, session.run(), after_run",
    .observed = "step_fn_recovers_after_hooks",
};
class StepRunWithHooks : public Rule {
 public:
  StepRunWithHooks() : Rule(kRunWithHooks) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    if (now.Is(EventKind::kStepFnCall)) inside_ = true;
    if (now.Is(EventKind::kStepFnReturn)) inside_ = false;
    if (now.Is(EventKind::kInnerRunStart)) {
      start_ = now.index;
      runs_ = before_ = after_ = 0;
      if (!inside_) Violate({now.index}, "run_with_hooks inside a step function", "outside");
    }
    if (now.LayerCall(CallKind::kRun)) ++runs_;
    if (now.HookReturn(HookMethod::kBeforeRun)) ++before_;
    if (now.HookReturn(HookMethod::kAfterRun)) ++after_;
    if (!now.Is(EventKind::kInnerRunEnd) || !now.ok()) return;
    Arm();
    if (runs_ == 1 && before_ == run.hooks() && after_ == run.hooks()) return;
    Violate({start_, now.index}, fmt::format("one session run, {0} before_run, {0} after_run", run.hooks()),
            fmt::format("{}, {}, {}", runs_, before_, after_));
  }

 private:
  bool inside_ = false;
  std::size_t start_ = kNever;
  std::size_t runs_ = 0;
  std::size_t before_ = 0;
  std::size_t after_ = 0;
};

constexpr RuleInfo kStopIsKept{
    .id = "step_fn.stop_is_kept",
    .sentence =
        "By default, after a step function has requested a stop, should_stop says yes, whatever session it is asked "
        "of.",
    .documented =
        "SingularMonitoredSession.run_step_fn: the next should_stop call will return True; docs/differences.md, "
        "step_fn_stop_is_kept",
    .observed = "",
    .conflict = "in TensorFlow it sets no flag: stop.step_context_sets_no_flag",
    .holds = Holds::kDefault,
};
class StopIsKept : public Rule {
 public:
  StopIsKept() : Rule(kStopIsKept) {}
  void OnEvent(const Moment& now) override {
    const bool asks = now.Is(EventKind::kStepFnReturn) && now.event.has_value && now.event.value != 0;
    if (asks && asked_ == kNever) asked_ = now.index;
    if (!now.Is(EventKind::kShouldStop) || asked_ == kNever) return;
    Arm();
    if (now.ok() && !now.yes()) Violate({asked_, now.index}, "yes", "no");
  }

 private:
  std::size_t asked_ = kNever;
};

}  // namespace

std::vector<RuleFactory> StepRules() {
  return {NewRule<CalledOnce>, NewRule<SeesTheOldSession>, NewRule<SeesTheNewSession>, NewRule<StepRunWithHooks>,
          NewRule<StopIsKept>};
}

}  // namespace vigil::properties
