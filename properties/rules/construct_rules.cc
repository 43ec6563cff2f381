// What the construction of a session comes to, and what should_stop and runs say afterwards.
#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

constexpr RuleInfo kConstructedOnce{
    .id = "construct.ends_before_use",
    .sentence = "The construction ends once, before the first run, the first should_stop and the first close.",
    .documented =
        "MonitoredSession r1.4, Initialization: what is listed there is done at creation time, and what Run lists when "
        "run() is called",
    .observed = "lifecycle_two_hooks lifecycle_singular training_defaults",
};
class ConstructedOnce : public Rule {
 public:
  ConstructedOnce() : Rule(kConstructedOnce) {}
  void OnEvent(const Moment& now) override {
    const Seen& constructed = now.run.constructed;
    if (now.Is(EventKind::kConstructed)) {
      Arm();
      if (constructed) Violate({constructed.at, now.index}, "one end of the construction", "a second one");
    }
    const bool used = now.Is(EventKind::kRunStart) || now.Is(EventKind::kShouldStop) || now.Is(EventKind::kCloseStart);
    if (used && !constructed) Violate({now.index}, "the construction has ended before", "it has not");
  }
};

constexpr RuleInfo kUsableOrError{
    .id = "construct.gives_a_usable_session_or_the_error",
    .sentence =
        "A construction that succeeds leaves a session that is ready, with queue runners that run, and that every hook "
        "has seen; one that fails does so with what failed last or was reported, or with the library's own complaint.",
    .documented = "MonitoredSession r1.4, Initialization",
    .observed = "lifecycle_two_hooks begin_raises_monitored create_invalid_argument_singular",
    .excuses = "DEADLINE_EXCEEDED of a worker, and of a session whose recoveries are given up",
    .why = "a wait that ends has an error of its own",
};
class UsableOrError : public Rule {
 public:
  UsableOrError() : Rule(kUsableOrError) {}
  void OnEvent(const Moment& now) override {
    if (!now.Is(EventKind::kConstructed)) return;
    Arm();
    const Watch& run = now.run;
    if (now.ok()) {
      if (!run.live) Violate({run.session_at, now.index}, "a session that is complete", "it is not");
      return;
    }
    const Code code = now.event.code;
    const bool complains = code == Code::kUsage || code == Code::kOther || code == Code::kInvalidArgument ||
                           (run.facts().worker && code == Code::kDeadlineExceeded) || run.GivesUp(code);
    if ((run.failure && run.failure.code == code) || complains || run.reported.contains(code)) return;
    if (run.DiskMayHaveFailed(code)) return;
    Violate({run.failure.at, now.index}, run.failure ? NameOf(run.failure.code) : "a complaint", NameOf(code));
  }
};

constexpr RuleInfo kComplains{
    .id = "stop.a_run_after_it_is_a_complaint",
    .sentence =
        "A run after a run in which a hook requested a stop is a usage error, unless the session was created anew "
        "meanwhile.",
    .documented = "SessionRunContext.request_stop: the session checks whether it was called",
    .observed = "stop_then_run_monitored stop_then_run_singular",
    .stays =
        "A run that is not refused breaks stop.no_run_after_it, one that is refused with another code breaks "
        "error.run_passes_on_what_failed. It says both of the case that callers meet.",
};
class Complains : public Rule {
 public:
  Complains() : Rule(kComplains) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    if (now.Is(EventKind::kRunStart)) stop_ = now.event.call == 0 ? run.sticky_stop : Seen{};
    if (now.Is(EventKind::kRecovery)) stop_ = {};
    if (!now.Is(EventKind::kRunEnd) || !stop_) return;
    Arm();
    const bool reported = run.reported.contains(now.event.code);
    if (now.event.code != Code::kUsage && !reported)
      Violate({stop_.at, run.phase_start.at, now.index}, "USAGE", NameOf(now.event.code));
    stop_ = {};
  }

 private:
  Seen stop_;  // requested before the run in progress
};

constexpr RuleInfo kYesStays{
    .id = "stop.yes_stays_yes",
    .sentence = "Once should_stop has said yes, it says no again only of a session that was created since.",
    .documented = "Supervisor, use for a single program: after an exception was reported should_stop() returns True",
    .observed = "stop_then_loop_monitored coordinator_stop_monitored report_other_monitored recovery_forgets_stop",
};
class YesStays : public Rule {
 public:
  YesStays() : Rule(kYesStays) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kSessionCreated) || now.Is(EventKind::kRecovery)) yes_ = kNever;
    if (!now.Is(EventKind::kShouldStop)) return;
    if (yes_ != kNever) {
      Arm();
      if (now.ok() && !now.yes()) Violate({yes_, now.index}, "yes again", "no");
    }
    if (now.yes()) yes_ = now.index;
  }

 private:
  std::size_t yes_ = kNever;
};

constexpr RuleInfo kJoinsOnce{
    .id = "close.joins_the_coordinator_of_its_session_once",
    .sentence =
        "Each session has a coordinator of its own: giving a session up, or closing it, asks that one to stop and "
        "joins "
        "that one, once.",
    .documented = "SessionRunHook.after_create_session: the coordinator that keeps track of the session's threads",
    .observed = "lifecycle_two_hooks run_aborted_monitored two_recoveries_in_one_call",
};
class JoinsOnce : public Rule {
 public:
  JoinsOnce() : Rule(kJoinsOnce) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kSessionCreated)) joined_ = kNever;
    const bool joins = now.Is(EventKind::kCoordinatorJoin);
    if (now.run.in_hook || (!joins && !now.Is(EventKind::kCoordinatorRequestStop))) return;
    if (joins) Arm();
    if (now.event.session != 0 && now.event.session != now.run.session) {
      Violate({now.run.session_at, now.index}, fmt::format("the coordinator of session {}", now.run.session),
              fmt::format("that of session {}", now.event.session));
    }
    if (!joins) return;
    if (joined_ != kNever) Violate({joined_, now.index}, "one join for each session", "a second one");
    joined_ = now.index;
  }

 private:
  std::size_t joined_ = kNever;  // of the newest session's coordinator
};

