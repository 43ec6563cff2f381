// What the built-in hooks promise, by what they say that they go by.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "vigil/core/base/time.h"
#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

// Beyond this a number of an event is not exact.
constexpr double kExact = 9007199254740992.0;

// A hook asks for a stop, in this call or an earlier one of the run.
bool Stops(const Moment& now) { return now.event.value == 1 || now.run.round.stop; }

std::string Step(double step) { return fmt::format("step {}", step); }

constexpr RuleInfo kTimer{
    .id = "timer.triggers_by_its_period",
    .sentence =
        "The timer of a hook triggers at the first question, never twice at one step, and else once its steps or "
        "seconds have passed since it triggered last.",
    .documented = "SecondOrStepTimer: triggers at most once every every_secs seconds or every_steps steps",
    .observed = "checkpoint_every_two_steps checkpoint_every_two_secs summary_every_secs step_counter",
    .details = kHookDetails,
};
class TimerTriggers : public Rule {
 public:
  TimerTriggers() : Rule(kTimer) {}
  void OnEvent(const Moment& now) override {
    if (!now.run.in_hook) return;
    const std::int32_t hook = now.run.hook;
    // A hook that logs begins anew.
    if (now.Detail(HookDetail::kLogs)) last_.erase(hook);
    if (now.Detail(HookDetail::kTimerSet)) last_[hook] = {now.index, now.event.value, now.time};
    if (!now.Detail(HookDetail::kTimerAsked)) return;
    const BuiltIn::Said* const steps = now.run.HookThat(hook, HookDetail::kEverySteps);
    const BuiltIn::Said* const seconds = now.run.HookThat(hook, HookDetail::kEverySeconds);
    if ((steps == nullptr) == (seconds == nullptr)) return;
    Arm();
    const auto last = last_.find(hook);
    const bool answer = now.event.index == 1;
    bool expected = true;
    if (last != last_.end()) {
      const Trigger& trigger = last->second;
      const double passed = steps != nullptr ? now.event.value - trigger.step : ToSeconds(now.time - trigger.time);
      const double period = steps != nullptr ? steps->value : seconds->value;
      if (steps == nullptr && std::abs(passed - period) < 1e-6) return;  // exact to the nanosecond only
      expected = now.event.value != trigger.step && passed >= period;
    }
    if (answer != expected)
      Violate({last == last_.end() ? kNever : last->second.at, now.index}, expected ? "it triggers" : "it does not",
              answer ? "it does" : "it does not");
  }

 private:
  struct Trigger {
    std::size_t at;
    double step;
    Time time;
  };
  std::map<std::int32_t, Trigger> last_;  // by hook
};

constexpr RuleInfo kStopsOnce{
    .id = "stop_at_step.counts_from_the_first_session",
    .sentence =
        "The last step of a StopAtStepHook is the given one, or so many after the step that it read in its first "
        "session; a session that is created anew does not move it.",
    .documented = "StopAtStepHook: num_steps or last_step",
    .observed = "stop_at_num_steps_after_restore stop_at_num_steps_recovery",
    .details = kHookDetails,
};
class StopsOnce : public Rule {
 public:
  StopsOnce() : Rule(kStopsOnce) {}

 private:
  void OnEvent(const Moment& now) override {
    if (!now.Detail(HookDetail::kStopsAt)) return;
    const std::int32_t hook = now.run.hook;
    const auto first = last_steps_.find(hook);
    if (first != last_steps_.end()) {
      Arm();
      if (first->second.second != now.event.value)
        Violate({first->second.first, now.index}, Step(first->second.second), Step(now.event.value));
      return;
    }
    last_steps_[hook] = {now.index, now.event.value};
    const BuiltIn::Said* const after = now.run.HookThat(hook, HookDetail::kStopsAfter);
    if (after == nullptr || now.call.read == kNever || std::abs(after->value + now.call.step) >= kExact) return;
    Arm();
    if (now.event.value != now.call.step + after->value)
      Violate({after->at, now.call.read, now.index}, Step(now.call.step + after->value), Step(now.event.value));
  }

