#include "vigil/properties/model/session_layers.h"

#include <algorithm>
#include <utility>

namespace vigil::properties::model {

SessionModel::SessionModel(World& world, std::vector<std::unique_ptr<Hook>> hooks, double max_wait_secs)
    : world_(world),
      recovers_(world.scenario().session.kind != replays::SessionKind::kSingular),
      max_wait_secs_(max_wait_secs),
      hooks_(std::move(hooks)) {}

Code SessionModel::Construct() {
  for (const std::unique_ptr<Hook>& hook : hooks_) {
    if (const Code code = hook->Begin(); code != Code::kOk) return code;
  }
  attempts_since_ = world_.clock();
  const Code code = recovers_ ? CreateUntilItWorks() : CreateCoordinated(session_);
  open_ = code == Code::kOk;
  return code;
}

// --- Runs ---

Code SessionModel::Run(RunRequest& request, RunAnswer& answer) {
  from_a_run_ = false;
  if (!open_) return Code::kUsage;
  const Code code = RunRecovering([&] { return RunCoordinated(request, answer); });
  SettleStop();
  return code;
}

void SessionModel::SettleStop() {
  stop_requested_ = stop_requested_ || stop_pending_;
  stop_pending_ = false;
}

Code SessionModel::RunStepFunction(const StepFunction& function) {
  from_a_run_ = false;
  if (!open_) return Code::kUsage;
  // TensorFlow looks the raw session up once: after a recovery the function still gets the old one.
  const RawSessionPtr at_start = raw_;
  const Code code = RunRecovering([&] {
    StepContext context{
        .session = world_.behaviour().step_fn_sees_new_session ? raw_ : at_start,
        .run_with_hooks = [this](RunRequest& request, RunAnswer& answer) { return RunCoordinated(request, answer); }};
    const Code end = function(context);
    if (context.stop && world_.behaviour().step_fn_stop_is_kept) stop_requested_ = true;
    return end;
  });
  SettleStop();
  return code;
}

Code SessionModel::RunRecovering(const std::function<Code()>& attempt) {
  if (!recovers_) return attempt();
  while (!world_.over()) {
    if (session_ == nullptr) {
      if (const Code code = CreateUntilItWorks(); code != Code::kOk) return code;
    }
    const Code code = attempt();
    if (code == Code::kOk) Completed();
    if (!IsPreemptionError(code)) return code;
    if (const Code given_up = GiveUp(); given_up != Code::kOk) return given_up;
  }
  return Code::kInternal;
}

// What the coordinator holds comes out of the close and defeats the recovery.
Code SessionModel::GiveUp() {
  from_a_run_ = false;
  if (world_.behaviour().stop_survives_recovery && session_ != nullptr && session_->coord->should_stop() &&
      session_->coord->stored() == Code::kOk) {
    stop_pending_ = true;
  }
  if (const Code closed = CloseRecoverable(); closed != Code::kOk) return closed;
  return PauseBeforeNextAttempt();
}

Code SessionModel::RunCoordinated(RunRequest& request, RunAnswer& answer) {
  const Code code = RunHooked(request, answer);
  if (code == Code::kOk || IsPreemptionError(code)) return code;
  const Code root_cause = session_->coord->stored();
  return IsPreemptionError(root_cause) ? root_cause : code;
}

Code SessionModel::RunHooked(RunRequest& request, RunAnswer& answer) {
  if (stop_requested_) return Code::kUsage;
  RunContext context{.session = session_->raw};
  context.caller_trains = !request.fetch.has_value() || FetchTrains(*request.fetch, world_.scenario().model);
  const Code code = RunOnce(request, answer, context);
  if (context.stop && code == Code::kOk) stop_requested_ = true;
  if (context.stop && code != Code::kOk && world_.behaviour().stop_survives_recovery) stop_pending_ = true;
  return code;
}

Code SessionModel::RunOnce(RunRequest& request, RunAnswer& answer, RunContext& context) {
  std::optional<std::int64_t> feed = request.feed;
  std::vector<HookRequest> requests(hooks_.size());
  // Of a caller who gave none, nothing is kept for the next attempt.
  RunOptions own;
  RunOptions& options = request.options.has_value() ? *request.options : own;
  const Code before = CallBeforeRun(context, request, feed, options, requests);
  if (before != Code::kOk) return before;
  std::vector<HookResult> results(hooks_.size());
  if (const Code code = RunRaw(request, feed, requests, results, answer); code != Code::kOk) {
    from_a_run_ = true;
    return code;
  }
  answer.traced = IsTraced(options, world_.scenario().session.shared_state);
  for (HookResult& result : results) result.options = options;
  for (std::size_t i = 0; i < hooks_.size(); ++i) hooks_[i]->Inspect(results[i]);
  for (std::size_t i = 0; i < hooks_.size(); ++i) {
    if (const Code code = hooks_[i]->AfterRun(context, results[i]); code != Code::kOk) return code;
  }
  return Code::kOk;
}

Code SessionModel::CallBeforeRun(RunContext& context, const RunRequest& request, std::optional<std::int64_t>& feed,
                                 RunOptions& options, std::vector<HookRequest>& requests) {
  std::optional<std::int64_t> hook_feed;
  for (std::size_t i = 0; i < hooks_.size(); ++i) {
    if (const Code code = hooks_[i]->BeforeRun(context, requests[i]); code != Code::kOk) return code;
    if (requests[i].feed.has_value()) {
      if (hook_feed.has_value()) return Code::kUsage;  // two hooks feed the same
      hook_feed = requests[i].feed;
    }
    if (requests[i].options.has_value()) MergeRunOptions(*requests[i].options, options);  // kept if a later hook fails
  }
  if (hook_feed.has_value() && request.feed.has_value()) return Code::kUsage;  // a hook and the caller do
  if (hook_feed.has_value()) feed = hook_feed;
  return Code::kOk;
}

Code SessionModel::RunRaw(const RunRequest& request, std::optional<std::int64_t> feed,
                          const std::vector<HookRequest>& requests, std::vector<HookResult>& results,
                          RunAnswer& answer) {
  const Scenario& scenario = world_.scenario();
  Variables& variables = *session_->raw->variables;
  RunValues values{.fed = feed.value_or(0), .base = scenario.init_feed.value_or(0)};
  const Code code = world_.Call(*session_->raw, FaultPoint::kRun, [&] {
    if (!AllInGraph(request, requests)) return Code::kUsage;
    values.before = variables.step;
    return AnyOneTrains(request, requests) ? world_.Train(*session_->raw) : Code::kOk;
  });
  if (code != Code::kOk) return code;
  values.after = variables.step;
  values.loss = LossAt(world_, variables.step);
  answer.step = values.after;
  answer.fed = values.fed;
  if (request.fetch.has_value()) answer.text = FetchedText(*request.fetch, values);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    for (const Value what : requests[i].fetches) {
      results[i].values.push_back(what == Value::kStep  ? static_cast<double>(values.before)
                                  : what == Value::kFed ? static_cast<double>(values.fed)
                                                        : values.loss);
    }
    if (!requests[i].tree.has_value()) continue;
    results[i].number = FetchedNumber(*requests[i].tree, values);
    results[i].text = FetchedText(*requests[i].tree, values);
  }
  return Code::kOk;
}

