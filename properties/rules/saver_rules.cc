// When hooks save checkpoints, and what a saver does with its files.
#include <fmt/format.h>

#include <cmath>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/summary/summary_writer.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/replays/stage/notes.h"

namespace vigil::properties {
namespace {

bool SavesInput(const Moment& now, std::int32_t hook) {
  return now.run.HookThat(hook, HookDetail::kSavesInput) != nullptr;
}

// Of a hook that saves checkpoints.
class HookSaveRule : public Rule {
 public:
  using Rule::Rule;

 private:
  void OnEvent(const Moment& now) final {
    const BuiltIn::Said* const is = now.run.HookThat(now.run.hook, HookDetail::kSavesCheckpoints);
    if (now.run.in_hook && is != nullptr) OnSaver(now, *is);
  }
  virtual void OnSaver(const Moment& now, const BuiltIn::Said& is) = 0;
};

constexpr RuleInfo kAtCreation{
    .id = "save.when_a_session_is_created",
    .sentence =
        "A CheckpointSaverHook saves each new session, at the step that it reads there; by default what another hook "
        "has saved of this very step and session counts. Its timer triggers with that save.",
    .documented = "SessionRunHook.after_create_session: called when new TensorFlow session is created",
    .observed = "checkpoint_every_two_steps checkpoint_after_resume training_defaults",
};
class AtCreation : public HookSaveRule {
 public:
  AtCreation() : HookSaveRule(kAtCreation) {}

 private:
  void OnSaver(const Moment& now, const BuiltIn::Said&) override {
    if (!now.HookReturn(HookMethod::kAfterCreateSession) || !now.ok() || SavesInput(now, now.event.index)) return;
    Arm();
    if (now.call.saves == kNever) {
      Violate({now.run.session_at, now.call.read, now.index}, "a save of the new session", "none");
    } else if (now.call.read == kNever || now.call.step != now.call.saves_step) {
      Violate({now.call.read, now.call.saves, now.index}, "a save at the step that was read",
              fmt::format("at {}", now.call.saves_step));
    } else if (now.call.set == kNever || now.call.set_to != now.call.step) {
      Violate({now.call.saves, now.call.set, now.index}, "the timer triggers with that save", "it does not");
    }
  }
};

constexpr RuleInfo kNamed{
    .id = "save.named_by_its_step",
    .sentence =
        "The checkpoint that a CheckpointSaverHook saves is called by the step that the hook says that it saves.",
    .documented = "Saver.save, global_step: the number is appended to save_path to create the checkpoint filenames",
    .observed = "checkpoint_every_two_steps checkpoint_keeps_five training_defaults",
    .details = kSaverDetails,
};
class Named : public HookSaveRule {
 public:
  Named() : HookSaveRule(kNamed) {}

 private:
  void OnSaver(const Moment& now, const BuiltIn::Said&) override {
    if (!now.on_main || !now.Saver(SaverDetail::kSaves) || now.call.saves == kNever) return;
    Arm();
    const std::string_view name = now.event.subject;
    const std::string expected = fmt::format("-{}", static_cast<std::int64_t>(now.call.saves_step));
    if (!name.ends_with(expected)) Violate({now.call.saves, now.index}, "a name with " + expected, std::string(name));
  }
};

constexpr RuleInfo kWhenDue{
    .id = "save.when_it_is_due",
    .sentence =
        "After a run a CheckpointSaverHook asks its timer, reads the step if that may be due, and saves that step if "
        "and "
        "only if it is; the timer triggers first, so that a save that fails counts.",
    .documented = "CheckpointSaverHook: saves checkpoints every N steps or seconds",
    .observed = "checkpoint_every_two_steps checkpoint_every_two_secs save_aborts",
    .details = kHookDetails,
};
class WhenDue : public HookSaveRule {
 public:
  WhenDue() : HookSaveRule(kWhenDue) {}

