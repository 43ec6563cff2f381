#include "vigil/core/train/hooked_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/train/hook_call.h"

namespace vigil {
namespace {

absl::Status FeedConflict(std::string_view who, const Graph& graph, Output tensor) {
  return UsageError(fmt::format("Same tensor is fed by {}. Conflict(s): ['{}']. Feed it in one place only.", who,
                                graph.HasNode(tensor.node) ? graph.NameOf(tensor) : "?"));
}

}  // namespace

void MergeRunOptions(const RunOptions& from, RunOptions* into) {
  into->trace_level = std::max(into->trace_level, from.trace_level);
  into->timeout_in_ms = std::max(into->timeout_in_ms, from.timeout_in_ms);
  into->inter_op_thread_pool = std::max(into->inter_op_thread_pool, from.inter_op_thread_pool);
  into->output_partition_graphs = std::max(into->output_partition_graphs, from.output_partition_graphs);
  into->debug_tensor_watch_opts.insert(into->debug_tensor_watch_opts.end(), from.debug_tensor_watch_opts.begin(),
                                       from.debug_tensor_watch_opts.end());
  into->reset_disk_byte_usage = into->reset_disk_byte_usage || from.reset_disk_byte_usage;
  into->report_tensor_allocations_upon_oom =
      into->report_tensor_allocations_upon_oom || from.report_tensor_allocations_upon_oom;
}

HookedSession::HookedSession(const Env& env, SessionPtr session, const std::vector<HookPtr>& hooks, SessionLife& life)
    : env_(env), details_(env), session_(std::move(session)), hooks_(hooks), life_(life) {
  if (!life_.behaviour.stop_survives_recovery) life_.stop_requested = false;
}

class HookedSession::InProgress {
 public:
  explicit InProgress(HookedSession& session) : session_(session), nested_(std::exchange(session.running_, true)) {
    if (nested_) std::swap(outer_, session_.now_);
  }
  ~InProgress() {
    if (nested_) std::swap(outer_, session_.now_);
    session_.running_ = nested_;
  }
  InProgress(const InProgress&) = delete;
  InProgress& operator=(const InProgress&) = delete;