  std::map<std::int32_t, std::pair<std::size_t, double>> last_steps_;  // by hook
};

constexpr RuleInfo kStopsThere{
    .id = "stop_at_step.stops_at_the_last_step",
    .sentence =
        "A StopAtStepHook reads the step once the run may have reached the last one, and requests a stop if and only "
        "if it has.",
    .documented = "StopAtStepHook: requests stop at a specified step",
    .observed = "stop_at_last_step stop_at_step_already_there stop_at_step_two_per_run",
};
class StopsThere : public Rule {
 public:
  StopsThere() : Rule(kStopsThere) {}

 private:
  void OnEvent(const Moment& now) override {
    if (!now.HookReturn(HookMethod::kAfterRun) || !now.ok() || !now.call.has_value) return;
    const BuiltIn::Said* const last = now.run.HookThat(now.event.index, HookDetail::kStopsAt);
    if (last == nullptr || last->value >= kExact) return;
    Arm();
    const bool read = now.call.read != kNever;
    if (!read && now.call.value + 1 >= last->value)
      Violate({last->at, now.call.at, now.index}, "a look at the step", "none at " + Step(now.call.value));
    const bool reached = read && now.call.step >= last->value;
    if (reached && !Stops(now)) Violate({last->at, now.call.read, now.index}, "a stop", "none");
    if (!reached && now.event.value == 1) Violate({last->at, now.call.read, now.index}, "no stop yet", "one");
  }
};

constexpr RuleInfo kFinished{
    .id = "stop_at_step.a_finished_training_stops_at_once",
    .sentence =
        "A StopAtStepHook whose last step is reached when a session is created asks its coordinator to stop, and else "
        "does not.",
    .documented = "docs/differences.md, finished_runs_nothing: a training that is finished runs nothing",
    .observed = "",
    .holds = Holds::kDefault,
};
class Finished : public Rule {
 public:
  Finished() : Rule(kFinished) {}

 private:
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kHookCall)) asked_ = kNever;
    if (now.Is(EventKind::kCoordinatorRequestStop) && now.run.in_hook) asked_ = now.index;
    if (!now.HookReturn(HookMethod::kAfterCreateSession) || !now.ok() || now.call.read == kNever) return;
    const BuiltIn::Said* const last = now.run.HookThat(now.event.index, HookDetail::kStopsAt);
    if (last == nullptr) return;
    Arm();
    const bool reached = now.call.step >= last->value;
    if (reached != (asked_ != kNever))
      Violate({last->at, now.call.read, asked_, now.index}, reached ? "a request to stop" : "no request to stop",
              reached ? "none" : "one");
  }
  std::size_t asked_ = kNever;
};

constexpr RuleInfo kNanStops{
    .id = "nan.stops_the_training",
    .sentence =
        "A NanTensorHook that sees NaN fails the run with NAN_LOSS, or requests a stop if it shall not fail; it does "
        "neither otherwise.",
    .documented = "NanTensorHook: monitors the loss tensor and stops training if loss is NaN",
    .observed = "nan_stops_hard nan_stops_softly_and_saves_nan",
};
class NanStops : public Rule {
 public:
  NanStops() : Rule(kNanStops) {}

 private:
  void OnEvent(const Moment& now) override {
    if (!now.HookReturn(HookMethod::kAfterRun) || !now.call.has_value) return;
    const BuiltIn::Said* const watches = now.run.HookThat(now.event.index, HookDetail::kWatchesForNan);
    if (watches == nullptr) return;
    Arm();
    const bool nan = std::isnan(now.call.value);
    const bool fails = watches->value != 0;
    const std::string actual = fmt::format("{}{}", CodeName(now.event.code), now.event.value == 1 ? ", a stop" : "");
    if (nan && fails && now.event.code != Code::kNanLoss) Violate({now.call.at, now.index}, "NAN_LOSS", actual);
    if (nan && !fails && !(now.ok() && Stops(now))) Violate({now.call.at, now.index}, "OK, a stop", actual);
    if (!nan && (now.event.code == Code::kNanLoss || now.event.value == 1))
      Violate({now.call.at, now.index}, "OK, no stop", actual);
  }
};