 private:
  void OnSaver(const Moment& now, const BuiltIn::Said&) override {
    if (now.run.method != HookMethod::kAfterRun) return;
    const std::vector<CallOfHook::Question>& asked = now.call.asked;
    const bool due =
        now.call.read != kNever && asked.size() > 1 && asked.back().yes && asked.back().step == now.call.step;
    if (now.Detail(HookDetail::kSaves)) {
      if (!due || now.call.saves_step != now.call.step) {
        Violate({now.call.read, now.index}, "no save before it is due",
                fmt::format("a save at {}", now.call.saves_step));
      } else if (now.call.set == kNever || now.call.set_to != now.call.step) {
        Violate({now.call.read, now.call.set, now.index}, "the timer triggers before the save", "it does not");
      }
    }
    if (!now.HookReturn(HookMethod::kAfterRun) || !now.ok()) return;
    Arm();
    if (asked.empty() || (now.call.has_value && asked.front().step <= now.call.value)) {
      Violate({now.call.at, asked.empty() ? kNever : asked.front().at, now.index}, "the timer is asked of a later step",
              asked.empty() ? "it is not asked" : fmt::format("of {}", asked.front().step));
    } else if (asked.front().yes && now.call.read == kNever) {
      Violate({asked.front().at, now.index}, "a look at the step", "none");
    } else if (asked.front().yes && asked.size() < 2) {
      Violate({asked.front().at, now.call.read, now.index}, "the timer is asked of the step that was read",
              "it is not");
    } else if (due && now.call.saves == kNever && !now.call.keeps_nothing) {
      Violate({now.call.read, asked.back().at, now.index}, "a save", "none");
    }
  }
};

constexpr RuleInfo kAtTheEnd{
    .id = "save.at_the_end_once",
    .sentence =
        "At the end a CheckpointSaverHook saves the step that it reads, unless its timer has triggered last at this "
        "very step: then there is a checkpoint of it.",
    .documented = "CheckpointSaverHook, end: saves the last step",
    .observed = "checkpoint_every_two_steps out_of_range_saves_at_end training_defaults",
    .details = kHookDetails,
};
class AtTheEnd : public HookSaveRule {
 public:
  AtTheEnd() : HookSaveRule(kAtTheEnd) {}

 private:
  void OnSaver(const Moment& now, const BuiltIn::Said&) override {
    const std::int32_t hook = now.run.hook;
    if (now.Detail(HookDetail::kSavesCheckpoints)) last_.erase(hook);
    if (now.Detail(HookDetail::kTimerSet)) last_[hook] = {now.index, now.event.value};
    if (!now.HookReturn(HookMethod::kEnd) || !now.ok()) return;
    Arm();
    if (now.call.read == kNever) return Violate({now.call.at, now.index}, "a look at the step", "none");
    const auto last = last_.find(hook);
    const bool there = last != last_.end() && last->second.second == now.call.step;
    const std::size_t at = last == last_.end() ? kNever : last->second.first;
    if (there && now.call.saves != kNever)
      Violate({at, now.call.read, now.call.saves}, "no second save of this step", "one");
    if (!there && !now.call.keeps_nothing && (now.call.saves == kNever || now.call.saves_step != now.call.step))
      Violate({at, now.call.read, now.index}, fmt::format("a save of step {}", now.call.step), "none");
  }
  std::map<std::int32_t, std::pair<std::size_t, double>> last_;  // by hook: its last trigger
};

constexpr RuleInfo kPassedOver{
    .id = "save.passed_over_only_after_nan",
    .sentence =
        "A CheckpointSaverHook passes a save over only once a NanTensorHook of the list has seen NaN in this session.",
    .documented = "docs/differences.md, nan_stop_saves_nothing: what has diverged is not saved",
    .observed = "",
    .holds = Holds::kDefault,
    .details = kHookDetails,
};
class PassedOver : public Rule {
 public:
  PassedOver() : Rule(kPassedOver) {}
  void OnEvent(const Moment& now) override {
    if (now.Detail(HookDetail::kWatchesForNan)) watchers_.insert(now.run.hook);
    if (now.Creation()) {
      excused_ = false;
      RunIsOver();
    }
    if (now.HookCall(HookMethod::kBeforeRun) || now.Is(EventKind::kRunEnd)) {
      // A hook between the two has failed: who knows what they would have seen.
      if (owed_) excused_ = true;
      RunIsOver();
    }
    if (now.LayerCall(CallKind::kRun) && now.ok()) owed_ = true;
    if (now.HookCall(HookMethod::kAfterRun) && watchers_.contains(now.event.index)) OnWatcher(now);
    // Without any it may be a hook of the user's that says so to the coordinator.
    if (!now.Detail(HookDetail::kKeepsNothing) || watchers_.empty()) return;
    Arm();
    if (excused_) return;
    if (owed_) {
      passed_over_ = now.index;  // they come after the saver
    } else {
      Violate({now.index}, "a save: no NaN was seen", "none");
    }
  }

