// What a stop request does: of a hook, of the coordinator, of a step function.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

std::string Answer(const Moment& now) {
  if (!now.ok()) return fmt::format("it fails with {}", CodeName(now.event.code));
  return now.yes() ? "yes" : "no";
}

constexpr RuleInfo kMakesShouldStopTrue{
    .id = "stop.request_makes_should_stop_true",
    .sentence = "After a run that went well and in which a hook requested a stop, should_stop says yes.",
    .documented =
        "SessionRunHook.after_run: run_context.request_stop() can be called to stop the iteration; "
        "SessionRunContext.request_stop",
    .observed = "stop_then_loop_monitored stop_in_before_run_monitored stop_then_loop_singular",
    .conflict =
        "a recovery forgets the request (recovery_forgets_stop), a run that fails loses it "
        "(stop_lost_by_failed_run_monitored); the rule does not speak of these",
};
class MakesShouldStopTrue : public Rule {
 public:
  MakesShouldStopTrue() : Rule(kMakesShouldStopTrue) {}
  void OnEvent(const Moment& now) override {
    if (!now.Is(EventKind::kShouldStop) || !now.run.sticky_stop) return;
    Arm();
    if (now.ok() && !now.yes()) Violate({now.run.sticky_stop.at, now.index}, "yes", "no");
  }
};

constexpr RuleInfo kNoRunAfterIt{
    .id = "stop.no_run_after_it",
    .sentence =
        "After a run in which a hook requested a stop, no further run reaches a hook or the session, unless the "
        "session was created anew.",
    .documented = "SessionRunHook, module text: while not stop is requested",
    .observed = "stop_then_run_monitored stop_then_run_singular recovery_forgets_stop",
};
class NoRunAfterIt : public Rule {
 public:
  NoRunAfterIt() : Rule(kNoRunAfterIt) {}
  void OnEvent(const Moment& now) override {
    const Seen& stop = now.run.sticky_stop;
    if (!stop) return;
    if (now.Is(EventKind::kRunStart)) Arm();
    if (now.HookCall(HookMethod::kBeforeRun) || now.LayerCall(CallKind::kRun)) {
      Violate({stop.at, now.index}, "no run after a stop request", "a run");
    }
  }
};

constexpr RuleInfo kOnlyForAReason{
    .id = "stop.only_for_a_reason",
    .sentence =
        "should_stop says yes only if a hook requested a stop, someone stopped the coordinator or reported an error to "
        "it, the session was lost, or the process was told to end.",
    .documented = "SessionRunHook, module text: while not stop is requested",
    .observed = "lifecycle_two_hooks zero_runs_should_stop recreation_fails_for_good",
    .excuses =
        "a yes while there is no live session, or after another task has asked the coordinator; processes of a job "
        "that "
        "are told to end some time",
    .why = "the loop must end then; when they are told no event says",
};
class OnlyForAReason : public Rule {
 public:
  OnlyForAReason() : Rule(kOnlyForAReason) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    const bool returns = now.Is(EventKind::kStepFnReturn) || now.Is(EventKind::kHookReturn);
    const bool step_asks = returns && now.event.has_value && now.event.value != 0;
    const bool asks = now.Is(EventKind::kHookRequestsStop) || now.Is(EventKind::kCoordinatorRequestStop) || step_asks;
    if (asks && !run.facts().tensorflow) kept_ = true;
    if (!now.Is(EventKind::kShouldStop)) return;
    Arm();
    const bool reason =
        run.MayEnd() || run.sticky_stop || run.asked_to_stop || run.stopped_from_elsewhere || !run.live || kept_;
    if (now.yes() && !reason) Violate({run.session_at, now.index}, "no: nobody asked for a stop", "yes");
  }

 private:
  bool kept_ = false;  // somebody has asked, and a recovery does not forget it (nor a step function's request)
};