constexpr RuleInfo kPauses{
    .id = "recovery.pauses_before_the_next_attempt",
    .sentence =
        "By default the session after a recovery is created one second later at the earliest, and the first recovery "
        "after a run that was completed pauses for 1.25 seconds at most.",
    .documented = "docs/differences.md, bounded_recovery",
    .observed = "",
    .conflict = "TensorFlow makes no pause: recovery.without_pause",
    .holds = Holds::kDefault,
};
class Pauses : public Rule {
 public:
  Pauses() : Rule(kPauses) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kRecovery)) {
      recovery_ = now.index;
      at_ = now.time;
      first_ = std::exchange(completed_, false);
    }
    if (now.Is(EventKind::kRunEnd) && now.ok()) completed_ = true;
    if (now.Is(EventKind::kSleep) && recovery_ != kNever && first_) {
      Arm();
      if (now.event.value > 1.25) {
        Violate({recovery_, now.index}, "at most 1.25 s after a run that was completed",
                fmt::format("{:.3f} s", now.event.value));
      }
    }
    // It was given up; the next call begins anew.
    if (now.Is(EventKind::kRunEnd) || now.Is(EventKind::kShouldStop)) recovery_ = kNever;
    if (!now.Creation() || recovery_ == kNever) return;
    Arm();
    const Duration pause = now.time - at_;
    if (pause < std::chrono::seconds(1)) {
      Violate({recovery_, now.index}, "at least 1 s between recovery and creation",
              fmt::format("{:.3f} s", ToSeconds(pause)));
    }
    recovery_ = kNever;
  }

 private:
  std::size_t recovery_ = kNever;
  Time at_;
  bool completed_ = false;  // a run, since the last recovery
  bool first_ = false;      // this recovery is the first since then
};

constexpr RuleInfo kClosesEach{
    .id = "close.each_before_the_next_creation",
    .sentence =
        "By default every session that was created is closed before the next one is, also one that could not be made "
        "ready; before a construction fails, and before a close ends, all are.",
    .documented = "docs/differences.md, close_partial_session",
    .observed = "",
    .conflict = "TensorFlow leaves open what it could not make ready",
    .holds = Holds::kDefault,
    .stays =
        "job.resources_return sees it, too, where the program ends cleanly and its server is asked afterwards: not in "
        "a session without a cluster, nor in a program that fails.",
};
class ClosesEach : public Rule {
 public:
  ClosesEach() : Rule(kClosesEach) {}
  void OnEvent(const Moment& now) override {
    if (now.LayerCall(CallKind::kClose)) open_.erase(now.event.session);
    const bool fails = now.Is(EventKind::kConstructed) && !now.ok();
    if (!now.Creation() && !fails && !now.Is(EventKind::kCloseEnd)) return;
    if (created_) Arm();
    if (!open_.empty())
      Violate({open_.begin()->second, now.index}, fmt::format("session {} is closed first", open_.begin()->first),
              "it is not");
    open_.clear();
    if (!now.Is(EventKind::kSessionCreated)) return;
    created_ = true;
    open_.emplace(now.event.session, now.index);
  }

 private:
  bool created_ = false;
  std::map<std::int64_t, std::size_t> open_;  // sessions
};

constexpr RuleInfo kSurvives{
    .id = "stop.survives_a_recovery",
    .sentence =
        "By default a stop that a hook requested is kept when the session is created anew: "
        "should_stop still says yes.",
    .documented =
        "SessionRunContext.request_stop: the iteration is stopped; docs/differences.md, stop_survives_recovery",
    .observed = "",
    .conflict = "TensorFlow forgets it: stop.forgotten_by_a_recovery",
    .holds = Holds::kDefault,
};
class Survives : public Rule {
 public:
  Survives() : Rule(kSurvives) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    const bool asks = now.Is(EventKind::kHookReturn) && now.event.has_value && now.event.value != 0;
    if ((asks || now.Is(EventKind::kHookRequestsStop)) && asked_ == kNever) asked_ = now.index;
    if (now.Is(EventKind::kRecovery) && asked_ != kNever) stop_ = {asked_, Code::kOk};
    if (!now.Is(EventKind::kShouldStop) || !stop_) return;
    // The run that was under way, or is tried once more, may be made.
    Arm();
    if (now.ok() && !now.yes()) Violate({stop_.at, run.recovery.at, now.index}, "yes", "no");
  }

 private:
  std::size_t asked_ = kNever;
  Seen stop_;  // requested before a recovery
};

}  // namespace

std::vector<RuleFactory> ConstructRules() {
  return {NewRule<ConstructedOnce>, NewRule<UsableOrError>, NewRule<Complains>,  NewRule<YesStays>,
          NewRule<JoinsOnce>,       NewRule<Pauses>,        NewRule<ClosesEach>, NewRule<Survives>};
}

}  // namespace vigil::properties