 private:
  void OnWatcher(const Moment& now) {
    called_.insert(now.event.index);
    if (!now.event.has_value || std::isnan(now.event.value)) excused_ = true;
    if (called_.size() < watchers_.size()) return;
    owed_ = false;
    if (passed_over_ != kNever && !excused_) Violate({passed_over_, now.index}, "a save: no NaN was seen", "none");
    passed_over_ = kNever;
  }
  void RunIsOver() {
    owed_ = false;
    called_.clear();
    passed_over_ = kNever;
  }

  std::set<std::int32_t> watchers_;  // hooks
  std::set<std::int32_t> called_;    // of them, after this run
  bool owed_ = false;                // some of them are still to be called after this run
  bool excused_ = false;             // this session has diverged, or may have
  std::size_t passed_over_ = kNever;
};

constexpr RuleInfo kBesideInOrder{
    .id = "save.beside_told_in_order",
    .sentence =
        "Of the saves that a hook hands over to be written beside the training it tells in their order, of each once, "
        "and of all by its end.",
    .documented = "docs/checkpoints.md: asynchronous saves, their order is that of the steps; End has all on disk",
    .observed = "",
    .details = kHookDetails,
};
class BesideInOrder : public HookSaveRule {
 public:
  BesideInOrder() : HookSaveRule(kBesideInOrder) {}

 private:
  void OnSaver(const Moment& now, const BuiltIn::Said&) override {
    std::deque<std::pair<std::size_t, double>>& untold = untold_[now.run.hook];
    if (now.Detail(HookDetail::kSavesCheckpoints)) untold.clear();  // it begins
    if (now.Detail(HookDetail::kSavesBeside)) untold.emplace_back(now.index, now.event.value);
    if (now.Detail(HookDetail::kTellsOfSave)) {
      if (untold.empty()) return Violate({now.index}, "a save that was handed over", "none");
      Arm();
      if (untold.front().second != now.event.value)
        Violate({untold.front().first, now.index}, fmt::format("step {}", untold.front().second),
                fmt::format("step {}", now.event.value));
      untold.pop_front();
    }
    if (!now.HookReturn(HookMethod::kEnd) || !now.ok() || untold.empty()) return;
    Violate({untold.front().first, now.index}, "told of each save before the end", "one is left");
  }

  std::map<std::int32_t, std::deque<std::pair<std::size_t, double>>> untold_;
};

constexpr RuleInfo kFewBeside{
    .id = "save.beside_one_waits",
    .sentence =
        "When a call of a hook ends well, at most two of the saves that it has handed over to be written beside the "
        "training are not told of: one is being written, one waits.",
    .documented = "docs/checkpoints.md: asynchronous saves, one save is written, one more may wait",
    .observed = "",
    .details = kHookDetails,
};
class FewBeside : public HookSaveRule {
 public:
  FewBeside() : HookSaveRule(kFewBeside) {}

 private:
  static constexpr std::size_t kMost = 2;

  void OnSaver(const Moment& now, const BuiltIn::Said&) override {
    std::deque<std::size_t>& untold = untold_[now.run.hook];
    if (now.Detail(HookDetail::kSavesCheckpoints)) untold.clear();  // it begins
    if (now.Detail(HookDetail::kSavesBeside)) {
      Arm();
      untold.push_back(now.index);
    }
    if (now.Detail(HookDetail::kTellsOfSave) && !untold.empty()) untold.pop_front();
    if (now.Is(EventKind::kHookReturn) && now.ok() && untold.size() > kMost)
      Violate({untold.front(), now.index}, fmt::format("{} unfinished saves at most", kMost),
              fmt::format("{}", untold.size()));
  }

