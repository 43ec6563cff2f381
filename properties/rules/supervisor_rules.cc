// What a supervisor promises: sessions that are ready, services that stop before the session is closed, errors that
// come out.
#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

#include "vigil/core/summary/summary_writer.h"
#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

using replays::Note;

bool LogsStatus(const Moment& now, SessionLogStatus status) {
  return now.event.kind == EventKind::kWriterCall &&
         now.event.call == static_cast<std::uint8_t>(WriterCall::kSessionLog) &&
         now.event.index == static_cast<std::int32_t>(status);
}

constexpr RuleInfo kHandedOut{
    .id = "supervisor.session_is_ready",
    .sentence =
        "A supervisor hands a session out only once the graph is finalized and the session has answered that the model "
        "is ready.",
    .documented =
        "Supervisor, use for a single program: within the block all variables have been initialized; "
        "prepare_or_wait_for_session: makes sure the model is ready",
    .observed = "random_31_3_supervisor random_31_325_supervisor",
    .of = SpeaksOf::kSupervisor,
    .excuses = "a supervisor that was given no op that says so",
    .why = "nobody can be asked",
};
class HandedOut : public Rule {
 public:
  HandedOut() : Rule(kHandedOut) {}
  void OnEvent(const Moment& now) override {
    if (!now.Says(Note::kSession)) return;
    Arm();
    const Watch& run = now.run;
    if (!run.finalized) Violate({now.index}, "a finalized graph", "it is not finalized");
    if (now.event.session != run.session || (run.facts().asks_ready && !run.ready))
      Violate({run.session_at, now.index}, "a session that is ready", "it did not say so");
  }
};

constexpr RuleInfo kRestoredOrInitialised{
    .id = "supervisor.restored_or_initialised",
    .sentence =
        "The session of a chief's supervisor was restored from the latest checkpoint, or else initialised, never both.",
    .documented =
        "Supervisor.managed_session: a session restored from the latest checkpoint or initialized from scratch if no "
        "checkpoint exists",
    .observed = "random_31_3_supervisor random_31_164_supervisor",
    .of = SpeaksOf::kSupervisor,
    .excuses = "workers, models of which checkpoints hold nothing, and chiefs that were given nothing to initialise",
    .why = "a chief makes the model ready; restoring nothing is silent; an op or a function of its own does the rest",
};
class RestoredOrInitialised : public Rule {
 public:
  RestoredOrInitialised() : Rule(kRestoredOrInitialised) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kSessionCreated)) restored_ = initialised_ = kNever;
    if (now.LayerCall(CallKind::kRestore) && now.ok()) restored_ = now.index;
    if (now.LayerCall(CallKind::kInit) || now.Is(EventKind::kInitFn)) initialised_ = now.index;
    if (!now.Says(Note::kSession) || now.run.facts().worker) return;
    Arm();
    const bool silently = now.run.facts().may_restore && !now.run.facts().saves_something;
    if (restored_ != kNever && initialised_ != kNever)
      Violate({restored_, initialised_, now.index}, "one of restore and init", "both");
    if (restored_ == kNever && initialised_ == kNever && !silently && now.run.facts().initialises)
      Violate({now.run.session_at, now.index}, "restored or initialised", "neither");
  }

 private:
  std::size_t restored_ = kNever;
  std::size_t initialised_ = kNever;
};

constexpr RuleInfo kStartOfReady{
    .id = "supervisor.start_is_logged_of_a_ready_session",
    .sentence =
        "Before the services run, START is logged: after the session has become ready, before it is handed out.",
    .documented = "Supervisor.prepare_or_wait_for_session: starts the standard services of a session that is ready",
    .observed = "random_31_3_supervisor random_31_164_supervisor",
    .of = SpeaksOf::kSupervisor,
    .excuses = "a supervisor that was given no op that says so",
    .why = "nobody can be asked",
};
class StartOfReady : public Rule {
 public:
  StartOfReady() : Rule(kStartOfReady) {}
  void OnEvent(const Moment& now) override {
    if (now.LayerCall(CallKind::kReady) && now.yes()) ready_.insert(now.event.session);
    const bool reads =
        now.Is(EventKind::kSessionCall) && now.event.call == static_cast<std::uint8_t>(CallKind::kReadStep);
    if (reads) {
      read_ = now.index;
      session_ = now.event.session;
    }
    if (!LogsStatus(now, SessionLogStatus::kStart)) return;
    Arm();
    if (now.run.facts().asks_ready && !ready_.contains(session_))
      Violate({read_, now.index}, "a session that is ready", "it did not say so");
    if (now.run.facts().worker) Violate({now.index}, "no START of a worker", "one");
  }