constexpr RuleInfo kCountsRate{
    .id = "step_counter.from_the_second_trigger_on",
    .sentence =
        "A StepCounterHook writes one rate whenever its timer triggers, at that step, but none at the first trigger.",
    .documented = "StepCounterHook: counts steps per second",
    .observed = "training_defaults step_counter training_chief_order",
    .details = kHookDetails,
};
class CountsRate : public Rule {
 public:
  CountsRate() : Rule(kCountsRate) {}

 private:
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kHookCall)) summaries_ = 0;
    if (now.Detail(HookDetail::kCountsSteps)) triggers_.erase(now.run.hook);
    const bool writes =
        now.Is(EventKind::kWriterCall) && now.event.call == static_cast<std::uint8_t>(WriterCall::kSummary);
    const BuiltIn::Said* const counts = now.run.HookThat(now.run.hook, HookDetail::kCountsSteps);
    if (counts == nullptr || !now.run.in_hook) return;
    if (writes) {
      ++summaries_;
      if (now.call.set == kNever || now.event.value != now.call.set_to)
        Violate({now.call.set, now.index}, "a rate at the trigger only", "one at " + Step(now.event.value));
    }
    if (!now.HookReturn(HookMethod::kAfterRun) || !now.ok() || now.call.set == kNever) return;
    Arm();
    const int expected = triggers_[now.event.index]++ == 0 ? 0 : 1;
    if (counts->value != 0 && summaries_ != expected)
      Violate({now.call.set, now.index}, fmt::format("{} rates", expected), fmt::format("{}", summaries_));
  }
  int summaries_ = 0;                     // in this call
  std::map<std::int32_t, int> triggers_;  // by hook, since its begin
};

constexpr RuleInfo kSummaries{
    .id = "summary.written_when_it_is_due",
    .sentence =
        "A SummarySaverHook asks for its summaries in its first run and whenever its timer triggers; then it writes "
        "each of them at the step that it reads, and none after other runs.",
    .documented = "SummarySaverHook: saves summaries every N steps",
    .observed = "summary_every_two training_defaults",
    .details = kRunParts | kHookDetails,
};
class Summaries : public Rule {
 public:
  Summaries() : Rule(kSummaries) {}

 private:
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kHookCall)) written_ = 0;
    if (now.Part(RunPart::kFetches)) {
      const auto names = std::count(now.event.subject.begin(), now.event.subject.end(), ' ');
      asked_[now.event.index] = static_cast<int>(names) - 1;
    }
    const std::int32_t hook = now.run.hook;
    if (!now.run.in_hook && !now.Is(EventKind::kHookCall)) return;
    const BuiltIn::Said* const is = now.run.HookThat(hook, HookDetail::kWritesSummaries);
    if (is == nullptr || is->value == 0) return;
    if (now.Detail(HookDetail::kWritesSummaries)) ran_.erase(hook);
    if (now.Is(EventKind::kWriterCall) && now.event.call == static_cast<std::uint8_t>(WriterCall::kSummary)) {
      ++written_;
      if (now.call.read == kNever || now.event.value != now.call.step)
        Violate({now.call.read, now.index}, "a summary at the step that was read", "one at " + Step(now.event.value));
    }
    if (now.HookReturn(HookMethod::kBeforeRun)) {
      const bool first = !ran_.contains(hook);
      if (now.ok() && !first && now.call.asked.empty())
        Violate({now.call.at, now.index}, "the timer is asked", "it is not");
      due_[hook] = first || now.call.first_answer();
      asked_.erase(hook);
    }
    if (!now.HookReturn(HookMethod::kAfterRun) || !now.ok()) return;
    Arm();
    ran_.insert_or_assign(hook, now.index);
    const bool due = due_[hook];
    if (due != (now.call.set != kNever))
      Violate({now.call.at, now.call.set, now.index}, due ? "the timer triggers" : "the timer stays", "it does not");
    const int expected = due ? std::max(asked_[hook], 0) : 0;
    if (written_ != expected)
      Violate({now.call.at, now.index}, fmt::format("{} summaries", expected), fmt::format("{}", written_));
  }
  int written_ = 0;                          // in this call
  std::map<std::int32_t, int> asked_;        // by hook: summaries that were asked for in this round
  std::map<std::int32_t, bool> due_;         // by hook: in this round
  std::map<std::int32_t, std::size_t> ran_;  // by hook: a good after_run since its begin
};