  std::map<std::int32_t, std::deque<std::size_t>> untold_;  // by hook: where they were handed over
};

constexpr RuleInfo kInOrder{
    .id = "listener.each_in_its_place",
    .sentence =
        "In a save of a hook each listener is told before, in list order, then it is saved and CHECKPOINT logged, then "
        "each listener is told after, in list order; begin and end reach each listener in list order, too.",
    .documented = "CheckpointSaverListener: before_save and after_save around each save",
    .observed = "checkpoint_listeners checkpoint_listener_stops",
    .details = kHookDetails,
};
class InOrder : public HookSaveRule {
 public:
  InOrder() : HookSaveRule(kInOrder) {}

 private:
  void OnSaver(const Moment& now, const BuiltIn::Said& is) override {
    if (now.Detail(HookDetail::kSaves)) {
      told_[ListenerMethod::kBeforeSave] = told_[ListenerMethod::kAfterSave] = 0;
      logged_ = false;
    }
    // The other half of a save that goes on beside the training.
    if (now.Detail(HookDetail::kSavesBeside) && told_[ListenerMethod::kBeforeSave] != is.index)
      Violate({now.call.saves, now.index}, Told(is.index, "before"),
              Told(told_[ListenerMethod::kBeforeSave], "before"));
    if (now.Detail(HookDetail::kTellsOfSave)) {
      told_[ListenerMethod::kBeforeSave] = is.index;
      told_[ListenerMethod::kAfterSave] = 0;
      logged_ = false;
    }
    const bool logs = now.Is(EventKind::kWriterCall) &&
                      now.event.call == static_cast<std::uint8_t>(WriterCall::kSessionLog) &&
                      now.event.index == static_cast<std::int32_t>(SessionLogStatus::kCheckpoint);
    if (logs || now.Detail(HookDetail::kSavedBefore)) {
      logged_ = true;
      if (told_[ListenerMethod::kBeforeSave] != is.index)
        Violate({now.call.saves, now.index}, Told(is.index, "before"),
                Told(told_[ListenerMethod::kBeforeSave], "before"));
    }
    const bool writes = now.Is(EventKind::kSessionCall) && now.event.call == static_cast<std::uint8_t>(CallKind::kSave);
    // Listeners may save, too.
    if (writes && logged_ && told_[ListenerMethod::kAfterSave] == 0)
      Violate({now.call.saves, now.index}, "CHECKPOINT is logged after the save", "before");
    if (now.Is(EventKind::kListenerCall)) OnListener(now);
    if (now.Detail(HookDetail::kSaved) && now.ok()) {
      if (is.index > 0) Arm();
      if (told_[ListenerMethod::kAfterSave] != is.index)
        Violate({now.call.saves, now.index}, Told(is.index, "after"), Told(told_[ListenerMethod::kAfterSave], "after"));
    }
    if (now.Detail(HookDetail::kSaved)) logged_ = false;
    if (!now.Is(EventKind::kHookReturn)) return;
    const bool begins = now.run.method == HookMethod::kBegin;
    if (now.ok() && (begins || now.run.method == HookMethod::kEnd)) {
      const int told = told_[begins ? ListenerMethod::kBegin : ListenerMethod::kEnd];
      if (told != is.index) Violate({now.call.at, now.index}, Told(is.index, "of it"), Told(told, "of it"));
    }
    told_.clear();
  }

  void OnListener(const Moment& now) {
    const auto method = static_cast<ListenerMethod>(now.event.call);
    int& told = told_[method];
    if (now.event.index != told)
      Violate({now.call.saves, now.index}, fmt::format("listener {} is told next", told + 1),
              fmt::format("listener {}", now.event.index + 1));
    ++told;
    if (method == ListenerMethod::kAfterSave && !logged_)
      Violate({now.call.saves, now.index}, "CHECKPOINT is logged before", "it is not");
  }
  static std::string Told(int listeners, std::string_view what) {
    return fmt::format("{} listeners are told {}", listeners, what);
  }

