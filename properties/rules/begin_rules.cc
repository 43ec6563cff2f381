// What happens before there is a session: begin of the hooks, the graph.
#include <fmt/format.h>

#include <map>

#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

constexpr RuleInfo kThenFinalizeThenCreate{
    .id = "begin.then_finalize_then_create",
    .sentence =
        "Every hook has begun before the graph is finalized, and the graph is finalized before the first "
        "session is created.",
    .documented =
        "MonitoredSession r1.4, Initialization, first three items; SessionRunHook, module text: a hook may "
        "add to the graph in begin(), after which it is finalized",
    .observed = "lifecycle_two_hooks lifecycle_singular begin_raises_monitored",
};
class ThenFinalizeThenCreate : public Rule {
 public:
  ThenFinalizeThenCreate() : Rule(kThenFinalizeThenCreate) {}
  void OnEvent(const Moment& now) override {
    const Watch& run = now.run;
    if (now.HookCall(HookMethod::kBegin)) {
      if (finalized_ != kNever)
        Violate({finalized_, now.index}, "begin before the graph is finalized", "begin after it");
      last_begin_ = now.index;
    }
    if (now.Is(EventKind::kGraphFinalized) && finalized_ == kNever) {
      finalized_ = now.index;
      if (run.begun < run.hooks()) {
        Violate({last_begin_, now.index}, fmt::format("{} hooks have begun before the graph is finalized", run.hooks()),
                fmt::format("{} have", run.begun));
      }
    }
    if (now.Creation()) {
      if (!run.attempt) Arm();
      if (!run.finalized) Violate({now.index}, "the graph is finalized before a session is created", "it is not");
    }
  }

 private:
  std::size_t last_begin_ = kNever;
  std::size_t finalized_ = kNever;
};

constexpr RuleInfo kOnceInALife{
    .id = "begin.once_in_a_life",
    .sentence = "begin is called once for each hook, however often the session is created anew.",
    .documented =
        "SessionRunHook.begin: called once before the session is used; after_create_session is what a "
        "recovery repeats",
    .observed = "after_create_aborted_monitored create_fails_three_times",
};
class OnceInALife : public Rule {
 public:
  OnceInALife() : Rule(kOnceInALife) {}
  void OnEvent(const Moment& now) override {
    if (now.Creation() && now.run.attempt && now.run.hooks() > 0) Arm();
    if (!now.HookCall(HookMethod::kBegin)) return;
    const auto [first, is_new] = first_.emplace(now.event.index, now.index);
    if (!is_new) Violate({first->second, now.index}, "one begin of each hook", "a second begin");
  }

 private:
  std::map<std::int32_t, std::size_t> first_;  // by hook
};

constexpr RuleInfo kFrozenInUse{
    .id = "graph.frozen_in_use",
    .sentence = "While hooks see a session, and while it runs, the graph is finalized.",
    .documented =
        "SessionRunHook.after_create_session and before_run: the graph is finalized, no operation can be "
        "added",
    .observed = "lifecycle_two_hooks run_aborted_monitored",
    .stays =
        "begin.then_finalize_then_create and close.graph_unfinalized imply it: a graph that is finalized before the "
        "first session and made changeable by closes alone is finalized in use. It says what hooks rely on.",
};
class FrozenInUse : public Rule {
 public:
  FrozenInUse() : Rule(kFrozenInUse) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kGraphUnfinalized)) unfinalized_ = now.index;
    const bool in_use = now.HookCall(HookMethod::kAfterCreateSession) || now.HookCall(HookMethod::kBeforeRun) ||
                        now.HookCall(HookMethod::kAfterRun) || now.LayerCall(CallKind::kRun);
    if (!in_use) return;
    Arm();
    if (!now.run.finalized) Violate({unfinalized_, now.index}, "a finalized graph", "it is not finalized");
  }

 private:
  std::size_t unfinalized_ = kNever;
};

constexpr RuleInfo kFailureIsTheEnd{
    .id = "construct.failure_is_the_end",
    .sentence = "After a construction that failed nothing more is called: no hook, no session, no end.",
    .documented = "",
    .observed = "begin_raises_monitored after_create_other_monitored create_invalid_argument_singular",
    .stays =
        "A construction that fails leaves nothing behind through which the library could act: no line of it can break "
        "this. It stays for constructions that will leave something, a task for instance.",
};
class FailureIsTheEnd : public Rule {
 public:
  FailureIsTheEnd() : Rule(kFailureIsTheEnd) {}
  void OnEvent(const Moment& now) override {
    if (now.Says(replays::Note::kConstructFailed)) {
      Arm();
      failed_ = now.index;
    } else if (failed_ != kNever && now.on_main && !now.Is(EventKind::kNote)) {
      Violate({failed_, now.index}, "nothing after a construction that failed", "a further event");
    }
  }

 private:
  std::size_t failed_ = kNever;
};

}  // namespace

std::vector<RuleFactory> BeginRules() {
  return {NewRule<ThenFinalizeThenCreate>, NewRule<OnceInALife>, NewRule<FrozenInUse>, NewRule<FailureIsTheEnd>};
}

}  // namespace vigil::properties
