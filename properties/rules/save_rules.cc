// What a hook that saves checkpoints does, and what its listeners are told.
#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "vigil/core/summary/summary_writer.h"
#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

bool IsSave(const Moment& now) {
  return now.Is(EventKind::kSessionCall) && now.event.call == static_cast<std::uint8_t>(CallKind::kSave);
}
bool IsStepRead(const Moment& now) {
  return now.Is(EventKind::kSessionCall) && now.event.call == static_cast<std::uint8_t>(CallKind::kReadStep);
}
bool IsListener(const Moment& now, ListenerMethod method) {
  return now.Is(EventKind::kListenerCall) && now.event.call == static_cast<std::uint8_t>(method);
}
bool LogsCheckpoint(const Moment& now) {
  return now.Is(EventKind::kWriterCall) && now.event.call == static_cast<std::uint8_t>(WriterCall::kSessionLog) &&
         now.event.index == static_cast<std::int32_t>(SessionLogStatus::kCheckpoint);
}

constexpr RuleInfo kInAHook{
    .id = "save.only_in_a_hook",
    .sentence = "The session layer itself saves nothing: checkpoints are saved by hooks, never in begin.",
    .documented = "SessionRunHook, module text: CheckpointSaverHook saves checkpoints",
    .observed = "training_defaults checkpoint_listeners training_no_dir",
    .stays =
        "Hooks alone hold a saver and a session together, and in begin there is no session: no line of the library "
        "can break it. It stays for session layers that will save for themselves.",
};
class InAHook : public Rule {
 public:
  InAHook() : Rule(kInAHook) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kHookCall)) {
      call_ = now.index;
      in_begin_ = now.HookCall(HookMethod::kBegin);
    }
    if (!IsSave(now)) return;
    Arm();
    if (!now.run.in_hook || in_begin_) Violate({call_, now.index}, "a save in a hook, after begin", "elsewhere");
  }

 private:
  std::size_t call_ = kNever;
  bool in_begin_ = false;
};

constexpr RuleInfo kLogged{
    .id = "save.logged_at_the_step_that_was_read",
    .sentence =
        "A CHECKPOINT is logged only after a save that worked, in the same call of a hook, and at the step that the "
        "hook "
        "read there.",
    .documented = "",
    .observed = "training_defaults checkpoint_listeners",
    .details = kHookDetails,
};
class Logged : public Rule {
 public:
  Logged() : Rule(kLogged) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kHookCall)) {
      read_ = kNever;
      save_ = {};
      tells_ = false;
    }
    if (IsStepRead(now) && now.ok()) {
      read_ = now.index;
      step_ = now.event.value;
    }
    if (IsSave(now)) save_ = {now.index, now.event.code};
    if (now.Detail(HookDetail::kTellsOfSave)) {  // of a save beside the training, of a step that was read earlier
      read_ = now.index;
      step_ = now.event.value;
      save_ = {};
      tells_ = true;
    }
    if (!now.run.in_hook || !LogsCheckpoint(now)) return;
    Arm();
    if (save_ && save_.code != Code::kOk) Violate({save_.at, now.index}, "no log of a save that failed", "one");
    if (!save_ && !tells_) Violate({now.index}, "a save that worked before it is logged", "none");
    if (read_ != kNever && now.event.has_value && now.event.value != step_)
      Violate({read_, now.index}, fmt::format("step {}", step_), fmt::format("step {}", now.event.value));
  }

 private:
  std::size_t read_ = kNever;
  double step_ = 0;
  Seen save_;
  bool tells_ = false;  // of a save beside the training, in this call
};

