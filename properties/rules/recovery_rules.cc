// When a session is given up and created anew, and what that does.
#include <fmt/format.h>

#include <string>

#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

constexpr RuleInfo kOnlyOnPreemption{
    .id = "recovery.only_on_aborted_or_unavailable",
    .sentence =
        "A session is given up only because of ABORTED or UNAVAILABLE, and only then is a further one created; when "
        "that fails for good, the next run tries again.",
    .documented = "MonitoredSession r1.4, Run, last item: AbortedError or UnavailableError",
    .observed =
        "run_aborted_monitored run_unavailable_monitored run_cancelled_monitored run_data_loss_monitored "
        "create_invalid_argument_monitored recreation_fails_for_good",
};
class OnlyOnPreemption : public Rule {
 public:
  OnlyOnPreemption() : Rule(kOnlyOnPreemption) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    if (now.Is(EventKind::kRecovery)) {
      Arm();
      if (!IsPreemptionCode(now.event.code)) {
        Violate({run.failure.at, now.index}, "ABORTED or UNAVAILABLE", NameOf(now.event.code));
      }
      lived_since_ = false;
    } else {
      lived_since_ = lived_since_ || run.live;
    }
    if (!now.Creation() || !run.attempt) return;
    const bool tries_again = run.recovery && !lived_since_ && run.phase_start.at > run.attempt.at;
    const bool recovers = run.recovery && run.recovery.at > run.attempt.at;
    const bool looks_again = run.facts().worker && run.not_ready;
    if (!recovers && !looks_again && !(run.phase_start && tries_again)) {
      Violate({run.attempt.at, now.index}, "a recovery between two creations of a session", "none");
    }
  }

 private:
  bool lived_since_ = false;  // a session was complete after the last recovery
};

constexpr RuleInfo kHasACause{
    .id = "recovery.has_a_cause",
    .sentence =
        "Each recovery names the code of the last failure, or of an error that was reported to the coordinator.",
    .documented = "MonitoredSession r1.4, Run, last item",
    .observed = "after_create_aborted_monitored report_aborted_then_run_fails_monitored step_fn_recovers_before_hooks",
    .excuses = "a session that is given up where a worker has found its model not ready",
    .why = "it looks again with a new one",
};
class HasACause : public Rule {
 public:
  HasACause() : Rule(kHasACause) {}
  void OnEvent(const Moment& now) override {
    if (!now.Is(EventKind::kRecovery)) return;
    Arm();
    const Seen& failure = now.run.failure;
    if ((failure && failure.code == now.event.code) || now.run.reported.contains(now.event.code)) return;
    Violate({failure.at, now.index}, "a failure with " + NameOf(now.event.code) + " before the recovery",
            failure ? "the last one was " + NameOf(failure.code) : "none");
  }
};

constexpr RuleInfo kSingularNever{
    .id = "recovery.singular_never",
    .sentence = "A singular session never recovers: it creates one session in its life.",
    .documented = "SingularMonitoredSession, differences: it does not handle AbortedError and UnavailableError",
    .observed = "run_aborted_singular create_aborted_singular after_create_aborted_singular",
};
class SingularNever : public Rule {
 public:
  SingularNever() : Rule(kSingularNever) {}
  void OnEvent(const Moment& now) override {
    if (now.run.facts().recovers) return;
    const bool ends = now.Is(EventKind::kRunEnd) || now.Says(replays::Note::kConstructFailed);
    if (ends && IsPreemptionCode(now.event.code)) Arm();
    if (now.Is(EventKind::kRecovery))
      Violate({now.run.failure.at, now.index}, "no recovery of a singular session", "one");
    if (now.Creation() && now.run.attempt) Violate({now.run.attempt.at, now.index}, "one creation", "a further one");
  }
};

constexpr RuleInfo kNeverLeavesRun{
    .id = "recovery.preemption_never_leaves_run",
    .sentence = "A run (or step function) of a monitored session never fails with ABORTED or UNAVAILABLE: it recovers.",
    .documented = "MonitoredSession r1.4, Run, last item",
    .observed = "run_aborted_monitored unavailable_after_run_monitored step_fn_recovers_after_hooks",
};
class NeverLeavesRun : public Rule {
 public:
  NeverLeavesRun() : Rule(kNeverLeavesRun) {}
  void OnEvent(const Moment& now) override {
    if (!now.run.facts().recovers) return;
    const bool in_run = now.run.phase == Phase::kRun || now.run.phase == Phase::kStep;
    if (now.Is(EventKind::kRecovery) && in_run) Arm();
    if (now.Is(EventKind::kRunEnd) && IsPreemptionCode(now.event.code)) {
      Violate({now.run.phase_start.at, now.run.failure.at, now.index}, "a recovery",
              "the run fails with " + NameOf(now.event.code));
    }
  }
};

