// What surrounds the creation of a session: its number, its queue runners, after_create_session.
#include <fmt/format.h>

#include <set>

#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

constexpr RuleInfo kNumbers{
    .id = "session.numbers_increase",
    .sentence = "Each session that is created is a new one: their numbers are 1, 2, 3 and so on.",
    .documented = "",
    .observed = "two_recoveries_in_one_call",
};
class Numbers : public Rule {
 public:
  Numbers() : Rule(kNumbers) {}
  void OnEvent(const Moment& now) override {
    if (!now.Is(EventKind::kSessionCreated)) return;
    Arm();
    if (now.event.session != now.run.session + 1) {
      Violate({now.run.session_at, now.index}, fmt::format("session {}", now.run.session + 1),
              fmt::format("session {}", now.event.session));
    }
  }
};

constexpr RuleInfo kQueueRunnersFirst{
    .id = "queue_runners.before_after_create_session",
    .sentence =
        "If the graph has queue runners, they are started for each session before after_create_session of any hook; "
        "if it has none, nothing is started.",
    .documented = "MonitoredSession r1.4, Initialization, items 6 and 7",
    .observed = "queue_runners_before_after_create queue_runners_unavailable_monitored",
};
class QueueRunnersFirst : public Rule {
 public:
  QueueRunnersFirst() : Rule(kQueueRunnersFirst) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kSessionCreated)) {
      started_ = false;
      used_ = kNever;
    }
    if (now.Is(EventKind::kQueueRunners)) {
      started_ = now.ok();
      if (!now.run.facts().queue) Violate({now.index}, "no queue runners to start", "a start");
      if (used_ != kNever) Violate({used_, now.index}, "queue runners before hooks see the session", "after");
    }
    if (!now.UsesSession() || used_ != kNever || !now.run.facts().queue) return;
    Arm();
    used_ = now.index;
    if (!started_) Violate({now.run.session_at, now.index}, "queue runners that run", "they do not");
  }

 private:
  bool started_ = false;
  std::size_t used_ = kNever;
};

constexpr RuleInfo kCreationForEveryHook{
    .id = "after_create_session.for_every_hook_on_each_session",
    .sentence =
        "Before a session is run for the first time, after_create_session was called on it once for every hook, and "
        "no hook failed.",
    .documented = "SessionRunHook.after_create_session: called when a new session was created, also by a recovery",
    .observed = "lifecycle_two_hooks run_aborted_monitored after_create_unavailable_monitored",
    .stays =
        "A hook that is told of a session twice, or not at all, is seen by others where it fails by then, or where "
        "nobody has seen the session that comes out of a construction; this rule says it of every session.",
};
class CreationForEveryHook : public Rule {
 public:
  CreationForEveryHook() : Rule(kCreationForEveryHook) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kSessionCreated)) {
      called_.clear();
      ran_ = false;
    }
    const Watch& run = now.run;
    if (now.HookCall(HookMethod::kAfterCreateSession)) {
      if (!called_.insert(now.event.index).second) Violate({run.session_at, now.index}, "once for each hook", "again");
      if (now.event.session != run.session || now.event.closed) {
        Violate({run.session_at, now.index}, fmt::format("the new session {}", run.session),
                fmt::format("session {}{}", now.event.session, now.event.closed ? ", closed" : ""));
      }
    }
    const bool runs = now.HookCall(HookMethod::kBeforeRun) || now.LayerCall(CallKind::kRun);
    if (!runs || ran_ || run.hooks() == 0) return;
    ran_ = true;
    Arm();
    if (run.after_created != run.hooks()) {
      Violate({run.session_at, now.index},
              fmt::format("after_create_session of {} hooks before the first run", run.hooks()),
              fmt::format("{} returned OK", run.after_created));
    }
  }

 private:
  std::set<std::int32_t> called_;
  bool ran_ = false;
};

}  // namespace

std::vector<RuleFactory> CreationRules() {
  return {NewRule<Numbers>, NewRule<QueueRunnersFirst>, NewRule<CreationForEveryHook>};
}

}  // namespace vigil::properties