 private:
  HookedSession& session_;
  const bool nested_;
  Gathered outer_;
};

absl::Status HookedSession::Run(LayerRun& run) {
  if (life_.stop_requested) {
    return UsageError(fmt::format(
        "Run called even after should_stop requested by {}. Ask ShouldStop() before each run.", life_.stopped_by));
  }
  const InProgress in_progress(*this);
  RunContext context(run.fetches, run.feeds, *session_, life_.recoveries);
  context.set_stop(life_.stop.get());
  const absl::Status status = RunOnce(run, context);
  if (context.stop_requested()) {
    const std::string_view name = hooks_[context.stopped_by()]->name();
    std::string who =
        name.empty() ? fmt::format("hook number {}", context.stopped_by() + 1) : fmt::format("hook '{}'", name);
    if (status.ok()) {
      life_.RequestStop(std::move(who));
    } else if (life_.behaviour.stop_survives_recovery) {
      life_.stop_pending = true;
      life_.stopped_by = std::move(who);
    }
  }
  return status;
}

absl::Status HookedSession::RunOnce(LayerRun& run, RunContext& context) {
  now_.spec.Clear();
  now_.feed_values.clear();
  now_.requests.clear();
  if (run.attempts++ > 0 && !run.options_given) run.options = RunOptions();
  VIGIL_RETURN_IF_ERROR(CallBeforeRun(context, run.options));
  VIGIL_RETURN_IF_ERROR(AddCallerFeeds(run.feeds));
  MergeFetches(run);
  details_.SessionGets(session_->graph(), now_.spec, now_.feed_values, run.options);
  run.result->Set(run.fetches);
  run.result->mutable_metadata().Clear();
  const absl::Status ran = CallGuarded([&] {
    return session_->Run({.spec = now_.spec,
                          .feed_values = now_.feed_values,
                          .options = &run.options,
                          .metadata = &run.result->mutable_metadata(),
                          .with_hooks = true},
                         &run.result->tensors());
  });
  VIGIL_RETURN_IF_ERROR(WithOrigin(ran, kOriginRun));
  return CallAfterRun(context, run);
}

template <typename Body>
absl::Status HookedSession::Call(std::size_t hook, HookMethod method, RunContext& context, const FetchedValues* results,
                                 Body body) {
  context.set_current_hook(hook);
  if (env_.events == nullptr) {
    absl::Status status = CallGuarded(body);
    return status.ok() ? status : OfHook(std::move(status), *hooks_[hook], hook, method);
  }
  const bool stop_before = context.stop_requested();
  const absl::Status status = CallHook(env_, *hooks_[hook], hook, method, session_.get(), results, &context, body);
  if (status.ok() && !stop_before && context.stop_requested()) {
    env_.Emit({.kind = EventKind::kHookRequestsStop,
               .index = static_cast<std::int32_t>(hook),
               .subject = hooks_[hook]->name()});
  }
  return status;
}

absl::Status HookedSession::CallBeforeRun(RunContext& context, RunOptions& options) {
  now_.asked.Clear();  // a hook may have failed after it had asked for something
  for (std::size_t i = 0; i < hooks_.size(); ++i) {
    SessionRunHook& hook = *hooks_[i];
    VIGIL_RETURN_IF_ERROR(
        Call(i, HookMethod::kBeforeRun, context, nullptr, [&] { return hook.BeforeRun(context, now_.asked); }));
    if (!now_.asked.empty()) VIGIL_RETURN_IF_ERROR(TakeRequest(i, options));
  }
  return absl::OkStatus();
}

// A conflict between hooks is found at the second of them: later hooks are not asked any more.
absl::Status HookedSession::TakeRequest(std::size_t hook, RunOptions& options) {
  details_.HookAsks(hook, session_->graph(), now_.asked);
  for (const Feed& feed : now_.asked.feeds) {
    if (std::find(now_.spec.feeds.begin(), now_.spec.feeds.end(), feed.tensor) != now_.spec.feeds.end()) {
      return FeedConflict("two hooks", session_->graph(), feed.tensor);
    }
  }
  for (const Feed& feed : now_.asked.feeds) {
    now_.spec.feeds.push_back(feed.tensor);
    now_.feed_values.push_back(feed.value);
  }
  if (now_.asked.options.has_value()) MergeRunOptions(*now_.asked.options, &options);
  if (!now_.asked.fetches.empty()) now_.requests.push_back({hook, std::move(now_.asked.fetches), 0});
  now_.asked.Clear();
  return absl::OkStatus();
}

absl::Status HookedSession::AddCallerFeeds(const Feeds& feeds) {
  const std::size_t from_hooks = now_.spec.feeds.size();
  for (const Feed& feed : feeds) {
    const auto end = now_.spec.feeds.begin() + static_cast<std::ptrdiff_t>(from_hooks);
    if (std::find(now_.spec.feeds.begin(), end, feed.tensor) != end) {
      return FeedConflict("a SessionRunHook and user", session_->graph(), feed.tensor);
    }
    now_.spec.feeds.push_back(feed.tensor);
    now_.feed_values.push_back(feed.value);
  }
  return absl::OkStatus();
}

void HookedSession::MergeFetches(const LayerRun& run) {
  run.fetches.AppendTo(session_->graph(), &now_.spec);
  for (Request& request : now_.requests) {
    request.first_value = now_.spec.fetches.size();
    request.fetches.AppendTo(session_->graph(), &now_.spec);
  }
}

// An exception of one is an error of its AfterRun.
absl::Status HookedSession::CallInspect(const LayerRun& run) {
  const Tensor* const tensors = run.result->tensors().data();
  for (const Request& request : now_.requests) {
    SessionRunHook& hook = *hooks_[request.hook];
    const FetchedValues results(request.fetches, tensors + request.first_value);
    VIGIL_RETURN_IF_ERROR(OfHook(CallGuarded([&] {
                                   hook.Inspect(results);
                                   return absl::OkStatus();
                                 }),
                                 hook, request.hook, HookMethod::kAfterRun));
  }
  return absl::OkStatus();
}

absl::Status HookedSession::CallAfterRun(RunContext& context, const LayerRun& run) {
  if (life_.behaviour.nan_stop_saves_nothing) VIGIL_RETURN_IF_ERROR(CallInspect(run));
  const Tensor* const tensors = run.result->tensors().data();
  const RunValues nothing{FetchedValues(), run.options, run.result->metadata()};
  auto request = now_.requests.begin();
  for (std::size_t i = 0; i < hooks_.size(); ++i) {
    SessionRunHook& hook = *hooks_[i];
    if (request == now_.requests.end() || request->hook != i) {
      VIGIL_RETURN_IF_ERROR(
          Call(i, HookMethod::kAfterRun, context, nullptr, [&] { return hook.AfterRun(context, nothing); }));
      continue;
    }
    const RunValues values{FetchedValues(request->fetches, tensors + request->first_value), run.options,
                           run.result->metadata()};
    details_.HookSees(i, session_->graph(), now_.spec, run.result->tensors(), values.results);
    VIGIL_RETURN_IF_ERROR(
        Call(i, HookMethod::kAfterRun, context, &values.results, [&] { return hook.AfterRun(context, values); }));
    ++request;
  }
  return absl::OkStatus();
}

}  // namespace vigil