 private:
  std::set<std::int64_t> ready_;
  std::size_t read_ = kNever;  // the step that is logged
  std::int64_t session_ = 0;
};

constexpr RuleInfo kStopLogged{
    .id = "supervisor.stop_is_logged_after_the_join",
    .sentence =
        "When a supervisor stops, it asks its coordinator to stop, joins it, logs STOP, and closes the writer: in this "
        "order.",
    .documented =
        "Supervisor.stop: stops the services and the coordinator; managed_session: the summary writer is closed when "
        "the session is",
    .observed = "random_31_3_supervisor random_31_164_supervisor",
    .of = SpeaksOf::kSupervisor,
};
class StopLogged : public Rule {
 public:
  StopLogged() : Rule(kStopLogged) {}
  void OnEvent(const Moment& now) override {
    if (now.Says(Note::kPrepare)) requested_ = kNever;
    if (now.event.kind == EventKind::kCoordinatorRequestStop) requested_ = now.index;
    if (now.Is(EventKind::kCoordinatorJoin)) {
      Arm();
      joined_ = now.index;
      if (requested_ == kNever) Violate({now.index}, "a stop request before the join", "none");
    }
    if (LogsStatus(now, SessionLogStatus::kStop)) {
      if (joined_ == kNever) Violate({now.index}, "STOP after the join", "before it");
      logged_ = now.index;
    }
    if (now.event.kind != EventKind::kWriterCall) return;
    const auto call = static_cast<WriterCall>(now.event.call);
    if (call == WriterCall::kClose && logged_ == kNever && joined_ != kNever)
      Violate({joined_, now.index}, "STOP before the writer is closed", "none");
    if (call == WriterCall::kClose || call == WriterCall::kReopen) joined_ = logged_ = kNever;
  }

 private:
  std::size_t requested_ = kNever;  // since the last prepare
  std::size_t joined_ = kNever;
  std::size_t logged_ = kNever;
};

constexpr RuleInfo kShouldStopAfterReport{
    .id = "supervisor.should_stop_after_a_report",
    .sentence =
        "Once the coordinator was asked to stop, with an error, with OUT_OF_RANGE or without, should_stop says yes "
        "until "
        "another session is prepared.",
    .documented =
        "Supervisor, use for a single program: after an exception of a service should_stop() returns True; OutOfRange "
        "does so too",
    .observed = "random_31_486_supervisor random_31_3_supervisor",
    .of = SpeaksOf::kSupervisor,
};
class ShouldStopAfterReport : public Rule {
 public:
  ShouldStopAfterReport() : Rule(kShouldStopAfterReport) {}
  void OnEvent(const Moment& now) override {
    if (now.event.kind == EventKind::kCoordinatorRequestStop && asked_ == kNever) asked_ = now.index;
    const bool anew = now.Says(Note::kPrepare) || now.Creation();
    if (anew) asked_ = kNever;
    if (!now.Says(Note::kShouldStop)) return;
    if (asked_ == kNever) return;
    Arm();
    if (!now.yes()) Violate({asked_, now.index}, "yes", "no");
  }

 private:
  std::size_t asked_ = kNever;
};