// The caller's own fetches do; so does whoever looks at a loss that depends on the training step.
bool SessionModel::AnyOneTrains(const RunRequest& request, const std::vector<HookRequest>& requests) const {
  const replays::ModelSpec& model = world_.scenario().model;
  if (!request.fetch.has_value() || FetchTrains(*request.fetch, model)) return true;
  return std::any_of(requests.begin(), requests.end(), [&model](const HookRequest& asked) {
    const bool loss = std::any_of(asked.fetches.begin(), asked.fetches.end(),
                                  [](Value what) { return what == Value::kLoss || what == Value::kSummary; });
    return (loss && LossTrains(model)) || (asked.tree.has_value() && FetchTrains(*asked.tree, model));
  });
}

bool SessionModel::AllInGraph(const RunRequest& request, const std::vector<HookRequest>& requests) const {
  const replays::ModelSpec& model = world_.scenario().model;
  if (request.fetch.has_value() && !IsInGraph(*request.fetch, model)) return false;
  return std::all_of(requests.begin(), requests.end(), [&model](const HookRequest& asked) {
    return !asked.tree.has_value() || IsInGraph(*asked.tree, model);
  });
}

// --- Stopping ---

StopAnswer SessionModel::AskCoordinated() {
  if (const Code stored = session_->coord->stored(); stored != Code::kOk) return {.code = stored};
  return {.yes = session_->coord->should_stop()};
}

StopAnswer SessionModel::AskChain() {
  const StopAnswer answer = AskCoordinated();
  if (answer.code != Code::kOk || answer.yes) return answer;
  return {.yes = stop_requested_};
}

StopAnswer SessionModel::ShouldStop() {
  from_a_run_ = false;
  if (!open_ || world_.told_to_end()) return {.yes = true};
  StopAnswer answer = AskLayers();
  if (answer.code == Code::kOk && world_.told_to_end()) answer.yes = true;  // it may have recovered
  return answer;
}

StopAnswer SessionModel::AskLayers() {
  if (!recovers_) return AskChain();
  if (session_ == nullptr) return {.yes = true};
  while (!world_.over()) {
    const StopAnswer first = AskCoordinated();
    if (IsPreemptionError(first.code)) {
      if (const Code given_up = GiveUp(); given_up != Code::kOk) return {.code = given_up};
      if (const Code created = CreateUntilItWorks(); created != Code::kOk) return {.code = created};
      SettleStop();
    } else if (first.code != Code::kOk || first.yes) {
      return {.yes = true};
    }
    const StopAnswer late = AskChain();
    if (late.code == Code::kOk || !world_.behaviour().should_stop_recovers) return late;
  }
  return {.code = Code::kInternal};
}

// --- Closing ---

Code SessionModel::CloseCoordinated() { return StopJoinAndClose(*session_->raw, *session_->coord); }

Code SessionModel::CloseRecoverable() {
  if (session_ == nullptr) return Code::kOk;
  const Code code = CloseCoordinated();
  session_ = nullptr;
  return IsPreemptionError(code) ? Code::kOk : code;
}

Code SessionModel::CloseInternal(bool clean) {
  Code code = Code::kOk;
  if (clean) {
    for (const std::unique_ptr<Hook>& hook : hooks_) {
      code = hook->End(raw_);
      if (code != Code::kOk) break;
    }
  }
  // Whatever fails from here on takes the place of what failed before.
  const Code closed = !open_ ? Code::kUsage : recovers_ ? CloseRecoverable() : CloseCoordinated();
  if (closed != Code::kOk) code = closed;
  open_ = false;
  session_ = nullptr;
  raw_ = nullptr;
  if (graph_finalized_) world_.Say("graph unfinalized");
  graph_finalized_ = false;
  return code;
}

Code SessionModel::Exit(Code body) {
  const bool counts = from_a_run_ || !world_.behaviour().clean_end_from_run_only;
  const bool clean = body == Code::kOk || (IsCleanEndError(body) && counts);
  const Code closed = CloseInternal(clean);
  if (closed != Code::kOk) return closed;
  return clean ? Code::kOk : body;
}

void SessionModel::Drop() {
  if (open_ && world_.behaviour().close_partial_session) CloseInternal(false);
}

}  // namespace vigil::properties::model