constexpr RuleInfo kLogsRuns{
    .id = "logging.counts_its_own_runs",
    .sentence =
        "A LoggingTensorHook asks its timer with the number of its runs since begin, fetches if that triggers, and "
        "logs after that run; one that logs at the end evaluates its tensors there, and no other does.",
    .documented = "LoggingTensorHook: prints the given tensors every N local steps",
    .observed = "logging_every_two logging_secs_and_end",
    .details = kHookDetails,
};
class LogsRuns : public Rule {
 public:
  LogsRuns() : Rule(kLogsRuns) {}

 private:
  void OnEvent(const Moment& now) override {
    const std::int32_t hook = now.run.hook;
    const BuiltIn::Said* const logs = now.run.HookThat(hook, HookDetail::kLogs);
    if (now.Is(EventKind::kHookCall)) evaluated_ = kNever;
    if (now.Detail(HookDetail::kLogs)) runs_[hook] = 0;
    if (logs == nullptr || !now.run.in_hook) return;
    if (now.Is(EventKind::kSessionCall)) evaluated_ = now.index;
    if (now.HookReturn(HookMethod::kEnd) && now.ok()) {
      Arm();
      const bool at_end = logs->index == 1;
      if (at_end != (evaluated_ != kNever))
        Violate({logs->at, evaluated_, now.index}, at_end ? "it evaluates its tensors" : "it evaluates nothing",
                at_end ? "it does not" : "it does");
    }
    if (now.HookReturn(HookMethod::kBeforeRun) && now.ok()) {
      due_[hook] = now.call.first_answer();
      if (logs->value == 0) return;
      Arm();
      if (now.call.asked.empty() || now.call.asked.front().step != runs_[hook])
        Violate({now.call.at, now.call.asked_last(), now.index},
                fmt::format("the timer is asked of run {}", runs_[hook]),
                now.call.asked.empty() ? "it is not asked" : fmt::format("of {}", now.call.asked.front().step));
    }
    if (!now.HookReturn(HookMethod::kAfterRun) || !now.ok()) return;
    const bool logged = now.call.set != kNever;
    if (logged && now.call.set_to != runs_[hook])
      Violate({now.call.at, now.call.set, now.index}, fmt::format("the timer triggers at run {}", runs_[hook]),
              fmt::format("at {}", now.call.set_to));
    if (logged != due_[hook])
      Violate({now.call.at, now.call.set, now.index}, due_[hook] ? "it logs" : "it does not log",
              logged ? "it does" : "it does not");
    ++runs_[hook];
  }
  std::map<std::int32_t, double> runs_;  // by hook, since its begin
  std::map<std::int32_t, bool> due_;
  std::size_t evaluated_ = kNever;  // in this call
};

constexpr RuleInfo kWaits{
    .id = "global_step_waiter.waits_once",
    .sentence =
        "A GlobalStepWaiterHook lets its first run go on only when the step that it read has reached the given one, or "
        "somebody asked for a stop, sleeping between two looks, and does not look again.",
    .documented = "GlobalStepWaiterHook: delays execution until global step reaches wait_until_step",
    .observed = "global_step_waiter global_step_waiter_zero",
    .details = kHookDetails,
};
class WaitsOnce : public Rule {
 public:
  WaitsOnce() : Rule(kWaits) {}