constexpr RuleInfo kSignalEndsTheLoop{
    .id = "stop.sigterm_ends_the_loop",
    .sentence =
        "Once SIGTERM has come to a session that listens for it, should_stop says yes, whatever session there is by "
        "then, or fails with what has failed since the caller's last call, or was reported.",
    .documented = "docs/ending.md: ShouldStop() is true from then on",
    .observed = "",
    .stays =
        "That a play comes to no end is seen, too, but only where a session waits for what never comes: most that do "
        "not hear a signal train on and end by themselves.",
};
class SignalEndsTheLoop : public Rule {
 public:
  SignalEndsTheLoop() : Rule(kSignalEndsTheLoop) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kShouldStop) && now.run.told_to_end) Judge(now);
    const bool ends_a_call = now.Is(EventKind::kShouldStop) || now.Is(EventKind::kRunEnd) ||
                             now.Is(EventKind::kCloseEnd) || now.Is(EventKind::kConstructed);
    if (ends_a_call) asked_after_ = now.index;
  }

 private:
  void Judge(const Moment& now) {
    Arm();
    // It may come while a question makes the session anew, which then fails, or is not ready, or did so just before.
    const Watch& run = now.run;
    const std::size_t since = std::min(run.told_to_end.at, asked_after_);
    const Code code = now.event.code;
    const auto is_since = [since, code](const Seen& seen) { return seen && seen.at > since && seen.code == code; };
    const bool failed = is_since(run.failure) || is_since(run.StoredBy(run.session));  // or was reported
    const bool complains = run.not_ready && run.not_ready.at > since && code == Code::kUsage;
    if (!now.ok() && (failed || complains || run.GivesUp(code))) return;
    if (!now.ok() || !now.yes()) Violate({run.told_to_end.at, now.index}, "yes", Answer(now));
  }

  std::size_t asked_after_ = 0;  // the end of the caller's last call before the question
};

constexpr RuleInfo kSignalEndsWaits{
    .id = "stop.sigterm_ends_waits",
    .sentence =
        "Once SIGTERM has come, the session waits for nothing any more: neither for its chief, nor before the next "
        "attempt of a recovery.",
    .documented = "docs/ending.md: waits end at once",
    .observed = "",
    .holds = Holds::kDefault,
};
class SignalEndsWaits : public Rule {
 public:
  SignalEndsWaits() : Rule(kSignalEndsWaits) {}
  void OnEvent(const Moment& now) override {
    if (now.on_main && waits_ != kNever) {
      if (now.time != since_)
        Violate({now.run.told_to_end.at, waits_, now.index}, "no wait",
                fmt::format("{:g} s", ToSeconds(now.time - since_)));
      waits_ = kNever;
    }
    if (!now.Is(EventKind::kSleep) || !now.run.told_to_end || now.run.in_hook) return;
    Arm();
    waits_ = now.index;
    since_ = now.time;
  }

 private:
  std::size_t waits_ = kNever;
  Time since_{};
};

constexpr RuleInfo kCoordinatorEndsTheLoop{
    .id = "stop.coordinator_stop_ends_the_loop",
    .sentence =
        "Once the coordinator was asked to stop, with or without an error, should_stop says yes or fails with that "
        "error, unless the session is created anew.",
    .documented =
        "Supervisor: after an exception was reported should_stop() returns True, and OutOfRangeError does so too",
    .observed =
        "coordinator_stop_monitored report_other_monitored report_aborted_singular should_stop_recreation_aborts",
    .conflict = "in a singular session a reported error comes out of should_stop itself (report_other_singular)",
    .excuses = "requests of other tasks while the answer is made",
    .why = "which of the two comes first is chance",
};
class CoordinatorEndsTheLoop : public Rule {
 public:
  CoordinatorEndsTheLoop() : Rule(kCoordinatorEndsTheLoop) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    // Whose request came first is known only if the main task made all of them.
    if (!now.Is(EventKind::kShouldStop) || !run.live || !run.asked_to_stop || run.stopped_from_elsewhere) return;
    Arm();
    const Seen& stop = run.asked_to_stop;
    const bool ends = now.ok() ? now.yes() : now.event.code == stop.code;
    if (!ends) Violate({stop.at, now.index}, "yes, or " + NameOf(stop.code), Answer(now));
  }
};