  std::map<ListenerMethod, int> told_;
  bool logged_ = false;  // this save
};

constexpr RuleInfo kStopTaken{
    .id = "listener.stop_is_taken",
    .sentence =
        "Where a listener asks for a stop after a save that a run has made due, the hook that saves requests one.",
    .documented = "CheckpointSaverListener.after_save: returns whether the training should stop",
    .observed = "checkpoint_listener_stops",
};
class StopTaken : public HookSaveRule {
 public:
  StopTaken() : HookSaveRule(kStopTaken) {}

 private:
  void OnSaver(const Moment& now, const BuiltIn::Said&) override {
    if (now.Is(EventKind::kListenerCall)) method_ = static_cast<ListenerMethod>(now.event.call);
    if (now.Says(replays::Note::kListenerRequestsStop) && method_ == ListenerMethod::kAfterSave) asked_ = now.index;
    if (!now.Is(EventKind::kHookReturn)) return;
    const std::size_t asked = std::exchange(asked_, kNever);
    if (asked == kNever || !now.HookReturn(HookMethod::kAfterRun) || !now.ok()) return;
    Arm();
    if (now.event.value != 1 && !now.run.round.stop) Violate({asked, now.index}, "a stop", "none");
  }
  ListenerMethod method_ = ListenerMethod::kBegin;  // of a listener, that was called last
  std::size_t asked_ = kNever;                      // for a stop, in this call
};

constexpr RuleInfo kWrites{
    .id = "saver.writes_in_order",
    .sentence =
        "A save runs the save op first, then writes the state file, then deletes what is too much; what fails ends it, "
        "and the state file names what was written as the newest. TensorFlow writes the meta graph last, by default it "
        "comes before the state file.",
    .documented = "Saver.save: returns the path prefix; the state file lists recent checkpoints",
    .observed = "checkpoint_keeps_five training_defaults",
    .of = SpeaksOf::kBoth,
    .details = kSaverDetails,
};
class Writes : public Rule {
 public:
  Writes() : Rule(kWrites) {}
  void OnEvent(const Moment& now) override {
    if (!now.Happens(EventKind::kSaverDetail)) return;
    Save& save = saves_[now.task];
    switch (static_cast<SaverDetail>(now.event.call)) {
      case SaverDetail::kSaves:
        save = {.at = now.index};
        return;
      case SaverDetail::kWritten:
        save.written = {now.index, now.event.code};
        save.prefix = std::string(now.event.subject);
        return;
      case SaverDetail::kLists:
        Arm();
        if (!Done(save.written))
          return Violate({save.at, save.written.at, now.index}, "the save op first", "it has not worked");
        if (now.event.value > 0 && Newest(now.event.subject) != save.prefix)
          Violate({save.written.at, now.index}, save.prefix + " as the newest", Newest(now.event.subject));
        if (now.run.facts().tensorflow && save.meta != kNever)
          Violate({save.meta, now.index}, "the meta graph after the state file", "before it");
        save.listed = {};
        save.lists = true;
        return;
      case SaverDetail::kListed:
        save.listed = {now.index, now.event.code};
        return;
      case SaverDetail::kDeletes:
        if (!Done(save.listed))
          Violate({save.at, save.listed.at, now.index}, "the state file first", "it is not written");
        return;
      case SaverDetail::kWritesMeta:
        if (save.at == kNever) return;  // there was nothing to save
        save.meta = now.index;
        if (!Done(save.written))
          Violate({save.at, save.written.at, now.index}, "the save op first", "it has not worked");
        if (now.run.facts().by_default && save.lists)
          Violate({save.at, now.index}, "the meta graph before the state file", "after it");
        if (now.run.facts().tensorflow && save.lists && !Done(save.listed))
          Violate({save.listed.at, now.index}, "no meta graph of what is not listed", "one");
        return;
    }
  }

