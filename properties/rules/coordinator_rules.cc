// What becomes of errors and stop requests that a coordinator was told of, and what its queue runners do.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "vigil/core/base/time.h"
#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

constexpr RuleInfo kStoredWins{
    .id = "error.stored_preemption_wins",
    .sentence =
        "When a run fails, but not with a preemption, a preemption that the session's coordinator has kept before "
        "takes its place; nothing else that it keeps does.",
    .documented = "",
    .observed =
        "report_aborted_then_run_fails_monitored report_aborted_then_run_fails_singular "
        "report_other_then_run_fails_monitored report_unavailable_then_run_fails_singular",
};
class StoredWins : public Rule {
 public:
  StoredWins() : Rule(kStoredWins) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    const bool returns = now.Is(EventKind::kInnerRunEnd) || (now.Is(EventKind::kRunEnd) && run.phase == Phase::kRun);
    const bool recovers = now.Is(EventKind::kRecovery) && run.phase == Phase::kRun;
    if (!returns && !recovers) return;
    const Seen& failed = run.round.failed;
    if (run.round.over || !failed || IsPreemptionCode(failed.code)) return;
    const Seen stored = run.StoredBy(run.session);
    const bool wins = stored && IsPreemptionCode(stored.code);
    if (stored) Arm();
    // What was kept only after the failure may have been seen or not.
    const bool either = wins && stored.at > failed.at;
    const bool as_failed = !recovers && now.event.code == failed.code;
    const bool as_stored = wins && now.event.code == stored.code && recovers == (run.facts().recovers && !Inner(now));
    if (wins ? as_stored || (either && as_failed) : as_failed) return;
    Violate({failed.at, stored.at, now.index}, NameOf(wins ? stored.code : failed.code),
            fmt::format("{}{}", recovers ? "a recovery from " : "", NameOf(now.event.code)));
  }

 private:
  static bool Inner(const Moment& now) { return now.Is(EventKind::kInnerRunEnd); }
};

constexpr RuleInfo kStopRecovers{
    .id = "stop.stored_preemption_recovers",
    .sentence =
        "Where the coordinator of a monitored session keeps a preemption, should_stop gives that session up and "
        "creates another one before it answers, unless SIGTERM has come.",
    .documented = "MonitoredSession r1.4: recovers from AbortedError and UnavailableError",
    .observed = "should_stop_recovers report_aborted_monitored report_unavailable_monitored",
};
class StopRecovers : public Rule {
 public:
  StopRecovers() : Rule(kStopRecovers) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    if (!now.on_main) return;
    if (now.Is(EventKind::kShouldStop) && run.facts().recovers) {
      if (recovered_) Arm();
      const Seen stored = run.StoredBy(run.session);
      // What was kept since the last thing that the main task did may have come too late.
      const bool known = stored && IsPreemptionCode(stored.code) && stored.at < last_;
      if (known && run.live && !recovered_ && !run.told_to_end)
        Violate({stored.at, now.index}, "a recovery from " + NameOf(stored.code), "none");
    }
    const bool asks = run.phase == Phase::kBetween || (run.phase == Phase::kConstructing && run.constructed);
    if (now.Is(EventKind::kRecovery) && asks) recovered_ = true;
    if (now.Is(EventKind::kShouldStop) || now.Is(EventKind::kRunStart) || now.Is(EventKind::kCloseStart)) {
      recovered_ = false;
    }
    // Details are part of what they come with.
    if (!IsDetail(now.event.kind)) last_ = now.index;
  }

 private:
  bool recovered_ = false;  // in the should_stop in progress
  std::size_t last_ = 0;    // event of the main task
};

constexpr RuleInfo kConstructedInTheEnd{
    .id = "construct.never_fails_with_a_preemption",
    .sentence =
        "The construction of a monitored session never fails with ABORTED or UNAVAILABLE, unless a begin did: it "
        "creates the session anew.",
    .documented = "MonitoredSession r1.4: recovers from AbortedError and UnavailableError",
    .observed = "create_aborted_monitored init_unavailable_monitored after_create_aborted_monitored",
};
class ConstructedInTheEnd : public Rule {
 public:
  ConstructedInTheEnd() : Rule(kConstructedInTheEnd) {}
  void OnEvent(const Moment& now) override {
    if (!now.run.facts().recovers) return;
    if (now.HookReturn(HookMethod::kBegin) && !now.ok()) begin_failed_ = true;
    if (now.Is(EventKind::kRecovery) && now.run.phase == Phase::kConstructing) Arm();
    if (!now.Is(EventKind::kConstructed) || begin_failed_ || !IsPreemptionCode(now.event.code)) return;
    Violate({now.run.failure.at, now.index}, "a session, after further attempts", NameOf(now.event.code));
  }

