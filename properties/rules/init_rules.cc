// How a created session is made usable: restored or initialised, until it is ready.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <set>

#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

// The steps in which a created session is made usable, in their order.
enum class InitStep { kRestore, kInit, kInitFn, kReadyForLocalInit, kLocalInit, kReady, kQueueRunners };
constexpr std::array<std::string_view, 7> kStepNames = {"restore",    "init",  "init_fn",      "ready_for_local_init",
                                                        "local_init", "ready", "queue_runners"};
std::string_view NameOfStep(InitStep step) { return kStepNames[static_cast<std::size_t>(step)]; }

std::optional<InitStep> StepOf(const Moment& now) {
  if (now.Is(EventKind::kInitFn)) return InitStep::kInitFn;
  if (now.Is(EventKind::kQueueRunners)) return InitStep::kQueueRunners;
  if (!now.LayerCall()) return std::nullopt;
  switch (static_cast<CallKind>(now.event.call)) {
    case CallKind::kRestore:
      return InitStep::kRestore;
    case CallKind::kInit:
      return InitStep::kInit;
    case CallKind::kReadyForLocalInit:
      return InitStep::kReadyForLocalInit;
    case CallKind::kLocalInit:
      return InitStep::kLocalInit;
    case CallKind::kReady:
      return InitStep::kReady;
    default:
      return std::nullopt;
  }
}

constexpr RuleInfo kOrder{
    .id = "init.order",
    .sentence =
        "A created session is restored or initialised (init_op, then init_fn), then asked whether it is ready for "
        "local init, then locally initialised, then asked whether it is ready, then its queue runners are "
        "started; each at most once, before any hook sees it.",
    .documented = "MonitoredSession r1.4, Initialization, items 3 to 7",
    .observed = "lifecycle_two_hooks init_fn_runs_after_init_op restore_skips_init queue_runners_before_after_create",
    .conflict =
        "the document lists initialisation before restoring; recorded is restoring first, and then no initialisation",
    .excuses = "by default a further restore after one that failed; a second look at a model that others fill",
    .why = "a restore falls back to an older checkpoint; a chief may join a model that lives on servers",
};
class Order : public Rule {
 public:
  Order() : Rule(kOrder) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kSessionCreated)) {
      last_.reset();
      filled_ = false;
      used_ = kNever;
    }
    if (now.UsesSession() && used_ == kNever) used_ = now.index;
    const std::optional<InitStep> step = StepOf(now);
    if (!step.has_value()) return;
    Arm();
    if (now.event.session != now.run.session) {
      Violate({now.run.session_at, now.index},
              fmt::format("{} on the newest session, {}", NameOfStep(*step), now.run.session),
              fmt::format("on session {}", now.event.session));
    }
    if (used_ != kNever)
      Violate({used_, now.index}, fmt::format("{} before hooks see the session", NameOfStep(*step)), "after");
    // First it looked whether the model lives on the servers.
    const bool fills = *step == InitStep::kRestore || *step == InitStep::kInit;
    if (fills && now.run.facts().may_join && !filled_) last_.reset();
    filled_ = filled_ || fills;
    // By ours a damaged checkpoint gives way to the one before it.
    const bool falls_back = *step == InitStep::kRestore && last_ == InitStep::kRestore && !now.run.facts().tensorflow;
    const bool asks_again = step == InitStep::kReadyForLocalInit && last_ == step && now.run.facts().may_join;
    if (last_.has_value() && *last_ >= *step && !falls_back && !asks_again) {
      Violate({last_at_, now.index}, fmt::format("{} before {}", NameOfStep(*step), NameOfStep(*last_)),
              "the other way round");
    }
    last_ = step;
    last_at_ = now.index;
  }

 private:
  std::optional<InitStep> last_;
  bool filled_ = false;  // restored or initialised
  std::size_t last_at_ = kNever;
  std::size_t used_ = kNever;
};

constexpr RuleInfo kReadyBeforeUse{
    .id = "init.ready_before_use",
    .sentence =
        "A session is used only after it was restored or initialised (by init_op, and by init_fn if there is one; a "
        "worker's by its chief), was locally initialised and answered that it is ready.",
    .documented =
        "MonitoredSession r1.4, Initialization, items 4 and 5; Supervisor, \"Within the with block all variables "
        "have been initialized\"",
    .observed = "lifecycle_two_hooks init_fn_runs_after_init_op restore_skips_init",
    .stays =
        "worker.waits_until_ready says the same of workers alone; where a worker is the first to show a bug, both find "
        "it.",
};
class ReadyBeforeUse : public Rule {
 public:
  ReadyBeforeUse() : Rule(kReadyBeforeUse) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kSessionCreated)) {
      done_.clear();
      used_ = false;
    }
    const std::optional<InitStep> step = StepOf(now);
    if (step.has_value()) {
      const bool asks = *step == InitStep::kReady || *step == InitStep::kReadyForLocalInit;
      if (asks ? now.yes() : now.ok()) done_.insert(*step);
    }
    if ((!now.UsesSession() && step != InitStep::kQueueRunners) || used_) return;
    used_ = true;
    Arm();
    const RunFacts& facts = now.run.facts();
    const bool silently = facts.may_restore && !facts.saves_something;
    // A model that somebody else has made ready need not be restored.
    const bool made = facts.worker || facts.may_join;
    const bool restored = done_.contains(InitStep::kRestore) || silently || made;
    Require(restored || done_.contains(InitStep::kInit), now, "restored or initialised");
    Require(restored || done_.contains(InitStep::kInitFn) || !facts.init_fn, now, "initialised by init_fn");
    Require(done_.contains(InitStep::kReadyForLocalInit), now, "ready for local init");
    Require(done_.contains(InitStep::kLocalInit), now, "locally initialised");
    Require(done_.contains(InitStep::kReady), now, "ready");
  }

 private:
  void Require(bool holds, const Moment& now, std::string_view what) {
    if (!holds)
      Violate({now.run.session_at, now.index}, fmt::format("a session that was {} before it is used", what),
              "it was not");
  }
  std::set<InitStep> done_;
  bool used_ = false;
};

