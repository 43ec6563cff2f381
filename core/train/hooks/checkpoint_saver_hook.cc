#include "vigil/core/train/hooks/checkpoint_saver_hook.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/saturating.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/base/status_macros.h"
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
  struct Saved {
    Step step;
    std::vector<const Saver*> savers;  // only compared
  };
  SpinLock lock;
  std::map<std::string, Saved> by_directory;  // guarded by lock

  bool Has(const std::string& directory, const Step& step, const Saver* saver) {
    const SpinGuard guard(lock);
    const auto it = by_directory.find(directory);
    return it != by_directory.end() && it->second.step == step && std::ranges::count(it->second.savers, saver) != 0;
  }
  void Note(const std::string& directory, const Step& step, const Saver* saver) {
    const SpinGuard guard(lock);
    Saved& saved = by_directory[directory];
    if (saved.step != step) saved = {step, {}};
    saved.savers.push_back(saver);
  }
};
constexpr SlotKey<LastSaves> kLastSaves{"checkpoint saver hooks: last saves"};

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
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t step, step_.Read(session.get()));
  // Only here, not in Begin: until then other hooks may still change the graph.
  if (options_.save_graph_def) {
    VIGIL_RETURN_IF_ERROR(WriteGraphText(env_, *graph_, options_.checkpoint_dir, "graph.pbtxt").status());
  }
  VIGIL_RETURN_IF_ERROR(GetSaver().status());
  VIGIL_RETURN_IF_ERROR(writer_->AddGraph(*graph_));
  VIGIL_RETURN_IF_ERROR(writer_->AddMetaGraph(*graph_));
  VIGIL_RETURN_IF_ERROR(Save(*session, step).status());  // what listeners think of a stop does not count here
  timer_.UpdateLastTriggeredStep(step);
  return absl::OkStatus();
}

absl::Status CheckpointSaverHook::BeforeRun(RunContext&, RunArgs& args) {
  args.fetches = step_.fetches();
  return absl::OkStatus();
}

absl::Status CheckpointSaverHook::AfterRun(RunContext& context, const RunValues& values) {
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t stale, StepOf(values.results.tensor()));
  if (!timer_.ShouldTriggerForStep(SaturatingAdd(stale, steps_per_run_))) return absl::OkStatus();
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t step, step_.Read(&context.session()));
  if (!timer_.ShouldTriggerForStep(step)) {
    if (step == timer_.last_triggered_step()) WarnOfFrozenStep(step);
    return absl::OkStatus();
  }
  if (KeepsNothing(step)) return absl::OkStatus();
  timer_.UpdateLastTriggeredStep(step);
  VIGIL_ASSIGN_OR_RETURN(const bool stop, Save(context.session(), step));
  if (stop) context.RequestStop();
  return absl::OkStatus();
}

absl::Status CheckpointSaverHook::End(Session* session) {
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t step, step_.Read(session));
  if (step != timer_.last_triggered_step() && !KeepsNothing(step)) {
    VIGIL_RETURN_IF_ERROR(Save(*session, step).status());
  }
  for (const CheckpointSaverListenerPtr& listener : options_.listeners) {
    VIGIL_RETURN_IF_ERROR(CallListener(env_, options_.listeners, listener, ListenerMethod::kEnd, step,
                                       [&] { return listener->End(*session, step); }));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> CheckpointSaverHook::Save(Session& session, std::int64_t step) {
  EmitHookDetail(env_.events, HookDetail::kSaves, static_cast<double>(step));
  absl::StatusOr<bool> stop = SaveAndTell(session, step);
  EmitHookDetail(env_.events, HookDetail::kSaved, static_cast<double>(step), -1, CodeOf(stop.status()));
  return stop;
}

absl::StatusOr<bool> CheckpointSaverHook::SaveAndTell(Session& session, std::int64_t step) {
  Log& log = *env_.log;
  log.Write(Severity::kInfo, fmt::format("Calling checkpoint listeners before saving checkpoint {}...", step));
  for (const CheckpointSaverListenerPtr& listener : options_.listeners) {
    VIGIL_RETURN_IF_ERROR(CallListener(env_, options_.listeners, listener, ListenerMethod::kBeforeSave, step,
                                       [&] { return listener->BeforeSave(session, step); }));
  }
  VIGIL_RETURN_IF_ERROR(WriteCheckpoint(session, step));
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
  if (options_.behaviour.one_save_a_step && last.Has(options_.checkpoint_dir, mine, saver)) {
    EmitHookDetail(env_.events, HookDetail::kSavedBefore, static_cast<double>(step));
    env_.log->Write(Severity::kInfo, fmt::format("Step {} is in {} already: another hook of this session saved it.",
                                                 step, options_.checkpoint_dir));
    return absl::OkStatus();
  }
  env_.log->Write(Severity::kInfo, fmt::format("Saving checkpoints for {} into {}.", step, save_path_));
  const SaveOptions how{.latest_filename = state_file_, .write_meta_graph = options_.save_graph_def};
  VIGIL_RETURN_IF_ERROR(saver->Save(session, save_path_, step, how).status());
  last.Note(options_.checkpoint_dir, mine, saver);
  return writer_->AddSessionLog(SessionLogStatus::kCheckpoint, step, save_path_);
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
