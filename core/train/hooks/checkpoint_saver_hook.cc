#include "vigil/core/train/hooks/checkpoint_saver_hook.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/saturating.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/model_mark.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/summary/summary_writer_cache.h"
#include "vigil/core/train/run_events.h"

namespace vigil {
namespace {

// Calls `body`, which calls `method` of one of `listeners`.
template <typename Body>
auto CallListener(const Env& env, const std::vector<CheckpointSaverListenerPtr>& listeners,
                  const CheckpointSaverListenerPtr& listener, ListenerMethod method, std::optional<std::int64_t> step,
                  Body&& body) {
  if (env.events != nullptr) {
    env.events->Emit({.kind = EventKind::kListenerCall,
                      .call = static_cast<std::uint8_t>(method),
                      .has_value = step.has_value(),
                      .index = static_cast<std::int32_t>(&listener - listeners.data()),
                      .value = static_cast<double>(step.value_or(0)),
                      .subject = listener->name()});
  }
  return CallGuarded(std::forward<Body>(body));
}

// What the hooks of a process saved last, by directory: two of them may look after the same one.
struct LastSaves {
  struct Step {
    std::int64_t session = 0;
    std::int64_t step = 0;
    friend bool operator==(const Step&, const Step&) = default;
  };
  struct By {
    const Saver* saver = nullptr;  // only compared
    PendingSavePtr pending;        // null: it was made in place
  };
  struct Saved {
    Step step;
    std::vector<By> savers;
  };
  SpinLock lock;
  std::map<std::string, Saved> by_directory;  // guarded by lock

  // nullopt: there is none, or it has failed.
  std::optional<PendingSavePtr> Find(const std::string& directory, const Step& step, const Saver* saver) {
    const SpinGuard guard(lock);
    const auto it = by_directory.find(directory);
    if (it == by_directory.end() || it->second.step != step) return std::nullopt;
    const auto by = std::ranges::find(it->second.savers, saver, &By::saver);
    if (by == it->second.savers.end()) return std::nullopt;
    if (by->pending != nullptr && by->pending->done() && !by->pending->status().ok()) return std::nullopt;
    return by->pending;
  }
  void Note(const std::string& directory, const Step& step, const Saver* saver, PendingSavePtr pending = nullptr) {
    const SpinGuard guard(lock);
    Saved& saved = by_directory[directory];
    if (saved.step != step) saved = {step, {}};
    std::erase_if(saved.savers, [saver](const By& by) { return by.saver == saver; });
    saved.savers.push_back({saver, std::move(pending)});
  }
};
constexpr SlotKey<LastSaves> kLastSaves{"checkpoint saver hooks: last saves"};

// When it is seen: what the hooks do next may be the last that this process does.
void NoteDivergence(const Env& env, const std::string& directory) {
  const absl::Status status = SetMark(*env.files, directory, ModelMark::kDiverged);
  if (status.ok()) return;
  env.log->Write(Severity::kWarning,
                 fmt::format("That the model has diverged could not be noted in {}: {}. Restart the parameter servers "
                             "before you train on.",
                             directory, MessageOf(status)));
}

}  // namespace

absl::StatusOr<std::shared_ptr<CheckpointSaverHook>> CheckpointSaverHook::Create(const Env& env,
                                                                                 CheckpointSaverHookOptions options) {
  env.log->Write(Severity::kInfo, "Create CheckpointSaverHook.");
  if (options.saver != nullptr && options.scaffold != nullptr) {
    return UsageError("You cannot provide both saver and scaffold.");
  }
  VIGIL_ASSIGN_OR_RETURN(const SecondOrStepTimer timer,
                         SecondOrStepTimer::Create(env, {options.save_secs, options.save_steps}));
  return std::shared_ptr<CheckpointSaverHook>(new CheckpointSaverHook(env, std::move(options), timer));
}

CheckpointSaverHook::CheckpointSaverHook(const Env& env, CheckpointSaverHookOptions options, SecondOrStepTimer timer)
    : env_(env),
      options_(std::move(options)),
      save_path_(JoinPath(options_.checkpoint_dir, options_.checkpoint_basename)),
      timer_(timer) {}

absl::Status CheckpointSaverHook::Begin(BeginContext& context) {
  graph_ = &context.graph;
  writer_ = GetCachedWriter(env_, options_.checkpoint_dir, graph_, options_.behaviour);
  EmitHookDetail(env_.events, HookDetail::kSavesCheckpoints, std::nullopt,
                 static_cast<std::int32_t>(options_.listeners.size()));
  timer_.TellPeriod();
  handed_over_.clear();
  failed_step_.reset();
  VIGIL_RETURN_IF_ERROR(step_.Init(context, "CheckpointSaverHook"));
  for (const CheckpointSaverListenerPtr& listener : options_.listeners) {
    VIGIL_RETURN_IF_ERROR(CallListener(env_, options_.listeners, listener, ListenerMethod::kBegin, std::nullopt,
                                       [&] { return listener->Begin(context); }));
  }
  return absl::OkStatus();
}

absl::Status CheckpointSaverHook::AfterCreateSession(const std::shared_ptr<Session>& session,
                                                     const std::shared_ptr<Coordinator>& coord) {
  coord_ = coord;
  if (coord_ != nullptr && options_.in_cluster && options_.behaviour.join_live_model &&
      options_.behaviour.nan_stop_saves_nothing) {
    coord_->OnDiverged([env = env_, directory = options_.checkpoint_dir] { NoteDivergence(env, directory); });
  }
  if (options_.async_saves) {
    VIGIL_RETURN_IF_ERROR(FinishSaves(session.get()));  // of the session before
    failed_step_.reset();                               // this one begins with a save
    VIGIL_ASSIGN_OR_RETURN(Saver* const saver, GetSaver());
    if (coord_ != nullptr) coord_->Register(saver->SavesBeside("saving beside the training into " + save_path_));
  }
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t step, step_.Read(session.get()));
  // Only here, not in Begin: until then other hooks may still change the graph.
  if (options_.save_graph_def) {
    VIGIL_RETURN_IF_ERROR(WriteGraphText(env_, *graph_, options_.checkpoint_dir, "graph.pbtxt").status());
  }
  VIGIL_RETURN_IF_ERROR(GetSaver().status());
  VIGIL_RETURN_IF_ERROR(writer_->AddGraph(*graph_));
  VIGIL_RETURN_IF_ERROR(writer_->AddMetaGraph(*graph_));
  // What listeners think of a stop does not count here.
  VIGIL_RETURN_IF_ERROR(Save(*session, step, HowToSave()).status());
  timer_.UpdateLastTriggeredStep(step);
  return absl::OkStatus();
}

