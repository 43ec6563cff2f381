#include "vigil/core/train/hooks/logging_tensor_hook.h"

#include <fmt/format.h>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/train/hooks/tensor_text.h"
#include "vigil/core/train/run_events.h"

namespace vigil {
namespace {

absl::StatusOr<Output> FindNamed(const Graph& graph, const std::string& name) {
  const bool with_index = name.find(':') != name.npos;
  const std::optional<Output> found = graph.FindOutput(name);
  if (!found.has_value()) {
    return UsageError(
        fmt::format("The name '{}{}' refers to a Tensor which does not exist.", name, with_index ? "" : ":0"));
  }
  if (!with_index && graph.Has({found->node, 1})) {
    return UsageError(
        fmt::format("Name {} is ambiguous, as this `Operation` has multiple outputs (at least 2).", name));
  }
  return *found;
}

absl::StatusOr<Output> Find(const Graph& graph, const TensorOrName& tensor) {
  if (const auto* const name = std::get_if<std::string>(&tensor)) return FindNamed(graph, *name);
  const Output output = std::get<Output>(tensor);
  if (!graph.Has(output)) {
    return UsageError(
        fmt::format("Passed tensor {}:{} should belong to the current graph.", output.node, output.index));
  }
  return output;
}

}  // namespace

absl::StatusOr<std::shared_ptr<LoggingTensorHook>> LoggingTensorHook::Create(const Env& env,
                                                                             LoggingTensorHookOptions options) {
  const bool iterations = options.every_n_iter.has_value();
  const bool seconds = options.every_n_secs.has_value();
  const bool only_at_end = options.at_end && !iterations && !seconds;
  if (!only_at_end && iterations == seconds) {
    return UsageError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.");
  }
  if (iterations && *options.every_n_iter <= 0) {
    return UsageError(fmt::format("invalid every_n_iter={}.", *options.every_n_iter));
  }
  std::optional<SecondOrStepTimer> timer;
  if (!only_at_end) {
    VIGIL_ASSIGN_OR_RETURN(timer, SecondOrStepTimer::Create(env, {options.every_n_secs, options.every_n_iter}));
  }
  return std::shared_ptr<LoggingTensorHook>(new LoggingTensorHook(env, std::move(options), timer));
}

LoggingTensorHook::LoggingTensorHook(const Env& env, LoggingTensorHookOptions options,
                                     std::optional<SecondOrStepTimer> timer)
    : env_(env), options_(std::move(options)), timer_(timer) {}

absl::Status LoggingTensorHook::Begin(BeginContext& context) {
  // The index: whether it logs at the end (too).
  EmitHookDetail(env_.events, HookDetail::kLogs, timer_.has_value() ? 1 : 0, options_.at_end ? 1 : 0);
  if (timer_.has_value()) {
    timer_->Reset();
    timer_->TellPeriod();
  }
  iteration_ = 0;
  tags_.clear();
  std::vector<std::pair<std::string, Fetches>> items;
  const auto add = [&](std::string tag, Output tensor) {
    items.emplace_back(tag, tensor);
    tags_.push_back(std::move(tag));
  };
  if (const auto* const tagged = std::get_if<TaggedTensors>(&options_.tensors)) {
    for (const auto& [tag, tensor] : *tagged) {
      VIGIL_ASSIGN_OR_RETURN(const Output found, Find(context.graph, tensor));
      add(tag, found);
    }
  } else {
    for (const TensorOrName& tensor : std::get<ListedTensors>(options_.tensors)) {
      VIGIL_ASSIGN_OR_RETURN(const Output found, Find(context.graph, tensor));
      const auto* const name = std::get_if<std::string>(&tensor);
      add(name != nullptr ? *name : context.graph.NameOf(found), found);
    }
  }
  fetches_ = Fetches::Map(std::move(items));
  return absl::OkStatus();
}

absl::Status LoggingTensorHook::BeforeRun(RunContext&, RunArgs& args) {
  if (timer_.has_value() && timer_->ShouldTriggerForStep(iteration_)) args.fetches = fetches_;
  return absl::OkStatus();
}

absl::Status LoggingTensorHook::AfterRun(RunContext&, const RunValues& values) {
  if (!values.results.none()) VIGIL_RETURN_IF_ERROR(LogTensors(values.results));
  ++iteration_;
  return absl::OkStatus();
}

absl::Status LoggingTensorHook::End(Session* session) {
  if (!options_.at_end) return absl::OkStatus();
  if (session == nullptr) {
    return UsageError("The tensors cannot be evaluated: the session was closed before its scope was left.");
  }
  RunSpec spec;
  fetches_.AppendTo(session->graph(), &spec);
  std::vector<Tensor> fetched;
  VIGIL_RETURN_IF_ERROR(session->Run({.spec = spec, .evaluates = true}, &fetched));
  return LogTensors(FetchedValues(fetches_, fetched.data()));
}

absl::Status LoggingTensorHook::LogTensors(const FetchedValues& values) {
  std::optional<SecondOrStepTimer::Elapsed> elapsed;
  if (timer_.has_value()) elapsed = timer_->UpdateLastTriggeredStep(iteration_);
  std::string line;
  if (options_.formatter != nullptr) {
    VIGIL_RETURN_IF_ERROR(CallGuarded([&] {
      line = options_.formatter(values);
      return absl::OkStatus();
    }));
  } else {
    for (std::size_t i = 0; i < tags_.size(); ++i) {
      line += fmt::format("{}{} = {}", i == 0 ? "" : ", ", tags_[i], TensorText(values[i].tensor()));
    }
    if (elapsed.has_value()) line += fmt::format(" ({:.3f} sec)", ToSeconds(elapsed->time));
  }
  env_.log->Write(Severity::kInfo, line);
  return absl::OkStatus();
}

}  // namespace vigil