constexpr RuleInfo kNeverRecovers{
    .id = "supervisor.never_recovers",
    .sentence =
        "A supervisor recovers nothing by itself: a session that it has handed out is followed by another one only "
        "when "
        "one is prepared.",
    .documented =
        "Supervisor.managed_session: an AbortedError is raised again when the block exits; who wants to retry, loops",
    .observed = "random_31_3_supervisor random_31_486_supervisor",
    .of = SpeaksOf::kSupervisor,
    .stays =
        "A supervisor that ran its block again would end well after an error was reported, which "
        "supervisor.reported_error_comes_out forbids. It says what a supervisor is not.",
};
class NeverRecovers : public Rule {
 public:
  NeverRecovers() : Rule(kNeverRecovers) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kRecovery)) Violate({now.index}, "no recovery", "one");
    if (now.Says(Note::kPrepare)) handed_out_ = kNever;
    if (now.Says(Note::kSession)) {
      Arm();
      handed_out_ = now.index;
    }
    if (now.Creation() && handed_out_ != kNever) Violate({handed_out_, now.index}, "no further creation", "one");
  }

 private:
  std::size_t handed_out_ = kNever;
};

constexpr RuleInfo kReportComesOut{
    .id = "supervisor.reported_error_comes_out",
    .sentence =
        "A scope whose coordinator was first asked to stop with an error other than OUT_OF_RANGE does not end well.",
    .documented =
        "Supervisor.managed_session: an exception of the block or of a service thread is raised again when the block "
        "exits; OutOfRangeError is not",
    .observed = "random_31_486_supervisor",
    .of = SpeaksOf::kSupervisor,
    .excuses = "OUT_OF_RANGE, and supervisors without a scope",
    .why = "the end of the input is a clean end; without a scope there is nothing to come out of",
};
class ReportComesOut : public Rule {
 public:
  ReportComesOut() : Rule(kReportComesOut) {}
  void OnEvent(const Moment& now) override {
    if (now.run.facts().by_hand) return;  // no scope to come out of
    if (now.event.kind == EventKind::kCoordinatorRequestStop && !first_) first_ = {now.index, now.event.code};
    if (now.Says(Note::kPrepare)) first_ = {};
    const bool ends = now.Says(Note::kExitClean) || now.Says(Note::kExitFailed);
    if (!ends || !first_ || first_.code == Code::kOk || first_.code == Code::kOutOfRange) return;
    Arm();
    if (now.Says(Note::kExitClean)) {
      Violate({first_.at, now.index}, NameOf(first_.code), "a clean end");
    }
  }

 private:
  Seen first_;  // request to the coordinator since the last prepare
};

constexpr RuleInfo kClosedAfterJoin{
    .id = "supervisor.session_is_closed_after_the_join",
    .sentence = "A managed session is closed when its scope is left, after the coordinator was joined.",
    .documented = "Supervisor.managed_session: errors are raised after stopping all threads and closing the session",
    .observed = "random_31_3_supervisor random_31_164_supervisor",
    .of = SpeaksOf::kSupervisor,
    .excuses = "a session that its caller closes",
    .why = "it need not wait",
};
class ClosedAfterJoin : public Rule {
 public:
  ClosedAfterJoin() : Rule(kClosedAfterJoin) {}
  void OnEvent(const Moment& now) override {
    if (now.Says(Note::kSession)) {
      session_ = now.event.session;
      joined_ = kNever;
      by_caller_ = false;
    }
    if (now.Is(EventKind::kCoordinatorJoin)) joined_ = now.index;
    if (now.Says(Note::kClose)) by_caller_ = true;
    if (!now.LayerCall(CallKind::kClose) || now.event.session != session_ || by_caller_) return;
    Arm();
    if (joined_ == kNever) Violate({now.run.session_at, now.index}, "a join before the session is closed", "none");
  }

 private:
  std::int64_t session_ = 0;  // that was handed out last
  std::size_t joined_ = kNever;
  bool by_caller_ = false;
};

}  // namespace

std::vector<RuleFactory> SupervisorRules() {
  return {NewRule<HandedOut>,      NewRule<RestoredOrInitialised>, NewRule<StartOfReady>,
          NewRule<StopLogged>,     NewRule<ShouldStopAfterReport>, NewRule<NeverRecovers>,
          NewRule<ReportComesOut>, NewRule<ClosedAfterJoin>};
}

}  // namespace vigil::properties