 private:
  bool begin_failed_ = false;
};

constexpr RuleInfo kFirstErrorStays{
    .id = "coordinator.keeps_the_first_error",
    .sentence =
        "A coordinator keeps the error that it is told of first, and none after a stop without an error or after a "
        "join, "
        "until it forgets everything.",
    .documented = "Coordinator.request_stop: the first exception is kept and raised by join",
    .observed = "first_report_wins report_other_monitored supervisor_thread_reports_other",
    .of = SpeaksOf::kBoth,
    .details = kCoordinatorDetails,
};
class FirstErrorStays : public Rule {
 public:
  FirstErrorStays() : Rule(kFirstErrorStays) {}
  void OnEvent(const Moment& now) override {
    // A request counts once its task goes on: until then another one may be ahead.
    if (const auto stop = stops_.find(now.task); stop != stops_.end()) {
      stopped_.insert(stop->second);
      stops_.erase(stop);
    }
    if (now.Coordinates(CoordinatorDetail::kCleared)) {
      kept_.erase(now.event.session);
      joined_.erase(now.event.session);
      stopped_.erase(now.event.session);
      std::erase_if(stops_, [&now](const auto& stop) { return stop.second.first == now.event.session; });
    }
    if (now.event.kind == EventKind::kCoordinatorRequestStop && now.ok())
      stops_[now.task] = {now.event.session, now.index};
    if (now.Coordinates(CoordinatorDetail::kJoined)) joined_.emplace(now.event.session, now.index);
    if (!now.Coordinates(CoordinatorDetail::kStored)) return;
    Arm();
    const auto [kept, is_new] = kept_.emplace(now.event.session, now.index);
    if (!is_new) Violate({kept->second, now.index}, "the first error stays", "another one is kept");
    const auto joined = joined_.find(now.event.session);
    if (joined != joined_.end()) Violate({joined->second, now.index}, "no error is kept after the join", "one is");
    const auto stopped = stopped_.find(now.event.session);
    if (stopped != stopped_.end()) Violate({stopped->second, now.index}, "no error is kept after a stop", "one is");
  }

 private:
  std::map<std::int64_t, std::size_t> kept_, joined_, stopped_;          // by session
  std::map<std::uint32_t, std::pair<std::int64_t, std::size_t>> stops_;  // by task: a request in progress, and whose
};

constexpr RuleInfo kJoinGives{
    .id = "coordinator.join_gives_what_is_kept",
    .sentence = "A join of a coordinator ends with the error that it keeps, and with none if it keeps none.",
    .documented = "Coordinator.join: re-raises the exception that was passed to request_stop",
    .observed = "report_other_monitored lifecycle_two_hooks supervisor_thread_reports_other",
    .of = SpeaksOf::kBoth,
    .details = kCoordinatorDetails,
};
class JoinGives : public Rule {
 public:
  JoinGives() : Rule(kJoinGives) {}
  void OnEvent(const Moment& now) override {
    if (!now.Coordinates(CoordinatorDetail::kJoined)) return;
    Arm();
    const Seen stored = now.run.StoredBy(now.event.session);
    const Code expected = stored ? stored.code : Code::kOk;
    if (now.event.code != expected) Violate({stored.at, now.index}, NameOf(expected), NameOf(now.event.code));
  }
};

constexpr RuleInfo kJoinWaits{
    .id = "coordinator.join_waits",
    .sentence =
        "A join leaves no task behind before a stop was requested and the grace period has passed since, or since the "
        "join began.",
    .documented = "Coordinator.join: waits for the threads to terminate, for stop_grace_period_secs after a stop",
    .observed = "lifecycle_two_hooks supervisor_managed",
    .of = SpeaksOf::kBoth,
    .details = kCoordinatorDetails,
};
class JoinWaits : public Rule {
 public:
  JoinWaits() : Rule(kJoinWaits) {}
  void OnEvent(const Moment& now) override {
    const std::int64_t session = now.event.session;
    if (now.event.kind == EventKind::kCoordinatorRequestStop) asked_.emplace(session, At{now.index, now.time});
    if (now.Coordinates(CoordinatorDetail::kCleared)) asked_.erase(session);
    if (now.Coordinates(CoordinatorDetail::kJoins)) {
      grace_ = now.event.value;
      begun_ = {now.index, now.time};
    }
    if (!now.Coordinates(CoordinatorDetail::kJoined)) return;
    Arm();
    if (now.event.index == 0) return;
    const auto asked = asked_.find(session);
    if (asked == asked_.end()) {
      Violate({begun_.index, now.index}, "nobody is left behind before a stop was requested",
              fmt::format("{} tasks are", now.event.index));
      return;
    }
    const Time since = std::max(asked->second.time, begun_.time);
    const double waited = ToSeconds(now.time - since);
    if (waited + 1e-6 < grace_)
      Violate({asked->second.index, begun_.index, now.index}, fmt::format("a wait of {} s", grace_),
              fmt::format("{} s", waited));
  }