constexpr RuleInfo kEndsAtAFailure{
    .id = "init.ends_at_a_failure",
    .sentence =
        "When one step of making a session usable fails, no further step is made on that session, and no hook sees "
        "it.",
    .documented = "",
    .observed = "init_aborted_monitored ready_invalid_argument_singular queue_runners_unavailable_singular",
    .stays =
        "A further step may fail itself: then construct.gives_a_usable_session_or_the_error or "
        "error.run_passes_on_what_failed misses the first error. It speaks of those that work, too.",
    .excuses = "by default a further restore after one that failed",
    .why = "a restore falls back to an older checkpoint",
};
class EndsAtAFailure : public Rule {
 public:
  EndsAtAFailure() : Rule(kEndsAtAFailure) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kSessionCreated)) failed_ = kNever;
    const std::optional<InitStep> step = StepOf(now);
    // By ours a damaged checkpoint gives way to the one before it.
    if (step == InitStep::kRestore && restoring_ && !now.run.facts().tensorflow) failed_ = kNever;
    if (step.has_value()) restoring_ = step == InitStep::kRestore;
    if (failed_ != kNever && (step.has_value() || now.UsesSession())) {
      Violate({failed_, now.index}, "nothing more on a session whose creation failed", "a further step");
    }
    if (!step.has_value() || now.ok()) return;
    Arm();
    failed_ = now.index;
  }

 private:
  std::size_t failed_ = kNever;
  bool restoring_ = false;  // the last step was a restore
};

constexpr RuleInfo kRestoredMeansNoInit{
    .id = "init.restored_means_no_init",
    .sentence = "A restored session runs neither init_op nor init_fn; without a checkpoint nothing is restored.",
    .documented =
        "Supervisor.managed_session: a session restored from the latest checkpoint, or initialized from scratch "
        "if there is none",
    .observed = "restore_skips_init restore_by_filename",
    .conflict = "MonitoredSession r1.4, Initialization, items 4 and 5 read as if both were done",
};
class RestoredMeansNoInit : public Rule {
 public:
  RestoredMeansNoInit() : Rule(kRestoredMeansNoInit) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kSessionCreated)) restored_ = kNever;
    const std::optional<InitStep> step = StepOf(now);
    if (step == InitStep::kRestore) {
      Arm();
      restored_ = now.index;
      if (!now.run.facts().may_restore)
        Violate({now.index}, "no restore without a directory or a file name", "a restore");
    }
    if ((step == InitStep::kInit || step == InitStep::kInitFn) && restored_ != kNever) {
      Violate({restored_, now.index}, fmt::format("no {} after a restore", NameOfStep(*step)), "there is one");
    }
  }

 private:
  std::size_t restored_ = kNever;
};

constexpr RuleInfo kRestoresACheckpoint{
    .id = "init.restores_a_checkpoint",
    .sentence =
        "If the directory holds a checkpoint, the first thing that a chief does to each created session is to restore "
        "it.",
    .documented = "MonitoredSession r1.4, Initialization, item 5: restores variables if a checkpoint exists",
    .observed = "restore_skips_init restore_aborted_monitored",
    .excuses = "workers, and directories without an undamaged checkpoint from the start",
    .why = "a chief restores for them; there is nothing to restore",
};
class RestoresACheckpoint : public Rule {
 public:
  RestoresACheckpoint() : Rule(kRestoresACheckpoint) {}
  void OnEvent(const Moment& now) override {
    if (!now.run.facts().has_checkpoint || now.run.facts().worker) return;
    if (now.Is(EventKind::kSessionCreated)) {
      Arm();
      created_ = now.index;
      return;
    }
    if (created_ == kNever || (!StepOf(now).has_value() && !now.UsesSession())) return;
    if (StepOf(now) != InitStep::kRestore) Violate({created_, now.index}, "a restore first", "something else first");
    created_ = kNever;
  }

 private:
  std::size_t created_ = kNever;  // and nothing was done to it yet
};

}  // namespace

std::vector<RuleFactory> InitRules() {
  return {NewRule<Order>, NewRule<ReadyBeforeUse>, NewRule<EndsAtAFailure>, NewRule<RestoredMeansNoInit>,
          NewRule<RestoresACheckpoint>};
}

}  // namespace vigil::properties
