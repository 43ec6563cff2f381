// How a session is closed, and what is left of it.
#include <fmt/format.h>

#include <map>

#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

constexpr RuleInfo kStopJoinClose{
    .id = "close.coordinator_stop_then_join_then_close",
    .sentence =
        "A raw session is closed after its coordinator was asked to stop and then joined, at the end as in a recovery.",
    .documented = "MonitoredSession r1.4, Exit, item 2: closes the queue runners and the session",
    .observed = "lifecycle_two_hooks run_aborted_monitored session_close_fails_internal_singular",
};
class StopJoinClose : public Rule {
 public:
  StopJoinClose() : Rule(kStopJoinClose) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kCloseStart) || now.Is(EventKind::kRecovery)) stop_ = join_ = kNever;
    if (now.Is(EventKind::kCoordinatorRequestStop) && !now.run.in_hook) stop_ = now.index;
    if (now.Is(EventKind::kCoordinatorJoin)) {
      join_ = now.index;
      if (stop_ == kNever) Violate({now.index}, "a stop request before the coordinator is joined", "none");
    }
    if (!now.LayerCall(CallKind::kClose)) return;
    // A session that never was ready has no coordinator.
    if (now.event.session == now.run.session && !now.run.ready) return;
    Arm();
    if (stop_ == kNever || join_ == kNever) {
      Violate({stop_, join_, now.index}, "the coordinator is stopped and joined before the session is closed",
              "it is not");
    }
  }

 private:
  std::size_t stop_ = kNever;
  std::size_t join_ = kNever;
};

constexpr RuleInfo kClosesTheSession{
    .id = "close.closes_the_session",
    .sentence = "Closing (or leaving the scope) closes the raw session, whatever end and join did.",
    .documented = "MonitoredSession r1.4, Exit, item 2",
    .observed = "lifecycle_two_hooks end_raises_monitored report_other_then_raw_close_singular",
    .stays =
        "close.each_before_the_next_creation says the same, by default only. It holds under TensorFlow's behaviour, "
        "too.",
};
class ClosesTheSession : public Rule {
 public:
  ClosesTheSession() : Rule(kClosesTheSession) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    if (now.Is(EventKind::kCloseStart)) session_ = run.live && !run.closed ? run.session : 0;
    if (now.LayerCall(CallKind::kClose) && now.event.session == session_) {
      Arm();
      session_ = 0;
    }
    if (!now.Is(EventKind::kCloseEnd) || session_ == 0) return;
    Violate({run.phase_start.at, now.index}, fmt::format("session {} is closed", session_), "it is not");
    session_ = 0;
  }

 private:
  std::int64_t session_ = 0;  // that must be closed before the close ends
};

constexpr RuleInfo kNoCallsOnAClosedSession{
    .id = "close.no_calls_on_a_closed_session",
    .sentence = "The session layer calls nothing on a session that it has closed.",
    .documented = "",
    .observed = "run_aborted_monitored run_after_close_monitored close_inside_with_monitored",
};
class NoCallsOnAClosedSession : public Rule {
 public:
  NoCallsOnAClosedSession() : Rule(kNoCallsOnAClosedSession) {}
  void OnEvent(const Moment& now) override {
    if (!now.LayerCall()) return;
    if (!closed_.empty()) Arm();
    const auto closed = closed_.find(now.event.session);
    if (closed != closed_.end()) {
      Violate({closed->second, now.index}, "no call on a closed session",
              fmt::format("{} on session {}", CallKindName(CallKind{now.event.call}), now.event.session));
    }
    if (now.LayerCall(CallKind::kClose)) closed_.emplace(now.event.session, now.index);
  }

 private:
  std::map<std::int64_t, std::size_t> closed_;
};

constexpr RuleInfo kGraphUnfinalized{
    .id = "close.graph_unfinalized",
    .sentence = "The first close makes the graph changeable again; nothing else does.",
    .documented = "",
    .observed =
        "lifecycle_two_hooks close_twice_monitored begin_raises_monitored report_other_then_raw_close_monitored",
};
class GraphUnfinalized : public Rule {
 public:
  GraphUnfinalized() : Rule(kGraphUnfinalized) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    if (now.Is(EventKind::kGraphUnfinalized) && (run.phase != Phase::kClose || run.closed)) {
      Violate({run.closed.at, now.index}, "the graph stays as it is", "it is made changeable");
    }
    if (!now.Is(EventKind::kCloseEnd) || run.closed) return;
    Arm();
    if (run.finalized)
      Violate({run.phase_start.at, now.index}, "a changeable graph after the close", "a finalized one");
  }
};

constexpr RuleInfo kIsFinal{
    .id = "close.is_final",
    .sentence =
        "After a close nothing is created, run or asked of a hook any more, except end of a scope that is left later.",
    .documented = "",
    .observed = "run_after_close_monitored run_after_close_singular close_inside_with_monitored",
    .stays =
        "A session that works on after its close must be created first, which recovery.only_on_aborted_or_unavailable "
        "finds. It says so of all that could work on.",
};
class IsFinal : public Rule {
 public:
  IsFinal() : Rule(kIsFinal) {}
  void OnEvent(const Moment& now) override {
    const Seen& closed = now.run.closed;
    if (!closed) return;
    if (now.Is(EventKind::kNote) || now.Is(EventKind::kCloseStart)) Arm();
    const bool works = now.Creation() || now.LayerCall() || now.Is(EventKind::kRecovery) ||
                       now.Is(EventKind::kInitFn) || now.Is(EventKind::kQueueRunners) ||
                       now.Is(EventKind::kGraphFinalized) ||
                       (now.Is(EventKind::kHookCall) && !now.HookCall(HookMethod::kEnd));
    if (works) Violate({closed.at, now.index}, "nothing after the close", "the session layer still works");
  }
};

constexpr RuleInfo kSecondIsAComplaint{
    .id = "close.a_second_one_is_a_complaint",
    .sentence =
        "Closing what is closed, also by leaving its scope, is a usage error, whatever the scope was left with.",
    .documented = "",
    .observed = "close_twice_monitored close_inside_with_monitored close_inside_with_singular",
};
class SecondIsAComplaint : public Rule {
 public:
  SecondIsAComplaint() : Rule(kSecondIsAComplaint) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    if (!now.Is(EventKind::kCloseEnd) || !run.closed) return;
    Arm();
    if (now.event.code != Code::kUsage) {
      Violate({run.closed.at, run.phase_start.at, now.index}, "USAGE", NameOf(now.event.code));
    }
  }
};

constexpr RuleInfo kShouldStopAfterwards{
    .id = "close.should_stop_is_true_afterwards",
    .sentence = "After a close should_stop says yes.",
    .documented = "",
    .observed = "run_after_close_monitored",
};
class ShouldStopAfterwards : public Rule {
 public:
  ShouldStopAfterwards() : Rule(kShouldStopAfterwards) {}
  void OnEvent(const Moment& now) override {
    const bool answers = now.Is(EventKind::kShouldStop) || now.Says(replays::Note::kShouldStop);
    if (!answers || !now.run.closed) return;
    Arm();
    if (!now.yes()) Violate({now.run.closed.at, now.index}, "yes", "no");
  }
};

}  // namespace

std::vector<RuleFactory> CloseRules() {
  return {NewRule<StopJoinClose>,       NewRule<ClosesTheSession>, NewRule<NoCallsOnAClosedSession>,
          NewRule<GraphUnfinalized>,    NewRule<IsFinal>,          NewRule<SecondIsAComplaint>,
          NewRule<ShouldStopAfterwards>};
}

}  // namespace vigil::properties