 private:
  struct At {
    std::size_t index = kNever;
    Time time;
  };
  std::map<std::int64_t, At> asked_;  // for the first time
  double grace_ = 0;
  At begun_;
};

constexpr RuleInfo kCleanForSupervisors{
    .id = "supervisor.end_of_input_is_no_error",
    .sentence =
        "To the coordinator of a supervisor OUT_OF_RANGE is the end of the input, not an error: it keeps none, and a "
        "scope does not end with it (but with that of the last save that SIGTERM asks for).",
    .documented = "Supervisor, use for a single program: OutOfRangeError ends the training as request_stop does",
    .observed = "supervisor_thread_reports_out_of_range supervisor_body_raises_out_of_range supervisor_end_of_input",
    .of = SpeaksOf::kSupervisor,
    .details = kCoordinatorDetails,
};
class CleanForSupervisors : public Rule {
 public:
  CleanForSupervisors() : Rule(kCleanForSupervisors) {}
  void OnEvent(const Moment& now) override {
    // A prepare that fails comes out of its scope, whatever it fails with.
    if (now.Says(replays::Note::kSession)) handed_out_ = true;
    if (now.event.kind == EventKind::kCoordinatorRequestStop && now.event.code == Code::kOutOfRange) {
      Arm();
      told_ = now.index;
    }
    if (now.Coordinates(CoordinatorDetail::kStored) && now.event.code == Code::kOutOfRange)
      Violate({told_, now.index}, "no error is kept", "OUT_OF_RANGE");
    if (now.Says(replays::Note::kExitFailed) && now.event.code == Code::kOutOfRange && told_ != kNever && handed_out_ &&
        !now.run.facts().by_hand && now.run.last_save.code != Code::kOutOfRange)
      Violate({told_, now.index}, "a clean end", "OUT_OF_RANGE");
  }

 private:
  std::size_t told_ = kNever;
  bool handed_out_ = false;  // a session
};

// By session and queue: how its tasks were started.
class QueueRule : public Rule {
 public:
  using Rule::Rule;

 protected:
  struct Runner {
    std::size_t at = kNever;
    bool cancels = false;  // one of its tasks cancels what waits once there is a stop, and there is a coordinator
    bool closes = false;
    bool cancelled = false;
    int tasks = 0;  // that enqueue and have not ended
  };
  using Key = std::pair<std::int64_t, std::string>;
  static Key KeyOf(const Moment& now) { return {now.event.session, std::string(now.event.subject)}; }
  void Note(const Moment& now) {
    if (now.Queues(QueueDetail::kStarted)) {
      runners_[KeyOf(now)] = {
          .at = now.index, .cancels = now.event.closed, .closes = now.event.value != 0, .tasks = now.event.index};
    }
  }
  std::map<Key, Runner> runners_;
};

constexpr RuleInfo kLastCloses{
    .id = "queue_runner.the_last_task_closes",
    .sentence =
        "The task of a queue runner that is the last to meet the end of the input closes the queue; no other one does. "
        "There is one for each of its enqueue ops.",
    .documented = "QueueRunner: when the last enqueue thread ends at OutOfRangeError the queue is closed",
    .observed = "supervisor_end_of_input_queue",
    .of = SpeaksOf::kBoth,
    .details = kQueueDetails,
};
class LastCloses : public QueueRule {
 public:
  LastCloses() : QueueRule(kLastCloses) {}
  void OnEvent(const Moment& now) override {
    Note(now);
    const auto due = due_.find(now.task);
    const bool is_due = due != due_.end();
    const std::size_t ended = is_due ? due->second : kNever;
    if (now.Queues(QueueDetail::kCloses)) {
      if (!is_due) Violate({now.index}, "the queue is closed by the last task, at the end of the input", "now");
      due_.erase(now.task);
    } else if (is_due) {
      Violate({ended, now.index}, "the queue is closed", "it is not");
    }
    if (!now.Queues(QueueDetail::kEnqueueEnded)) return;
    Runner& runner = runners_[KeyOf(now)];
    if (--runner.tasks < 0 && runner.at != kNever)
      Violate({runner.at, now.index}, "no more tasks end than were started", "one more");
    // It may know of tasks that could not be started.
    const bool last = now.event.index == 0 || runner.tasks == 0;
    if (!now.event.closed || !last || !runner.closes) return;
    Arm();
    due_[now.task] = now.index;
  }
  void Finish(const Watch&) override {
    for (const auto& [task, ended] : due_) Violate({ended}, "the queue is closed", "it is not");
  }