constexpr RuleInfo kStepContextSetsNoFlag{
    .id = "stop.step_context_sets_no_flag",
    .sentence =
        "A step function's request_stop ends its call with STOP_ITERATION, unless the step function catches it, and "
        "nothing else: if nobody else asked for a stop, should_stop still says no.",
    .documented = "",
    .observed = "step_fn_request_stop_bare step_catches_request_stop",
    .conflict =
        "run_step_fn promises the opposite: the next should_stop call will return True (SingularMonitoredSession, "
        "run_step_fn, Returns)",
    .holds = Holds::kTensorFlow,
    .excuses = "a yes for which there is another reason",
    .why = "it may be that one's",
};
class StepContextSetsNoFlag : public Rule {
 public:
  StepContextSetsNoFlag() : Rule(kStepContextSetsNoFlag) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    if (now.Says(replays::Note::kStepRequestsStop)) requested_ = now.index, caught_ = false;
    if (now.Is(EventKind::kStepFnReturn) && now.ok()) caught_ = true;
    if (now.Is(EventKind::kRecovery) || now.Is(EventKind::kRunStart)) requested_ = kNever;
    if (now.Is(EventKind::kRunEnd) && requested_ != kNever && !caught_ && now.event.code != Code::kStopIteration) {
      if (!run.reported.contains(now.event.code))
        Violate({requested_, now.index}, "STOP_ITERATION", NameOf(now.event.code));
      requested_ = kNever;
    }
    if (!now.Is(EventKind::kShouldStop) || requested_ == kNever) return;
    if (run.told_to_end || run.sticky_stop || run.asked_to_stop || run.stopped_from_elsewhere || !run.live) return;
    Arm();
    if (!now.ok() || now.yes()) Violate({requested_, now.index}, "no", Answer(now));
  }

 private:
  std::size_t requested_ = kNever;
  bool caught_ = false;  // by the step function
};

constexpr RuleInfo kForgottenByARecovery{
    .id = "stop.forgotten_by_a_recovery",
    .sentence =
        "A stop that a hook requested is forgotten when the session is created anew: if nobody asks again, should_stop "
        "says no.",
    .documented = "",
    .observed = "recovery_forgets_stop",
    .conflict = "SessionRunContext.request_stop promises to stop the iteration",
    .holds = Holds::kTensorFlow,
    .stays =
        "stop.only_for_a_reason finds that too: a request that is forgotten is no reason. It names what TensorFlow "
        "does, beside its opposite, stop.survives_a_recovery.",
    .excuses = "a yes for which there is another reason",
    .why = "it may be that one's",
};
class ForgottenByARecovery : public Rule {
 public:
  ForgottenByARecovery() : Rule(kForgottenByARecovery) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    if (now.Is(EventKind::kHookRequestsStop)) request_ = now.index;
    if (now.Is(EventKind::kRecovery) && request_ != kNever) forgotten_ = std::exchange(request_, kNever);
    if (!now.Is(EventKind::kShouldStop) || forgotten_ == kNever) return;
    if (run.told_to_end || run.sticky_stop || run.asked_to_stop || run.stopped_from_elsewhere || !run.live) return;
    Arm();
    if (!now.ok() || now.yes()) Violate({forgotten_, run.recovery.at, now.index}, "no", Answer(now));
  }

 private:
  std::size_t request_ = kNever;    // the last one since the last recovery
  std::size_t forgotten_ = kNever;  // the last one before it
};

}  // namespace

std::vector<RuleFactory> StopRules() {
  return {NewRule<MakesShouldStopTrue>,   NewRule<NoRunAfterIt>,        NewRule<OnlyForAReason>,
          NewRule<SignalEndsTheLoop>,     NewRule<SignalEndsWaits>,     NewRule<CoordinatorEndsTheLoop>,
          NewRule<StepContextSetsNoFlag>, NewRule<ForgottenByARecovery>};
}

}  // namespace vigil::properties
