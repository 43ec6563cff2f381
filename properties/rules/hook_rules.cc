// How hooks are called, whatever they are, and what the built-in ones do at which time.
#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "vigil/core/summary/summary_writer.h"
#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

bool IsWriter(const Moment& now, WriterCall call) {
  return now.Is(EventKind::kWriterCall) && now.event.call == static_cast<std::uint8_t>(call);
}
bool IsLog(const Moment& now, SessionLogStatus status) {
  return IsWriter(now, WriterCall::kSessionLog) && now.event.index == static_cast<std::int32_t>(status);
}

constexpr RuleInfo kOneAtATime{
    .id = "hook.one_at_a_time",
    .sentence =
        "A hook's method returns before any other hook is called, and before the run that it belongs to is made.",
    .documented = "SessionRunHook, module text: before_run, then the merged run, then after_run",
    .observed = "lifecycle_two_hooks hooks_before_the_failing_one_run_twice",
};
class OneAtATime : public Rule {
 public:
  OneAtATime() : Rule(kOneAtATime) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kHookCall)) {
      Arm();
      if (open_ != kNever) Violate({open_, now.index}, "the hook returns before the next one is called", "it does not");
      open_ = now.index;
      index_ = now.event.index;
      method_ = now.event.call;
    } else if (now.Is(EventKind::kHookReturn)) {
      const bool matches = open_ != kNever && index_ == now.event.index && method_ == now.event.call;
      if (!matches) Violate({open_, now.index}, "the return of the hook that was called", "another one");
      open_ = kNever;
    } else if (open_ != kNever && (now.Creation() || now.Is(EventKind::kRunEnd) || now.Is(EventKind::kCloseEnd))) {
      Violate({open_, now.index}, "the hook returns first", "it does not");
    }
  }

 private:
  std::size_t open_ = kNever;  // a call that has not returned
  std::int32_t index_ = -1;
  std::uint8_t method_ = 0;
};

constexpr RuleInfo kStartOnce{
    .id = "summary.start_is_logged_once",
    .sentence =
        "A hook that writes summaries logs START once, before its first summary and also if sessions are created anew.",
    .documented = "",
    .observed = "training_defaults training_chief_order",
};
class StartOnce : public Rule {
 public:
  StartOnce() : Rule(kStartOnce) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kHookCall)) log_ = kNever;
    if (now.run.in_hook && IsLog(now, SessionLogStatus::kStart)) log_ = now.index;
    // One that could not be written is tried again.
    if (!now.Is(EventKind::kHookReturn) || !now.ok() || log_ == kNever) return;
    Arm();
    const auto [first, is_new] = started_.emplace(now.event.index, log_);
    if (!is_new) Violate({first->second, log_}, "START once", "twice");
  }

 private:
  std::size_t log_ = kNever;                     // in the call in progress
  std::map<std::int32_t, std::size_t> started_;  // by hook
};

constexpr RuleInfo kFlushedAtTheEnd{
    .id = "summary.flushed_at_the_end",
    .sentence = "A hook that has logged START flushes its writer when its end is called.",
    .documented =
        "SessionRunHook, module text: SummarySaverHook saves summaries to a summary writer; end() runs at the end",
    .observed = "training_defaults training_chief_order",
};
class FlushedAtTheEnd : public Rule {
 public:
  FlushedAtTheEnd() : Rule(kFlushedAtTheEnd) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kHookCall)) {
      hook_ = now.event.index;
      flushed_ = false;
    }
    if (now.run.in_hook && IsLog(now, SessionLogStatus::kStart)) started_.emplace(hook_, now.index);
    if (IsWriter(now, WriterCall::kFlush)) flushed_ = true;
    const auto started = started_.find(hook_);
    if (!now.HookReturn(HookMethod::kEnd) || !now.ok() || started == started_.end()) return;
    Arm();
    if (!flushed_) Violate({started->second, now.index}, "a flush in end", "none");
  }

 private:
  std::int32_t hook_ = -1;
  bool flushed_ = false;
  std::map<std::int32_t, std::size_t> started_;
};

constexpr RuleInfo kFinalOpsAtTheEnd{
    .id = "final_ops.only_in_end",
    .sentence = "Final operations run in end of a hook, once in such a call, and at no other time.",
    .documented = "SessionRunHook.end: the session is passed in case the hook wants to run final operations",
    .observed = "random_7_2_worker",
};
class FinalOpsAtTheEnd : public Rule {
 public:
  FinalOpsAtTheEnd() : Rule(kFinalOpsAtTheEnd) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kHookCall)) {
      call_ = now.index;
      in_end_ = now.HookCall(HookMethod::kEnd);
      worked_ = kNever;
    }
    const bool final_ops =
        now.Is(EventKind::kSessionCall) && now.event.call == static_cast<std::uint8_t>(CallKind::kFinalOps);
    if (!final_ops) return;
    Arm();
    if (!now.run.in_hook || !in_end_) Violate({call_, now.index}, "final operations in an end", "at another time");
    if (worked_ != kNever) Violate({worked_, now.index}, "final operations once", "twice");
    if (now.ok()) worked_ = now.index;
  }

 private:
  std::size_t call_ = kNever;
  bool in_end_ = false;
  std::size_t worked_ = kNever;  // final operations, in this call
};

constexpr RuleInfo kRequestsInRuns{
    .id = "stop.requested_in_runs_only",
    .sentence = "A hook requests a stop through its run context only, that is, in before_run and after_run.",
    .documented = "SessionRunHook.after_run: run_context.request_stop() can be called to stop the iteration",
    .observed = "stop_then_loop_monitored stop_in_before_run_monitored",
    .stays =
        "Only a run context can be asked for a stop, and there is one in these two methods only: the library cannot "
        "break it. It stays for hooks that keep the context.",
};
class RequestsInRuns : public Rule {
 public:
  RequestsInRuns() : Rule(kRequestsInRuns) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kHookCall)) {
      call_ = now.index;
      runs_ = now.HookCall(HookMethod::kBeforeRun) || now.HookCall(HookMethod::kAfterRun);
    }
    if (!now.Is(EventKind::kHookRequestsStop)) return;
    Arm();
    if (!runs_) Violate({call_, now.index}, "a stop request in before_run or after_run", "in another method");
  }

 private:
  std::size_t call_ = kNever;
  bool runs_ = false;
};

}  // namespace

std::vector<RuleFactory> HookRules() {
  return {NewRule<OneAtATime>, NewRule<StartOnce>, NewRule<FlushedAtTheEnd>, NewRule<FinalOpsAtTheEnd>,
          NewRule<RequestsInRuns>};
}

}  // namespace vigil::properties