constexpr RuleInfo kRepeatsTheCall{
    .id = "recovery.repeats_the_whole_call",
    .sentence =
        "A run that returns normally after a recovery has been repeated as a whole: on a session created after the "
        "recovery, with before_run of every hook.",
    .documented = "MonitoredSession r1.4, Run, last item: before executing the run() call again",
    .observed = "run_aborted_monitored hooks_before_the_failing_one_run_twice extra_read_aborts",
    .stays =
        "A run that returns after a recovery without having been repeated as a whole breaks "
        "run.ok_means_one_session_run or run.after_before_run_of_every_hook. It is the sentence of the document.",
};
class RepeatsTheCall : public Rule {
 public:
  RepeatsTheCall() : Rule(kRepeatsTheCall) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    if (now.Is(EventKind::kRunStart)) recovery_ = kNever;
    if (now.Is(EventKind::kRecovery) && run.phase == Phase::kRun) recovery_ = now.index;
    if (!now.Is(EventKind::kRunEnd) || !now.ok() || recovery_ == kNever) return;
    Arm();
    if (run.session_at < recovery_) {
      Violate({recovery_, now.index}, "a session created after the recovery", "none");
    } else if (!run.round.run || run.round.run.at < recovery_ || run.round.session != run.session) {
      Violate({recovery_, now.index}, "a run on the new session", "none");
    } else if (run.round.before != run.hooks()) {
      Violate({recovery_, run.round.run.at}, fmt::format("before_run of {} hooks again", run.hooks()),
              fmt::format("of {}", run.round.before));
    }
  }

 private:
  std::size_t recovery_ = kNever;  // the last one of the run in progress
};

constexpr RuleInfo kNewSessionOrError{
    .id = "recovery.ends_in_a_new_session_or_an_error",
    .sentence =
        "After a recovery a new session is created, unless closing the old one brings up an error that was reported to "
        "its coordinator.",
    .documented = "MonitoredSession r1.4, Run, last item: recovers or reinitializes the session",
    .observed = "create_fails_three_times report_then_recovery_close_raises",
    .excuses = "an error that was reported to the coordinator, and DEADLINE_EXCEEDED once recoveries are given up",
    .why = "both come out in place of the preemption",
};
class NewSessionOrError : public Rule {
 public:
  NewSessionOrError() : Rule(kNewSessionOrError) {}
  void OnEvent(const Moment& now) override {
    if (now.Creation()) recovery_ = kNever;
    if (now.Is(EventKind::kRecovery)) {
      Arm();
      if (recovery_ != kNever) Violate({recovery_, now.index}, "a creation after a recovery", "a further recovery");
      recovery_ = now.index;
    }
    const bool ends = now.Is(EventKind::kRunEnd) || now.Is(EventKind::kShouldStop) || now.Is(EventKind::kCloseStart) ||
                      now.Says(replays::Note::kConstructFailed);
    if (!ends || recovery_ == kNever) return;
    if (!now.run.reported.contains(now.event.code) && !now.run.GivesUp(now.event.code)) {
      Violate({recovery_, now.index}, "a creation after a recovery", "none, and no reported error comes out");
    }
    recovery_ = kNever;
  }

 private:
  std::size_t recovery_ = kNever;  // without a creation since
};

constexpr RuleInfo kClosesWhatItGivesUp{
    .id = "recovery.closes_what_it_gives_up",
    .sentence = "A complete session that is given up is closed before the next one is created.",
    .documented = "",
    .observed = "run_aborted_monitored should_stop_recovers",
    .stays =
        "close.each_before_the_next_creation says the same of every session, by default only. It holds under "
        "TensorFlow's behaviour, too.",
};
class ClosesWhatItGivesUp : public Rule {
 public:
  ClosesWhatItGivesUp() : Rule(kClosesWhatItGivesUp) {}
  void OnEvent(const Moment& now) override {
    if (now.LayerCall(CallKind::kClose) && now.event.session == session_) given_up_ = kNever;
    if (now.Is(EventKind::kRecovery) && now.event.session != 0) {
      Arm();
      given_up_ = now.index;
      session_ = now.event.session;
      return;
    }
    const bool too_late =
        now.Creation() || now.Is(EventKind::kRunEnd) || now.Is(EventKind::kShouldStop) || now.Is(EventKind::kRecovery);
    if (given_up_ == kNever || !too_late) return;
    Violate({given_up_, now.index}, fmt::format("session {} is closed first", session_), "it is not");
    given_up_ = kNever;
  }

 private:
  std::size_t given_up_ = kNever;
  std::int64_t session_ = 0;
};

constexpr RuleInfo kWithoutPause{
    .id = "recovery.without_pause",
    .sentence = "A chief creates the next session at once: nobody sleeps between a recovery and the creation after it.",
    .documented = "",
    .observed = "create_fails_three_times recovery_and_recreation_fail",
    .conflict = "",
    .holds = Holds::kTensorFlow,
    .excuses = "workers",
    .why = "a worker sleeps between two looks at the model",
};
class WithoutPause : public Rule {
 public:
  WithoutPause() : Rule(kWithoutPause) {}
  void OnEvent(const Moment& now) override {
    if (now.run.facts().worker) return;
    if (now.Is(EventKind::kRecovery)) recovery_ = now.index;
    if (now.Is(EventKind::kSleep) && recovery_ != kNever) {
      Violate({recovery_, now.index}, "no sleep after a recovery", fmt::format("{} s", now.event.value));
    }
    if (!now.Creation() || recovery_ == kNever) return;
    Arm();
    recovery_ = kNever;
  }

 private:
  std::size_t recovery_ = kNever;
};

}  // namespace

std::vector<RuleFactory> RecoveryRules() {
  return {NewRule<OnlyOnPreemption>, NewRule<HasACause>,         NewRule<SingularNever>,       NewRule<NeverLeavesRun>,
          NewRule<RepeatsTheCall>,   NewRule<NewSessionOrError>, NewRule<ClosesWhatItGivesUp>, NewRule<WithoutPause>};
}

}  // namespace vigil::properties