absl::Status CheckpointSaverHook::BeforeRun(RunContext&, RunArgs& args) {
  args.fetches = step_.fetches();
  return absl::OkStatus();
}

absl::Status CheckpointSaverHook::AfterRun(RunContext& context, const RunValues& values) {
  VIGIL_ASSIGN_OR_RETURN(const bool stop_for_earlier, TellOfWritten(context.session()));
  if (stop_for_earlier) context.RequestStop();
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t stale, StepOf(values.results.tensor()));
  if (!timer_.ShouldTriggerForStep(SaturatingAdd(stale, steps_per_run_))) return absl::OkStatus();
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t step, step_.Read(&context.session()));
  if (!timer_.ShouldTriggerForStep(step)) {
    if (step == timer_.last_triggered_step()) WarnOfFrozenStep(step);
    return absl::OkStatus();
  }
  if (KeepsNothing(step)) return absl::OkStatus();
  timer_.UpdateLastTriggeredStep(step);
  VIGIL_ASSIGN_OR_RETURN(const bool stop, Save(context.session(), step, HowToSave()));
  if (stop) context.RequestStop();
  return absl::OkStatus();
}

absl::Status CheckpointSaverHook::End(Session* session) {
  const absl::Status earlier = FinishSaves(session);
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t step, step_.Read(session));
  if ((step != timer_.last_triggered_step() || step == failed_step_) && !KeepsNothing(step)) {
    VIGIL_RETURN_IF_ERROR(Save(*session, step).status());
  }
  VIGIL_RETURN_IF_ERROR(earlier);
  for (const CheckpointSaverListenerPtr& listener : options_.listeners) {
    VIGIL_RETURN_IF_ERROR(CallListener(env_, options_.listeners, listener, ListenerMethod::kEnd, step,
                                       [&] { return listener->End(*session, step); }));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> CheckpointSaverHook::Save(Session& session, std::int64_t step, How how) {
  EmitHookDetail(env_.events, HookDetail::kSaves, static_cast<double>(step));
  if (how == How::kBeside) {
    const absl::Status handed_over = HandOver(session, step);
    if (handed_over.ok()) return TellOfWritten(session);
    EmitHookDetail(env_.events, HookDetail::kSaved, static_cast<double>(step), -1, CodeOf(handed_over));
    return handed_over;
  }
  absl::StatusOr<bool> stop = SaveAndTell(session, step);
  EmitHookDetail(env_.events, HookDetail::kSaved, static_cast<double>(step), -1, CodeOf(stop.status()));
  return stop;
}

absl::StatusOr<bool> CheckpointSaverHook::SaveAndTell(Session& session, std::int64_t step) {
  VIGIL_RETURN_IF_ERROR(TellBefore(session, step));
  VIGIL_RETURN_IF_ERROR(WriteCheckpoint(session, step));
  return TellAfter(session, step);
}

absl::Status CheckpointSaverHook::TellBefore(Session& session, std::int64_t step) {
  env_.log->Write(Severity::kInfo, fmt::format("Calling checkpoint listeners before saving checkpoint {}...", step));
  for (const CheckpointSaverListenerPtr& listener : options_.listeners) {
    VIGIL_RETURN_IF_ERROR(CallListener(env_, options_.listeners, listener, ListenerMethod::kBeforeSave, step,
                                       [&] { return listener->BeforeSave(session, step); }));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> CheckpointSaverHook::TellAfter(Session& session, std::int64_t step) {
  Log& log = *env_.log;
  log.Write(Severity::kInfo, fmt::format("Calling checkpoint listeners after saving checkpoint {}...", step));
  bool should_stop = false;
  for (const CheckpointSaverListenerPtr& listener : options_.listeners) {
    VIGIL_ASSIGN_OR_RETURN(const bool stop, CallListener(env_, options_.listeners, listener, ListenerMethod::kAfterSave,
                                                         step, [&] { return listener->AfterSave(session, step); }));
    if (!stop) continue;
    log.Write(Severity::kInfo, fmt::format("A CheckpointSaverListener requested that training be stopped. listener: {}",
                                           listener->name()));
    should_stop = true;
  }
  return should_stop;
}

absl::Status CheckpointSaverHook::WriteCheckpoint(Session& session, std::int64_t step) {
  VIGIL_ASSIGN_OR_RETURN(Saver* const saver, GetSaver());
  LastSaves& last = env_.process->Slot(kLastSaves);
  const LastSaves::Step mine{.session = session.number(), .step = step};
  saver->WaitForSaves();  // another hook's save of this step may be one of them
  if (options_.behaviour.one_save_a_step && last.Find(options_.checkpoint_dir, mine, saver).has_value()) {
    NoteSavedBefore(step);
    return absl::OkStatus();
  }
  env_.log->Write(Severity::kInfo, fmt::format("Saving checkpoints for {} into {}.", step, save_path_));
  const SaveOptions how{.latest_filename = state_file_, .write_meta_graph = options_.save_graph_def};
  VIGIL_RETURN_IF_ERROR(saver->Save(session, save_path_, step, how).status());
  last.Note(options_.checkpoint_dir, mine, saver);
  return writer_->AddSessionLog(SessionLogStatus::kCheckpoint, step, save_path_);
}

absl::Status CheckpointSaverHook::HandOver(Session& session, std::int64_t step) {
  VIGIL_RETURN_IF_ERROR(TellBefore(session, step));
  VIGIL_ASSIGN_OR_RETURN(Saver* const saver, GetSaver());
  LastSaves& last = env_.process->Slot(kLastSaves);
  const LastSaves::Step mine{.session = session.number(), .step = step};
  std::optional<PendingSavePtr> others;
  if (options_.behaviour.one_save_a_step) others = last.Find(options_.checkpoint_dir, mine, saver);
  if (others.has_value()) {
    handed_over_.push_back({.step = step, .save = *std::move(others), .is_ours = false});
  } else {
    env_.log->Write(Severity::kInfo,
                    fmt::format("Saving checkpoints for {} into {} beside the training.", step, save_path_));
    const SaveOptions how{.latest_filename = state_file_, .write_meta_graph = options_.save_graph_def};
    VIGIL_ASSIGN_OR_RETURN(PendingSavePtr save, saver->SaveBeside(session, save_path_, step, how));
    last.Note(options_.checkpoint_dir, mine, saver, save);
    handed_over_.push_back({.step = step, .save = std::move(save)});
  }
  EmitHookDetail(env_.events, HookDetail::kSavesBeside, static_cast<double>(step));
  return absl::OkStatus();
}

void CheckpointSaverHook::NoteSavedBefore(std::int64_t step) {
  EmitHookDetail(env_.events, HookDetail::kSavedBefore, static_cast<double>(step));
  env_.log->Write(Severity::kInfo, fmt::format("Step {} is in {} already: another hook of this session saved it.", step,
                                               options_.checkpoint_dir));
}

absl::StatusOr<bool> CheckpointSaverHook::TellOfWritten(Session& session) {
  bool should_stop = false;
  while (!handed_over_.empty()) {
    if (const PendingSave* save = handed_over_.front().save.get(); save != nullptr && !save->done()) break;
    const HandedOver saved = std::move(handed_over_.front());
    handed_over_.pop_front();
    VIGIL_ASSIGN_OR_RETURN(const bool stop, TellOf(session, saved));
    should_stop = should_stop || stop;
  }
  return should_stop;
}

absl::StatusOr<bool> CheckpointSaverHook::TellOf(Session& session, const HandedOver& saved) {
  EmitHookDetail(env_.events, HookDetail::kTellsOfSave, static_cast<double>(saved.step));
  const auto tell = [&]() -> absl::StatusOr<bool> {
    if (saved.save != nullptr && !saved.save->status().ok()) {
      failed_step_ = saved.step;
      return saved.save->status();
    }
    if (failed_step_ == saved.step) failed_step_.reset();
    if (saved.is_ours) {
      VIGIL_RETURN_IF_ERROR(writer_->AddSessionLog(SessionLogStatus::kCheckpoint, saved.step, save_path_));
    } else {
      NoteSavedBefore(saved.step);
    }
    return TellAfter(session, saved.step);
  };
  absl::StatusOr<bool> stop = tell();
  EmitHookDetail(env_.events, HookDetail::kSaved, static_cast<double>(saved.step), -1, CodeOf(stop.status()));
  return stop;
}

absl::Status CheckpointSaverHook::FinishSaves(Session* session) {
  if (handed_over_.empty()) return absl::OkStatus();
  VIGIL_ASSIGN_OR_RETURN(Saver* const saver, GetSaver());
  saver->WaitForSaves();
  absl::Status first;
  while (session != nullptr && !handed_over_.empty()) {
    if (const absl::Status told = TellOfWritten(*session).status(); first.ok()) first = told;
  }
  return first;
}

bool CheckpointSaverHook::KeepsNothing(std::int64_t step) {
  if (!options_.behaviour.nan_stop_saves_nothing || coord_ == nullptr || !coord_->diverged()) return false;
  EmitHookDetail(env_.events, HookDetail::kKeepsNothing, static_cast<double>(step));
  env_.log->Write(Severity::kWarning,
                  fmt::format("The model has diverged: step {} is not saved into {}.", step, options_.checkpoint_dir));
  return true;
}

// Once for each period that passes without a save.
void CheckpointSaverHook::WarnOfFrozenStep(std::int64_t step) {
  if (!options_.behaviour.warn_frozen_saver || !options_.save_secs.has_value()) return;
  const Time now = env_.clock->Monotonic();
  const Time since = std::max(timer_.last_trigger_time().value_or(now), last_frozen_warning_.value_or(Time{}));
  if (now - since < *options_.save_secs) return;
  last_frozen_warning_ = now;
  env_.log->Write(
      Severity::kWarning,
      fmt::format("Nothing is saved into {} as the global step has stood at {} since the last checkpoint. If it should "
                  "move, pass tf.train.get_global_step() to Optimizer.apply_gradients or Optimizer.minimize.",
                  options_.checkpoint_dir, step));
}

absl::StatusOr<Saver*> CheckpointSaverHook::GetSaver() {
  if (options_.scaffold != nullptr) {
    if (options_.scaffold->saver() == nullptr) {
      return UsageError(
          "CheckpointSaverHook needs its scaffold's saver, which is made when the scaffold is finalized.");
    }
    return options_.scaffold->saver().get();
  }
  if (options_.saver == nullptr) {
    const std::vector<SaverPtr>& savers = graph_->Collection(kSavers);
    if (savers.empty()) {
      return UsageError(
          fmt::format("No items in collection {}. Please add a saver to the collection or provide a saver or scaffold.",
                      kSavers.name));
    }
    if (savers.size() > 1) {
      return UsageError(fmt::format(
          "More than one item in collection {}. Please indicate which one to use by passing it to the constructor.",
          kSavers.name));
    }
    options_.saver = savers.front();
  }
  return options_.saver.get();
}

}  // namespace vigil