 private:
  void OnEvent(const Moment& now) override {
    const std::int32_t hook = now.run.hook;
    if (now.Is(EventKind::kHookCall)) looked_ = kNever;
    if (now.Detail(HookDetail::kWaitsForStep)) passed_.erase(hook);
    const BuiltIn::Said* const waits = now.run.HookThat(hook, HookDetail::kWaitsForStep);
    if (waits == nullptr || !now.run.in_hook) return;
    if (now.Is(EventKind::kSleep)) looked_ = kNever;
    const auto passed = passed_.find(hook);
    if (now.ReadsStep()) {
      if (passed != passed_.end()) Violate({passed->second, now.index}, "no further look at the step", "one");
      if (looked_ != kNever) Violate({looked_, now.index}, "a sleep between two looks", "none");
      looked_ = now.index;
    }
    if (!now.HookReturn(HookMethod::kBeforeRun) || !now.ok() || passed != passed_.end()) return;
    const bool reached = waits->value <= 0 || (now.call.read != kNever && now.call.step >= waits->value);
    if (!reached && (now.run.asked_to_stop || now.run.stopped_from_elsewhere || now.run.told_to_end))
      return;  // it goes on waiting the next time
    Arm();
    if (waits->value > 0 && (now.call.read == kNever || now.call.step < waits->value))
      Violate({waits->at, now.call.read, now.index}, Step(waits->value) + " or later",
              now.call.read == kNever ? "no look" : Step(now.call.step));
    passed_[hook] = now.index;
  }
  std::size_t looked_ = kNever;                 // since the last sleep
  std::map<std::int32_t, std::size_t> passed_;  // by hook
};

constexpr RuleInfo kProfiled{
    .id = "profiler.never_the_first_run",
    .sentence =
        "A ProfilerHook never traces its first run, later those at which its timer triggers; of these alone it adds "
        "the "
        "metadata, tagged with the step that it read.",
    .documented = "ProfilerHook: captures CPU/GPU profiling information every N steps or seconds",
    .observed = "profiler_steps profiler_secs",
    .details = kRunParts | kHookDetails,
};
class Profiled : public Rule {
 public:
  Profiled() : Rule(kProfiled) {}

 private:
  void OnEvent(const Moment& now) override {
    if (now.Part(RunPart::kOption) && now.event.subject == "trace_level") {
      const std::int32_t asks = now.event.index;
      if (now.run.HookThat(asks, HookDetail::kProfiles) != nullptr && !due_[asks])
        Violate({now.index}, "no trace of this run", "one is asked for");
    }
    const std::int32_t hook = now.run.hook;
    if (now.Is(EventKind::kHookCall)) tagged_ = false;
    if (now.Detail(HookDetail::kProfiles)) ran_[hook] = false;
    if (now.run.HookThat(hook, HookDetail::kProfiles) == nullptr || !now.run.in_hook) return;
    if (now.HookReturn(HookMethod::kBeforeRun)) due_[hook] = ran_[hook] && now.call.first_answer();
    if (now.Is(EventKind::kWriterCall) && now.event.call == static_cast<std::uint8_t>(WriterCall::kRunMetadata)) {
      tagged_ = true;
      if (!due_[hook] || !now.event.subject.starts_with(fmt::format("step_{}", now.call.step)))
        Violate({now.call.read, now.index}, due_[hook] ? fmt::format("tag step_{}", now.call.step) : "no metadata",
                std::string(now.event.subject));
    }
    if (!now.HookReturn(HookMethod::kAfterRun) || !now.ok()) return;
    Arm();
    ran_[hook] = true;
    if (due_[hook] && !tagged_) Violate({now.call.at, now.index}, "metadata of the traced run", "none");
  }
  bool tagged_ = false;               // in this call
  std::map<std::int32_t, bool> ran_;  // by hook: a good after_run since its begin
  std::map<std::int32_t, bool> due_;  // by hook: in this round
};

}  // namespace

std::vector<RuleFactory> BuiltInRules() {
  return {NewRule<TimerTriggers>, NewRule<StopsOnce>, NewRule<StopsThere>, NewRule<Finished>,  NewRule<NanStops>,
          NewRule<CountsRate>,    NewRule<Summaries>, NewRule<LogsRuns>,   NewRule<WaitsOnce>, NewRule<Profiled>};
}

}  // namespace vigil::properties