constexpr RuleInfo kListenersAround{
    .id = "listener.before_and_after_each_save",
    .sentence =
        "Around each save of a hook with listeners, every listener is told before, then it is saved, then every "
        "listener "
        "is told after, of the same step; after_save only if the save worked.",
    .documented = "",
    .observed = "checkpoint_listeners checkpoint_listener_stops",
    .details = kHookDetails,
};
class ListenersAround : public Rule {
 public:
  ListenersAround() : Rule(kListenersAround) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kHookCall)) {
      before_ = save_ = saves_ = {};
      saved_elsewhere_ = false;
    }
    if (now.Detail(HookDetail::kSaves)) {
      saves_ = {now.index, Code::kOk};
      saves_step_ = now.event.value;
    }
    if (IsSave(now)) save_ = {now.index, now.event.code};
    if (IsListener(now, ListenerMethod::kBeforeSave)) {
      if (save_ && before_) save_ = {};
      saved_elsewhere_ = false;
      before_ = {now.index, Code::kOk};
      step_ = now.event.value;
      if (saves_ && step_ != saves_step_)
        Violate({saves_.at, now.index}, fmt::format("step {}", saves_step_), fmt::format("step {}", step_));
    }
    if (now.Detail(HookDetail::kSavesCheckpoints)) {  // it begins
      std::erase_if(beside_, [&now](const auto& entry) { return entry.first == now.run.hook; });
    }
    if (now.Detail(HookDetail::kSavesBeside)) beside_.emplace(now.run.hook, now.event.value);
    if (now.Detail(HookDetail::kTellsOfSave)) {
      const auto handed_over = beside_.find({now.run.hook, now.event.value});
      if (handed_over == beside_.end()) return Violate({now.index}, "a save that was handed over before", "none");
      beside_.erase(handed_over);
      before_ = {now.index, Code::kOk};
      step_ = now.event.value;
      save_ = {};
    }
    if (now.Detail(HookDetail::kTellsOfSave) || now.Detail(HookDetail::kSavedBefore)) saved_elsewhere_ = true;
    if (!IsListener(now, ListenerMethod::kAfterSave)) return;
    Arm();
    if (!before_) {
      Violate({now.index}, "before_save first", "none");
    } else if (step_ != now.event.value) {
      Violate({before_.at, now.index}, fmt::format("step {}", step_), fmt::format("step {}", now.event.value));
    } else if (save_ && save_.code != Code::kOk) {
      Violate({save_.at, now.index}, "no after_save of a save that failed", "one");
    } else if (!save_ && !saved_elsewhere_) {
      Violate({before_.at, now.index}, "a save in between", "none");
    }
  }

 private:
  Seen saves_;  // the hook says so, and of which step
  double saves_step_ = 0;
  Seen before_;
  Seen save_;
  bool saved_elsewhere_ = false;  // beside the training, or by another hook: since before_save
  double step_ = 0;
  std::multiset<std::pair<std::int32_t, double>> beside_;  // by hook: steps that are written beside the training
};

constexpr RuleInfo kListenersLife{
    .id = "listener.begins_once_and_ends_last",
    .sentence =
        "A listener is told begin once, in begin of its hook, and end in end of its hook, after the last save of it.",
    .documented = "",
    .observed = "checkpoint_listeners checkpoint_listener_stops",
};
class ListenersLife : public Rule {
 public:
  ListenersLife() : Rule(kListenersLife) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kHookCall)) {
      call_ = now.index;
      method_ = static_cast<HookMethod>(now.event.call);
      hook_ = now.event.index;
      ended_ = kNever;
    }
    if (IsSave(now) && now.run.in_hook && ended_ != kNever) Violate({ended_, now.index}, "no save after end", "one");
    if (IsListener(now, ListenerMethod::kBegin) && (!now.run.in_hook || method_ != HookMethod::kBegin))
      Violate({call_, now.index}, "begin of a listener in begin of its hook", "elsewhere");
    if (!IsListener(now, ListenerMethod::kEnd)) return;
    Arm();
    if (!now.run.in_hook || method_ != HookMethod::kEnd)
      Violate({call_, now.index}, "end of a listener in end of its hook", "elsewhere");
    ended_ = now.index;
  }

 private:
  std::size_t call_ = kNever;
  HookMethod method_ = HookMethod::kBegin;
  std::int32_t hook_ = -1;
  std::size_t ended_ = kNever;
};

constexpr RuleInfo kSavesAnew{
    .id = "save.on_each_new_session",
    .sentence = "A hook that saves when a session was created does so on each session that is created anew.",
    .documented = "SessionRunHook.after_create_session: called also as a result of recovering a session",
    .observed = "training_defaults random_7_2_worker",
    .conflict = "by default a step that was saved already is not saved once more",
    .holds = Holds::kTensorFlow,
};
class SavesAnew : public Rule {
 public:
  SavesAnew() : Rule(kSavesAnew) {}
  void OnEvent(const Moment& now) override {
    if (now.HookCall(HookMethod::kAfterCreateSession)) saved_ = kNever;
    if (IsSave(now) && now.run.in_hook) saved_ = now.index;
    if (!now.HookReturn(HookMethod::kAfterCreateSession) || !now.ok()) return;
    const auto first = savers_.find(now.event.index);
    if (first == savers_.end()) {
      if (saved_ != kNever) savers_.emplace(now.event.index, saved_);
      return;
    }
    Arm();
    if (saved_ == kNever) Violate({first->second, now.run.session_at, now.index}, "a save on the new session", "none");
  }

 private:
  std::size_t saved_ = kNever;                  // in the call in progress
  std::map<std::int32_t, std::size_t> savers_;  // by hook: its first such save
};

}  // namespace

std::vector<RuleFactory> SaveRules() {
  return {NewRule<InAHook>, NewRule<Logged>, NewRule<ListenersAround>, NewRule<ListenersLife>, NewRule<SavesAnew>};
}

}  // namespace vigil::properties
