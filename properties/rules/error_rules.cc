// Which error comes out, of a run and of a scope.
#include <fmt/format.h>

#include <string>

#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

constexpr RuleInfo kPassedOn{
    .id = "error.run_passes_on_what_failed",
    .sentence =
        "A run fails with the code of what failed last in it, or with an error that was reported to the coordinator; "
        "when nothing failed it is the library's own complaint, USAGE.",
    .documented = "SessionRunHook, module text: if sess.run() raises any other exception, it is raised",
    .observed =
        "run_cancelled_monitored other_before_run_singular report_aborted_then_run_fails_singular feed_conflict_user "
        "stop_then_run_monitored",
    .excuses =
        "an error that was reported to the coordinator, and DEADLINE_EXCEEDED once recoveries are given up, or a "
        "worker's wait for a session that does not get ready; by default a restore after which an older checkpoint was "
        "restored",
    .why = "a thread's error comes out of the next run; a wait that is given up has an error of its own",
};
class PassedOn : public Rule {
 public:
  PassedOn() : Rule(kPassedOn) {}
  void OnEvent(const Moment& now) override {
    if (!now.Is(EventKind::kRunEnd) || now.ok()) return;
    Arm();
    const Watch& run = now.run;
    const Code expected = run.failure ? run.failure.code : Code::kUsage;
    if (now.event.code == expected || run.reported.contains(now.event.code) || run.GivesUp(now.event.code)) return;
    if (run.recovery && run.DiskMayHaveFailed(now.event.code)) return;
    Violate({run.phase_start.at, run.failure.at, now.index}, NameOf(expected), NameOf(now.event.code));
  }
};

// What a first close may end with, beside what the scope was left with: the error of an end that failed, and what was
// reported to the coordinator.
class ExitCode : public Rule {
 public:
  using Rule::Rule;
  void OnEvent(const Moment& now) final {
    if (now.Is(EventKind::kCloseStart)) end_failed_ = {};
    if (now.HookReturn(HookMethod::kEnd) && !now.ok()) end_failed_ = {now.index, now.event.code};
    if (!now.Is(EventKind::kCloseEnd) || now.run.closed || !SpeaksOf(now.run.phase_start.code, now.run.left_clean))
      return;
    Arm();
    const Code left_with = now.run.phase_start.code;
    const Code expected = end_failed_ ? end_failed_.code : now.run.left_clean ? Code::kOk : left_with;
    if (now.event.code == expected || now.run.reported.contains(now.event.code)) return;
    Violate({now.run.phase_start.at, end_failed_.at, now.index}, NameOf(expected), NameOf(now.event.code));
  }

 private:
  virtual bool SpeaksOf(Code left_with, bool clean) const = 0;
  Seen end_failed_;
};

constexpr RuleInfo kCleanEndIsSwallowed{
    .id = "exit.clean_end_is_swallowed",
    .sentence =
        "A scope that is left with OUT_OF_RANGE or STOP_ITERATION ends well, unless an end fails or an error was "
        "reported to the coordinator.",
    .documented = "MonitoredSession r1.4, Exit, item 3: suppresses OutOfRange",
    .observed = "out_of_range_run_monitored stop_iteration_before_run_singular body_raises_out_of_range_monitored",
};
class CleanEndIsSwallowed : public ExitCode {
 public:
  CleanEndIsSwallowed() : ExitCode(kCleanEndIsSwallowed) {}

 private:
  bool SpeaksOf(Code left_with, bool clean) const override { return clean && left_with != Code::kOk; }
};

constexpr RuleInfo kCloseReportsEnd{
    .id = "exit.close_fails_only_as_end_did",
    .sentence =
        "A close (or a scope left without an error) ends well, unless an end fails, whose error it is, or an error was "
        "reported to the coordinator. A failure to close the raw session is nobody's business.",
    .documented = "",
    .observed = "end_raises_monitored end_raises_aborted_singular session_close_fails_internal_monitored",
};
class CloseReportsEnd : public ExitCode {
 public:
  CloseReportsEnd() : ExitCode(kCloseReportsEnd) {}

 private:
  bool SpeaksOf(Code left_with, bool) const override { return left_with == Code::kOk; }
};

constexpr RuleInfo kOtherErrorsComeOut{
    .id = "exit.other_errors_come_out",
    .sentence =
        "A scope that is left with any other error ends with that error, unless one was reported to the coordinator.",
    .documented = "SessionRunHook, module text: any other exception is raised",
    .observed = "run_cancelled_monitored body_raises_aborted_monitored body_raises_other_singular",
};
class OtherErrorsComeOut : public ExitCode {
 public:
  OtherErrorsComeOut() : ExitCode(kOtherErrorsComeOut) {}

 private:
  bool SpeaksOf(Code, bool clean) const override { return !clean; }
};

constexpr RuleInfo kReportedErrorComesOut{
    .id = "exit.reported_error_comes_out",
    .sentence =
        "An error that was the first thing reported to the coordinator comes out of the close, in place of any other; "
        "a "
        "monitored session swallows ABORTED and UNAVAILABLE there.",
    .documented = "Supervisor.managed_session: an exception of a service thread is raised again when the block exits",
    .observed =
        "report_other_then_raw_close_monitored report_aborted_then_raw_close_singular "
        "report_aborted_then_raw_close_monitored report_non_preemption_then_close",
    .conflict =
        "OUT_OF_RANGE comes out as well (report_out_of_range_then_raw_close_monitored), which Supervisor calls a "
        "normal termination",
    .excuses = "errors that are reported by other tasks after the first request; preemptions of what recovers",
    .why = "the first request is what counts; a preemption is recovered",
};
class ReportedErrorComesOut : public Rule {
 public:
  ReportedErrorComesOut() : Rule(kReportedErrorComesOut) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    if (now.Is(EventKind::kCloseStart)) reported_ = run.live && !run.closed ? run.asked_to_stop : Seen{};
    if (!now.Is(EventKind::kCloseEnd) || run.closed || run.stopped_from_elsewhere) return;
    if (!reported_ || reported_.code == Code::kOk) return;
    if (run.facts().recovers && IsPreemptionCode(reported_.code)) return;
    Arm();
    if (now.event.code != reported_.code)
      Violate({reported_.at, now.index}, NameOf(reported_.code), NameOf(now.event.code));
  }

 private:
  Seen reported_;  // the first request to the coordinator, when the close began
};

}  // namespace

std::vector<RuleFactory> ErrorRules() {
  return {NewRule<PassedOn>, NewRule<CleanEndIsSwallowed>, NewRule<CloseReportsEnd>, NewRule<OtherErrorsComeOut>,
          NewRule<ReportedErrorComesOut>};
}

}  // namespace vigil::properties
