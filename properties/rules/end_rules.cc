// When end is called, and what it sees.
#include <fmt/format.h>

#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

constexpr RuleInfo kOnlyOnCleanExit{
    .id = "end.only_on_clean_exit",
    .sentence =
        "end is called only while the session is closed, and only if the scope was left without an error, with "
        "OUT_OF_RANGE or with STOP_ITERATION.",
    .documented = "SessionRunHook, module text and end(): any other exception means that end() is not called",
    .observed = "run_cancelled_monitored body_raises_other_singular begin_raises_monitored",
};
class OnlyOnCleanExit : public Rule {
 public:
  OnlyOnCleanExit() : Rule(kOnlyOnCleanExit) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kCloseStart) && now.event.code != Code::kOk && !IsCleanEndCode(now.event.code) &&
        now.run.hooks() > 0)
      Arm();
    if (!now.HookCall(HookMethod::kEnd)) return;
    const Seen& start = now.run.phase_start;
    if (now.run.phase != Phase::kClose) {
      Violate({now.index}, "end while the session is closed", "end at another time");
    } else if (!now.run.left_clean) {
      Violate({start.at, now.index}, fmt::format("no end: the scope was left with {}", CodeName(start.code)),
              "end is called");
    }
  }
};

// What all rules about the end calls of one close need.
class EndCalls : public Rule {
 public:
  using Rule::Rule;

 protected:
  // To be called first, with each event.
  void Count(const Moment& now) {
    if (now.Is(EventKind::kCloseStart)) {
      calls_ = 0;
      failed_ = stopping_ = kNever;
    }
    if (now.HookCall(HookMethod::kEnd)) ++calls_;
    if (now.HookReturn(HookMethod::kEnd) && !now.ok()) failed_ = now.index;
    const bool stops = now.Is(EventKind::kCoordinatorRequestStop) || now.Is(EventKind::kCoordinatorJoin) ||
                       now.LayerCall(CallKind::kClose);
    if (stops && !now.run.in_hook && stopping_ == kNever) stopping_ = now.index;
  }
  std::size_t calls_ = 0;
  std::size_t failed_ = kNever;
  std::size_t stopping_ = kNever;  // the first sign that the session itself is being closed
};

constexpr RuleInfo kEndOfEveryHook{
    .id = "end.for_every_hook_unless_one_fails",
    .sentence = "A clean close calls end of every hook once, unless one fails.",
    .documented = "MonitoredSession r1.4, Exit, item 1; SessionRunHook, module text",
    .observed = "lifecycle_two_hooks end_raises_monitored zero_runs close_inside_with_monitored",
};
class EndOfEveryHook : public EndCalls {
 public:
  EndOfEveryHook() : EndCalls(kEndOfEveryHook) {}
  void OnEvent(const Moment& now) override {
    Count(now);
    const Watch& run = now.run;
    if (!now.Is(EventKind::kCloseEnd) || !run.left_clean || run.hooks() == 0) return;
    Arm();
    if (calls_ == run.hooks() || (failed_ != kNever && calls_ < run.hooks())) return;
    Violate({run.phase_start.at, now.index}, fmt::format("end of {} hooks", run.hooks()),
            fmt::format("{} calls", calls_));
  }
};

constexpr RuleInfo kBeforeSessionClose{
    .id = "end.before_the_session_is_closed",
    .sentence = "end comes before the coordinator is stopped and the session is closed.",
    .documented = "MonitoredSession r1.4, Exit, items 1 and 2; SessionRunHook.end: a session that will be soon closed",
    .observed = "lifecycle_two_hooks end_raises_monitored",
};
class BeforeSessionClose : public EndCalls {
 public:
  BeforeSessionClose() : EndCalls(kBeforeSessionClose) {}
  void OnEvent(const Moment& now) override {
    Count(now);
    if (!now.HookCall(HookMethod::kEnd) || now.run.phase != Phase::kClose) return;
    Arm();
    if (stopping_ != kNever) Violate({stopping_, now.index}, "end before the coordinator is stopped", "end after it");
  }
};

constexpr RuleInfo kSeesTheOpenSession{
    .id = "end.sees_the_open_session",
    .sentence = "end sees the newest session, still open; when the session was closed before, it sees none.",
    .documented = "SessionRunHook.end: its session can run final operations",
    .observed = "lifecycle_two_hooks close_inside_with_monitored",
    .conflict =
        "not after a recovery that failed: end then sees the last session that a creation returned, closed "
        "(recreation_fails_for_good) or open (recovery_after_create_then_clean_close); the rule does not speak of it",
};
class SeesTheOpenSession : public Rule {
 public:
  SeesTheOpenSession() : Rule(kSeesTheOpenSession) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    if (!now.HookCall(HookMethod::kEnd)) return;
    if (run.closed) {
      Arm();
      if (now.event.session != 0)
        Violate({run.closed.at, now.index}, "no session", fmt::format("session {}", now.event.session));
    } else if (run.live) {
      Arm();
      if (now.event.session != run.session || now.event.closed) {
        Violate({run.session_at, now.index}, fmt::format("session {}, open", run.session),
                fmt::format("session {}{}", now.event.session, now.event.closed ? ", closed" : ""));
      }
    }
  }
};

constexpr RuleInfo kAfterRunSkipped{
    .id = "end.after_run_skipped_on_out_of_range",
    .sentence =
        "When a session run fails with OUT_OF_RANGE or STOP_ITERATION and the scope is left with it, after_run of that "
        "run is skipped and end of every hook is called.",
    .documented = "SessionRunHook.end: in that case end() is called but after_run() is not",
    .observed = "out_of_range_run_monitored out_of_range_run_singular",
    .stays =
        "after_run.never_after_a_failed_run and end.for_every_hook_unless_one_fails say its two halves. It is the "
        "sentence of the document.",
};
class AfterRunSkipped : public EndCalls {
 public:
  AfterRunSkipped() : EndCalls(kAfterRunSkipped) {}
  void OnEvent(const Moment& now) override {
    Count(now);
    const Watch& run = now.run;
    if (now.Is(EventKind::kRunStart) || now.HookCall(HookMethod::kBeforeRun)) failed_run_ = {};
    if (now.LayerCall(CallKind::kRun) && IsCleanEndCode(now.event.code)) failed_run_ = {now.index, now.event.code};
    if (!failed_run_) return;
    if (now.HookCall(HookMethod::kAfterRun)) {
      Violate({failed_run_.at, now.index}, "after_run is skipped after the end of the input", "after_run is called");
    }
    const bool leaves = now.Is(EventKind::kCloseEnd) && run.phase_start.code == failed_run_.code && run.left_clean;
    if (!leaves || run.hooks() == 0) return;
    Arm();
    if (calls_ == 0 || (calls_ < run.hooks() && failed_ == kNever)) {
      Violate({failed_run_.at, run.phase_start.at, now.index}, fmt::format("end of {} hooks", run.hooks()),
              fmt::format("{} calls", calls_));
    }
  }

 private:
  Seen failed_run_;  // the last session run, if it said that the input has ended
};

}  // namespace

std::vector<RuleFactory> EndRules() {
  return {NewRule<OnlyOnCleanExit>, NewRule<EndOfEveryHook>, NewRule<BeforeSessionClose>, NewRule<SeesTheOpenSession>,
          NewRule<AfterRunSkipped>};
}

}  // namespace vigil::properties