 private:
  std::map<std::uint32_t, std::size_t> due_;  // by task
};

constexpr RuleInfo kErrorsStop{
    .id = "queue_runner.only_errors_are_reported",
    .sentence =
        "A task of a queue runner reports to the coordinator what it failed with, unless that means the end of the "
        "input: this it never reports. It goes on until then, or until a stop was requested.",
    .documented = "QueueRunner: exceptions other than OutOfRangeError are reported to the coordinator",
    .observed = "supervisor_end_of_input_queue random_31_16_supervisor",
    .of = SpeaksOf::kBoth,
    .details = kQueueDetails,
};
class ErrorsStop : public QueueRule {
 public:
  ErrorsStop() : QueueRule(kErrorsStop) {}
  void OnEvent(const Moment& now) override {
    Note(now);
    // The tasks of a further session have the names of those before.
    if (now.Queues(QueueDetail::kStarted)) ended_.clear();
    if (now.event.kind == EventKind::kCoordinatorRequestStop) {
      asked_.insert(now.event.session);
      told_[now.task] = {now.index, now.event.code};
      const auto ended = ended_.find(now.task);
      if (!now.on_main && ended != ended_.end())
        Violate({ended->second, now.index}, "nothing is reported at the end of the input", NameOf(now.event.code));
    }
    if (!now.Queues(QueueDetail::kEnqueueEnded)) return;
    Arm();
    const Seen told = std::exchange(told_[now.task], Seen{});
    if (now.event.closed || now.event.code == Code::kOk) {
      if (told && !now.on_main) Violate({told.at, now.index}, "nothing is reported", NameOf(told.code));
      const bool asked = asked_.contains(now.event.session) || asked_.contains(0) || now.run.facts().supervisor;
      if (now.ok() && !asked) Violate({now.index}, "it goes on until its input ends or a stop is requested", "it ends");
      ended_[now.task] = now.index;
    } else if (runners_[KeyOf(now)].cancels && told.code != now.event.code) {
      Violate({told.at, now.index}, "a report of " + NameOf(now.event.code), told ? NameOf(told.code) : "none");
    }
  }

 private:
  std::set<std::int64_t> asked_;                // to stop: coordinators, by session
  std::map<std::uint32_t, Seen> told_;          // by task
  std::map<std::uint32_t, std::size_t> ended_;  // by task: well
};

constexpr RuleInfo kCancelled{
    .id = "queue_runner.waiting_tasks_are_cancelled",
    .sentence =
        "When a join has left nobody behind, every queue runner of that session has cancelled what waited for its "
        "queue, and none does so before a stop was requested.",
    .documented = "QueueRunner: a thread waits for the coordinator's stop and cancels the pending enqueue operations",
    .observed = "queue_runners_before_after_create supervisor_end_of_input_queue",
    .of = SpeaksOf::kBoth,
    .details = kCoordinatorDetails | kQueueDetails,
};
class Cancelled : public QueueRule {
 public:
  Cancelled() : QueueRule(kCancelled) {}
  void OnEvent(const Moment& now) override {
    Note(now);
    if (now.event.kind == EventKind::kCoordinatorRequestStop) asked_.insert(now.event.session);
    if (now.Coordinates(CoordinatorDetail::kCleared)) asked_.erase(now.event.session);
    if (now.Queues(QueueDetail::kCancels)) {
      runners_[KeyOf(now)].cancelled = true;
      // A supervisor's coordinator is nobody's: it may have been told to stop, and have forgotten it, meanwhile.
      if (now.run.facts().supervisor) return;
      if (!asked_.contains(now.event.session) && !asked_.contains(0))
        Violate({now.index}, "a stop request first", "none");
    }
    if (!now.Coordinates(CoordinatorDetail::kJoined) || now.event.index != 0) return;
    for (auto& [key, runner] : runners_) {
      const bool of_it = now.event.session == 0 || key.first == now.event.session;
      if (!of_it || !runner.cancels || runner.at == kNever) continue;
      Arm();
      if (!runner.cancelled) Violate({runner.at, now.index}, "what waits is cancelled before", "it is not");
    }
  }

 private:
  std::set<std::int64_t> asked_;  // to stop: coordinators, by session
};

}  // namespace

std::vector<RuleFactory> CoordinatorRules() {
  return {NewRule<StoredWins>, NewRule<StopRecovers>, NewRule<ConstructedInTheEnd>, NewRule<FirstErrorStays>,
          NewRule<JoinGives>,  NewRule<JoinWaits>,    NewRule<CleanForSupervisors>, NewRule<LastCloses>,
          NewRule<ErrorsStop>, NewRule<Cancelled>};
}

}  // namespace vigil::properties
