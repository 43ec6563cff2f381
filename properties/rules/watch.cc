#include "vigil/properties/rules/watch.h"

#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/replays/stage/notes.h"

namespace vigil::properties {

namespace {

// By ours only what a run returned, or a step function asked for, ends a training cleanly.
bool LeavesClean(const Event& close, const RunFacts& facts) {
  if (close.code == Code::kOk) return true;
  if (close.code != Code::kOutOfRange && close.code != Code::kStopIteration) return false;
  return facts.any_clean_end || close.subject == kOriginRun || close.subject == kOriginStepFn;
}

}  // namespace

void Watch::Failed(const Event& event, std::size_t index) {
  if (event.code != Code::kOk) failure = {index, event.code};
}

// The newest session is complete once it is ready, its queue runners run and every hook knows it.
void Watch::CheckLive() {
  if (ready && (queue_started_ || !facts_.queue) && after_created >= hooks() && attempt.code == Code::kOk) live = true;
}

void CallOfHook::Update(const Event& event, std::size_t index, bool in_hook) {
  if (event.kind == EventKind::kHookCall) {
    asked.clear();
    *this = {.at = index, .has_value = event.has_value, .value = event.value, .asked = std::move(asked)};
  } else if (event.kind == EventKind::kSessionCall) {
    if (!in_hook || event.code != Code::kOk || static_cast<CallKind>(event.call) != CallKind::kReadStep) return;
    read = index;
    step = event.value;
  } else if (event.kind == EventKind::kHookDetail) {
    switch (static_cast<HookDetail>(event.call)) {
      case HookDetail::kTimerAsked:
        asked.push_back({index, event.value, event.index == 1});
        return;
      case HookDetail::kTimerSet:
        set = index;
        set_to = event.value;
        return;
      case HookDetail::kSaves:
        saves = index;
        saves_step = event.value;
        return;
      case HookDetail::kKeepsNothing:
        keeps_nothing = true;
        return;
      default:
        return;
    }
  }
}

const BuiltIn::Said* Watch::HookThat(std::int32_t number, HookDetail is) const {
  const auto found = built_in_.find(number);
  // One that counts periods of several timers, or is several hooks in one, cannot be told apart.
  if (found == built_in_.end() || found->second.twice) return nullptr;
  const BuiltIn::Said& said = found->second.As(is);
  return said.at == kNever ? nullptr : &said;
}

Seen Watch::StoredBy(std::int64_t coordinator_of) const {
  const auto found = stored_.find(coordinator_of);
  return found == stored_.end() ? Seen{} : found->second;
}

// What a hook says of itself in one call.
void Watch::OnDetail(const Event& event, std::size_t index) {
  const auto what = static_cast<HookDetail>(event.call);
  if (!in_hook || what > HookDetail::kEverySeconds) return;
  BuiltIn& of = built_in_[hook];
  BuiltIn::Said& said = of.said[static_cast<std::size_t>(what)];
  said = {index, event.value, event.index, said.times + 1};
  of.twice = of.twice || said.times > 1;
}

void Watch::OnHook(const Event& event, std::size_t index) {
  const auto called = static_cast<HookMethod>(event.call);
  if (event.kind == EventKind::kHookCall) {
    in_hook = true;
    hook = event.index;
    method = called;
    const bool tells = called == HookMethod::kBegin || called == HookMethod::kAfterCreateSession;
    if (tells) {
      BuiltIn& of = built_in_[hook];
      for (BuiltIn::Said& said : of.said) said.times = 0;
      of.twice = false;
    }
    const bool starts = event.index == 0 || round.over || round.run || round.failed;
    if (called == HookMethod::kBeforeRun && starts) round = {.session = event.session, .over = false};
    return;
  }
  in_hook = false;
  Failed(event, index);
  const bool ok = event.code == Code::kOk;
  switch (called) {
    case HookMethod::kBegin:
      begun += ok ? 1 : 0;
      return;
    case HookMethod::kAfterCreateSession:
      after_created += ok ? 1 : 0;
      CheckLive();
      return;
    case HookMethod::kBeforeRun:
    case HookMethod::kAfterRun:
      (called == HookMethod::kBeforeRun ? round.before : round.after) += ok ? 1 : 0;
      if (!ok) round.failed = {index, event.code};
      return;
    case HookMethod::kEnd:
      return;
  }
}

void Watch::OnSessionCall(const Event& event, std::size_t index) {
  const auto kind = static_cast<CallKind>(event.call);
  if (kind == CallKind::kClose) {
    if (event.session == session) live = false;
    return;
  }
  if (told_to_end && joined_ && facts_.supervisor && event.code != Code::kOk) last_save = {index, event.code};
  const bool asks = kind == CallKind::kReady || kind == CallKind::kReadyForLocalInit;
  // An op may say "no" by failing.
  const bool says_no =
      asks && (event.code == Code::kOk ? event.value == 0 : event.code == Code::kFailedPrecondition && event.has_value);
  if (says_no) not_ready = {index, event.code};
  if (!says_no) Failed(event, index);
  if (kind == CallKind::kRestore) OnRestore(event, index);
  if (kind == CallKind::kReady && event.session == session && event.code == Code::kOk && event.value != 0) {
    ready = true;
    asked_to_stop = {};
    stopped_from_elsewhere = false;
    CheckLive();
  }
  if (kind != CallKind::kRun || in_hook) return;
  if (hooks() == 0 || round.over) round = {.over = false};
  round.run = {index, event.code};
  round.session = event.session;
  if (event.code != Code::kOk) round.failed = round.run;
}

// By ours a damaged checkpoint gives way to the one before it: what it failed with comes to nothing.
void Watch::OnRestore(const Event& event, std::size_t index) {
  if (event.code != Code::kOk) {
    restore_failed_ = index;
  } else if (!facts_.tensorflow && failure.at == restore_failed_) {
    failure = {};
  }
}

void Watch::OnStopRequest(const Event& event, std::size_t index, bool on_main) {
  if (event.code != Code::kOk) reported.insert(event.code);
  if (!on_main) {
    stopped_from_elsewhere = true;
  } else if (!asked_to_stop) {
    asked_to_stop = {index, event.code};
  }
}

void Watch::OnPhase(const Event& event, std::size_t index) {
  round.over = true;
  switch (event.kind) {
    case EventKind::kRunStart:
      phase = event.call == 0 ? Phase::kRun : Phase::kStep;
      phase_start = {index, event.code};
      failure = {};
      return;
    case EventKind::kCloseStart:
      phase = Phase::kClose;
      left_clean = LeavesClean(event, facts_);
      phase_start = {index, event.code};
      failure = {};
      return;
    case EventKind::kCloseEnd:
      if (!closed) closed = {index, event.code};
      live = false;
      sticky_stop = {};
      break;
    default:
      break;
  }
  phase = Phase::kBetween;
}

void Watch::OnNote(const Event& event, std::size_t index) {
  using replays::Note;
  const auto note = static_cast<Note>(event.call);
  if (note == Note::kSigterm) told_to_end = {index, Code::kOk};
  if (note == Note::kStepRaises) failure = {index, event.code};
  if (note == Note::kStepRequestsStop) failure = {index, Code::kStopIteration};
}

void Watch::OnCoordinator(const Event& event, std::size_t index) {
  const auto what = static_cast<CoordinatorDetail>(event.call);
  if (what == CoordinatorDetail::kStored) stored_[event.session] = {index, event.code};
  if (what == CoordinatorDetail::kCleared) stored_.erase(event.session);
}

void Watch::OnSessionCreated(const Event& event, std::size_t index) {
  session = event.session;
  session_at = index;
  ready = queue_started_ = live = joined_ = false;
  not_ready = {};
  after_created = 0;
  attempt = {index, event.code};
  CheckLive();
}

void Watch::Update(const sim::TraceRecord& record, std::size_t index, bool on_main) {
  const Event& event = record.event;
  if (event.kind == EventKind::kCoordinatorRequestStop) return OnStopRequest(event, index, on_main);
  if (event.kind == EventKind::kCoordinatorDetail) return OnCoordinator(event, index);
  if (!on_main) return;
  switch (event.kind) {
    case EventKind::kHookCall:
    case EventKind::kHookReturn:
      OnHook(event, index);
      break;
    case EventKind::kHookDetail:
      OnDetail(event, index);
      break;
    case EventKind::kHookRequestsStop:
      if (!round.stop) round.stop = {index, event.code};
      break;
    case EventKind::kGraphFinalized:
      finalized = {index, event.code};
      break;
    case EventKind::kGraphUnfinalized:
      finalized = {};
      break;
    case EventKind::kSessionCreated:
      OnSessionCreated(event, index);
      break;
    case EventKind::kSessionCreateFailed:
      attempt = {index, event.code};
      Failed(event, index);
      break;
    case EventKind::kSessionCall:
      OnSessionCall(event, index);
      break;
    case EventKind::kInitFn:
      Failed(event, index);
      break;
    case EventKind::kQueueRunners:
      queue_started_ = event.code == Code::kOk;
      Failed(event, index);
      CheckLive();
      break;
    case EventKind::kRecovery:
      recovery = {index, event.code};
      live = false;
      sticky_stop = failure = {};
      round.over = true;
      break;
    case EventKind::kCoordinatorJoin:
      joined_ = true;
      break;
    case EventKind::kShouldStop:
      if (phase == Phase::kConstructing) phase = Phase::kBetween;
      break;
    case EventKind::kRunStart:
    case EventKind::kRunEnd:
    case EventKind::kCloseStart:
    case EventKind::kCloseEnd:
      OnPhase(event, index);
      break;
    case EventKind::kConstructed:
      constructed = {index, event.code};
      break;
    case EventKind::kNote:
      OnNote(event, index);
      break;
    default:  // tells the rules nothing
      break;
  }
  const bool went_well = !round.over && round.run && round.run.code == Code::kOk && round.after == hooks();
  if (went_well && round.stop && !sticky_stop) sticky_stop = round.stop;
}

}  // namespace vigil::properties