 private:
  struct Save {
    std::size_t at = kNever, meta = kNever;
    Seen written, listed;
    bool lists = false;
    std::string prefix;
  };
  static bool Done(const Seen& seen) { return seen && seen.code == Code::kOk; }
  static std::string Newest(std::string_view list) {
    if (!list.empty()) list.remove_suffix(1);
    const std::size_t before = list.rfind('\n');
    return std::string(before == std::string_view::npos ? list : list.substr(before + 1));
  }
  std::map<std::uint32_t, Save> saves_;  // by task
};

constexpr RuleInfo kListLength{
    .id = "keep.list_is_never_too_long",
    .sentence =
        "A saver lists no more checkpoints as kept than it shall keep; in TensorFlow a list that was restored longer "
        "stays as long.",
    .documented = "Saver, max_to_keep: the maximum number of recent checkpoint files to keep",
    .observed = "checkpoint_keeps_five training_defaults",
    .of = SpeaksOf::kBoth,
    .details = kSaverDetails,
};
class ListLength : public Rule {
 public:
  ListLength() : Rule(kListLength) {}
  void OnEvent(const Moment& now) override {
    const bool restores =
        now.event.kind == EventKind::kSessionCall && now.event.call == static_cast<std::uint8_t>(CallKind::kRestore);
    if (restores) longest_.clear();
    if (!now.Saver(SaverDetail::kLists) || now.event.value <= 0) return;
    Arm();
    const std::string_view list = now.event.subject;
    const std::string_view oldest = list.substr(0, list.find('\n'));
    const std::pair key{std::string(oldest.substr(0, oldest.rfind('-'))), now.event.value};
    const auto [longest, is_new] = longest_.emplace(key, now.event.index);
    const bool may_be_longer = !now.run.facts().by_default && (is_new || now.event.index <= longest->second);
    if (now.event.index > now.event.value && !may_be_longer)
      Violate({now.index}, fmt::format("{} at most", now.event.value), fmt::format("{}", now.event.index));
  }

 private:
  std::map<std::pair<std::string, double>, std::int32_t> longest_;  // by path and limit: the first list since a restore
};

constexpr RuleInfo kDeletesOthers{
    .id = "keep.deletes_nothing_that_it_lists",
    .sentence =
        "A saver deletes no checkpoint that it has just listed as kept, and in TensorFlow one at most with each save.",
    .documented = "Saver, max_to_keep: as new files are created, older files are deleted",
    .observed = "checkpoint_keeps_five",
    .of = SpeaksOf::kBoth,
    .details = kSaverDetails,
};
class DeletesOthers : public Rule {
 public:
  DeletesOthers() : Rule(kDeletesOthers) {}
  void OnEvent(const Moment& now) override {
    if (!now.Happens(EventKind::kSaverDetail)) return;
    Save& save = saves_[now.task];
    if (now.Saver(SaverDetail::kSaves)) save = {};
    if (now.Saver(SaverDetail::kLists)) {
      save.listed = now.index;
      save.list = "\n" + std::string(now.event.subject);
    }
    if (!now.Saver(SaverDetail::kDeletes)) return;
    Arm();
    if (save.list.find(fmt::format("\n{}\n", now.event.subject)) != std::string::npos)
      Violate({save.listed, now.index}, "what is listed stays", fmt::format("{} is deleted", now.event.subject));
    if (save.deleted != kNever && now.event.value == 0)
      Violate({save.deleted, now.index}, "one at most is deleted", "two are");
    save.deleted = now.index;
  }

 private:
  struct Save {
    std::size_t listed = kNever, deleted = kNever;
    std::string list;
  };
  std::map<std::uint32_t, Save> saves_;  // by task
};

}  // namespace

std::vector<RuleFactory> SaverRules() {
  return {NewRule<AtCreation>, NewRule<Named>,         NewRule<WhenDue>,    NewRule<AtTheEnd>,
          NewRule<PassedOver>, NewRule<BesideInOrder>, NewRule<FewBeside>,  NewRule<InOrder>,
          NewRule<StopTaken>,  NewRule<Writes>,        NewRule<ListLength>, NewRule<DeletesOthers>};
}

}  // namespace vigil::properties
