// A worker waits for the model that its chief makes ready: in a monitored session as under a supervisor.
#include <fmt/format.h>

#include "vigil/properties/rules/rules.h"
#include "vigil/replays/stage/notes.h"

namespace vigil::properties {
namespace {

using replays::Note;

constexpr RuleInfo kNeverInitialises{
    .id = "worker.never_initialises",
    .sentence = "A worker neither restores nor initialises the model: its chief does.",
    .documented =
        "Supervisor, use for multiple replicas: the chief handles initialization, checkpoints and recovery, the others "
        "depend on it",
    .observed = "random_7_2_worker random_31_325_supervisor",
    .of = SpeaksOf::kBoth,
};
class NeverInitialises : public Rule {
 public:
  NeverInitialises() : Rule(kNeverInitialises) {}
  void OnEvent(const Moment& now) override {
    if (!now.run.facts().worker) return;
    if (now.Is(EventKind::kSessionCreated)) Arm();
    const bool fills =
        now.LayerCall(CallKind::kInit) || now.LayerCall(CallKind::kRestore) || now.Is(EventKind::kInitFn);
    if (fills) Violate({now.run.session_at, now.index}, "neither init nor restore", "one");
  }
};

constexpr RuleInfo kClosesUnready{
    .id = "worker.closes_what_is_not_ready",
    .sentence = "A worker that finds the model not ready closes that session before it sleeps or creates another one.",
    .documented =
        "Supervisor, use for multiple replicas: the other tasks wait for the model to have been initialized before a "
        "session is returned",
    .observed = "random_7_2_worker random_31_325_supervisor",
    .of = SpeaksOf::kBoth,
    .stays =
        "close.each_before_the_next_creation says the same of every session, by default only. It holds of supervisors "
        "and under TensorFlow's behaviour, too.",
};
class ClosesUnready : public Rule {
 public:
  ClosesUnready() : Rule(kClosesUnready) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    if (now.LayerCall(CallKind::kClose) && now.event.session == run.session) closed_ = true;
    if (now.Is(EventKind::kSleep) || now.Creation()) {
      if (run.facts().worker && run.not_ready) {
        Arm();
        if (!closed_) Violate({run.not_ready.at, now.index}, "the session is closed first", "it is open");
      }
    }
    if (now.Is(EventKind::kSessionCreated)) closed_ = false;
  }

 private:
  bool closed_ = false;  // the newest session
};

constexpr RuleInfo kSleepsBetween{
    .id = "worker.sleeps_between_two_looks",
    .sentence = "A worker that finds the model not ready sleeps before it looks again.",
    .documented = "Supervisor, recovery_wait_secs: a number of seconds between checks that the model is ready",
    .observed = "random_7_2_worker random_31_325_supervisor",
    .of = SpeaksOf::kBoth,
};
class SleepsBetween : public Rule {
 public:
  SleepsBetween() : Rule(kSleepsBetween) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    if (now.Is(EventKind::kSleep) || now.Is(EventKind::kRecovery)) slept_ = true;
    // The caller asks anew, after the last wait was given up or had come to an error.
    if (now.Says(Note::kPrepare) || (now.Is(EventKind::kRunEnd) && !now.ok())) slept_ = true;
    if (!now.Creation()) return;
    if (run.facts().worker && run.not_ready && !run.failure) {
      Arm();
      if (!slept_) Violate({run.not_ready.at, now.index}, "a sleep between two looks", "none");
    }
    slept_ = false;
  }

 private:
  bool slept_ = false;
};

constexpr RuleInfo kHandsOutReady{
    .id = "worker.waits_until_ready",
    .sentence = "A worker's session is used only after it has answered that the model is ready.",
    .documented =
        "Supervisor, use for multiple replicas: waits for the Model to have been initialized before returning a "
        "session",
    .observed = "random_7_2_worker",
    .stays = "init.ready_before_use says the same of every session. It is the document's sentence on workers.",
};
class HandsOutReady : public Rule {
 public:
  HandsOutReady() : Rule(kHandsOutReady) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    if (!run.facts().worker || !now.UsesSession()) return;
    Arm();
    if (!run.ready) Violate({run.session_at, now.index}, "a session that is ready", "it did not say so");
  }
};

}  // namespace

std::vector<RuleFactory> WorkerRules() {
  return {NewRule<NeverInitialises>, NewRule<ClosesUnready>, NewRule<SleepsBetween>, NewRule<HandsOutReady>};
}

}  // namespace vigil::properties
