// What a run does: before_run of every hook, one session run, after_run of every hook.
#include <fmt/format.h>

#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

constexpr RuleInfo kEveryBeforeRunFirst{
    .id = "run.after_before_run_of_every_hook",
    .sentence =
        "Each session run comes after before_run of every hook, none of which failed; no two session runs share one "
        "round of before_run.",
    .documented = "MonitoredSession r1.4, Run, items 1 and 2",
    .observed = "lifecycle_two_hooks aborted_before_run_monitored bad_fetch",
};
class EveryBeforeRunFirst : public Rule {
 public:
  EveryBeforeRunFirst() : Rule(kEveryBeforeRunFirst) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    if (!now.LayerCall(CallKind::kRun) || run.hooks() == 0) return;
    Arm();
    if (run.round.over) {
      Violate({run.phase_start.at, now.index}, "a round of before_run first", "none in this call");
    } else if (run.round.run) {
      Violate({run.round.run.at, now.index}, "one session run for each round of before_run", "two");
    } else if (run.round.before != run.hooks()) {
      Violate({run.round.failed.at, now.index}, fmt::format("before_run of {} hooks first", run.hooks()),
              fmt::format("{} returned OK", run.round.before));
    }
  }
};

constexpr RuleInfo kNeverAfterAFailure{
    .id = "after_run.never_after_a_failed_run",
    .sentence = "after_run is called only when the session run of the same round worked.",
    .documented = "SessionRunHook.after_run: if session.run() raises any exception, after_run() is not called",
    .observed = "out_of_range_run_monitored run_cancelled_singular run_aborted_monitored bad_fetch",
};
class NeverAfterAFailure : public Rule {
 public:
  NeverAfterAFailure() : Rule(kNeverAfterAFailure) {}
  void OnEvent(const Moment& now) override {
    const Round& round = now.run.round;
    if (now.LayerCall(CallKind::kRun) && !now.ok() && now.run.hooks() > 0) Arm();
    if (!now.HookCall(HookMethod::kAfterRun)) return;
    if (round.over || !round.run) {
      Violate({now.index}, "a session run before after_run", "none in this round");
    } else if (round.run.code != Code::kOk) {
      Violate({round.run.at, now.index}, fmt::format("no after_run: the run failed with {}", CodeName(round.run.code)),
              "after_run is called");
    }
  }
};

constexpr RuleInfo kRunForEveryHook{
    .id = "after_run.for_every_hook_after_a_good_run",
    .sentence = "When the session run worked, after_run of every hook follows, unless one of them fails.",
    .documented = "MonitoredSession r1.4, Run, items 2 and 3",
    .observed = "lifecycle_two_hooks aborted_after_run_monitored stop_in_before_run_monitored",
};
class RunForEveryHook : public Rule {
 public:
  RunForEveryHook() : Rule(kRunForEveryHook) {}
  void OnEvent(const Moment& now) override {
    if (pending_ != kNever) {
      if (now.HookReturn(HookMethod::kAfterRun) && (!now.ok() || now.run.round.after + 1 >= now.run.hooks())) {
        pending_ = kNever;
      } else if (now.Is(EventKind::kRunEnd) || now.Is(EventKind::kRecovery) || now.Is(EventKind::kCloseStart) ||
                 now.HookCall(HookMethod::kBeforeRun) || now.LayerCall(CallKind::kRun)) {
        Violate({pending_, now.index}, fmt::format("after_run of {} hooks after a run that worked", now.run.hooks()),
                fmt::format("of {}", now.run.round.after));
        pending_ = kNever;
      }
    }
    if (!now.LayerCall(CallKind::kRun) || !now.ok() || now.run.hooks() == 0) return;
    Arm();
    pending_ = now.index;
  }

 private:
  std::size_t pending_ = kNever;  // a run that worked and whose after_run calls are not complete
};

constexpr RuleInfo kSameSession{
    .id = "run.hooks_see_the_session_that_runs",
    .sentence = "before_run and after_run see the newest session, open, and it is the one that runs.",
    .documented = "SessionRunContext.session: the session that will execute the run",
    .observed = "run_aborted_monitored two_recoveries_in_one_call step_fn_recovers_after_hooks",
};
class SameSession : public Rule {
 public:
  SameSession() : Rule(kSameSession) {}
  void OnEvent(const Moment& now) override {
    const bool hook = now.HookCall(HookMethod::kBeforeRun) || now.HookCall(HookMethod::kAfterRun);
    if (!hook && !now.LayerCall(CallKind::kRun)) return;
    Arm();
    if (now.event.session != now.run.session || (hook && now.event.closed)) {
      Violate({now.run.session_at, now.index}, fmt::format("session {}, open", now.run.session),
              fmt::format("session {}{}", now.event.session, now.event.closed ? ", closed" : ""));
    }
  }
};

constexpr RuleInfo kOneGoodRun{
    .id = "run.ok_means_one_session_run",
    .sentence =
        "A run() that returns normally has made exactly one session run since its last recovery, and that one worked.",
    .documented =
        "MonitoredSession r1.4, Run: calls session.run(), returns its result, and executes the call again after a "
        "recovery",
    .observed = "lifecycle_no_hooks run_aborted_monitored two_recoveries_in_one_call",
};
class OneGoodRun : public Rule {
 public:
  OneGoodRun() : Rule(kOneGoodRun) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kRunStart) || now.Is(EventKind::kRecovery)) {
      runs_ = good_ = 0;
      last_ = kNever;
    }
    if (now.LayerCall(CallKind::kRun)) {
      ++runs_;
      good_ += now.ok() ? 1 : 0;
      last_ = now.index;
    }
    if (!now.Is(EventKind::kRunEnd) || now.run.phase != Phase::kRun || !now.ok()) return;
    Arm();
    if (runs_ != 1 || good_ != 1) {
      Violate({now.run.phase_start.at, last_, now.index}, "one session run, which worked",
              fmt::format("{} session runs, {} of which worked", runs_, good_));
    }
  }

 private:
  int runs_ = 0;
  int good_ = 0;
  std::size_t last_ = kNever;
};

}  // namespace

std::vector<RuleFactory> RunRules() {
  return {NewRule<EveryBeforeRunFirst>, NewRule<NeverAfterAFailure>, NewRule<RunForEveryHook>, NewRule<SameSession>,
          NewRule<OneGoodRun>};
}

}  // namespace vigil::properties
