// The modelled hooks that write summaries and log lines.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "vigil/properties/model/arguments.h"
#include "vigil/properties/model/built_in_hooks.h"

namespace vigil::properties::model {
namespace {

constexpr int kFrozenStepWarnings = 5;

class StepCounterModel : public Hook {
 public:
  StepCounterModel(World& world, StepTimer timer) : world_(world), timer_(timer) {}

  Code Begin() override { return world_.scenario().model.global_step ? Code::kOk : Code::kUsage; }

  Code BeforeRun(RunContext&, HookRequest& request) override {
    request.fetches = {Value::kStep};
    return Code::kOk;
  }

  Code AfterRun(RunContext& context, const HookResult& result) override {
    const auto stale = static_cast<std::int64_t>(result.values[0]);
    if (timer_.ShouldTrigger(stale + 1, world_.now())) {
      std::int64_t step = 0;
      if (const Code code = world_.ReadStep(*context.session, step); code != Code::kOk) return code;
      if (timer_.ShouldTrigger(step, world_.now())) {
        if (const auto elapsed = timer_.Update(step, world_.now())) Report(*elapsed, step);
      }
    }
    if (world_.behaviour().frozen_step_by_training && !context.caller_trains) return Code::kOk;
    if (last_stale_ == stale) WarnOfFrozenStep();
    last_stale_ = stale;
    return Code::kOk;
  }

 private:
  void Report(const StepTimer::Elapsed& elapsed, std::int64_t step) {
    const double rate =
        elapsed.secs == 0 ? std::numeric_limits<double>::infinity() : static_cast<double>(elapsed.steps) / elapsed.secs;
    world_.Say("writer summary step={} global_step/sec={}", step, NumberText(static_cast<float>(rate)));
    world_.Say("log INFO global_step/sec: {}", NumberText(rate));
  }

  void WarnOfFrozenStep() {
    if (world_.CountFrozenStepWarning() > kFrozenStepWarnings) return;
    world_.Say("log WARNING It seems that global step (tf.train.get_global_step) has not been increased");
  }

  World& world_;
  StepTimer timer_;
  std::optional<std::int64_t> last_stale_;
};

class SummarySaverModel : public Hook {
 public:
  SummarySaverModel(World& world, StepTimer timer) : world_(world), timer_(timer) {}

  Code Begin() override {
    next_step_.reset();
    return world_.scenario().model.global_step ? Code::kOk : Code::kUsage;
  }

  Code BeforeRun(RunContext&, HookRequest& request) override {
    wanted_ = !next_step_.has_value() || timer_.ShouldTrigger(*next_step_, world_.now());
    request.fetches = {Value::kStep};
    if (wanted_ && world_.scenario().model.summary) request.fetches.push_back(Value::kSummary);
    return Code::kOk;
  }

  Code AfterRun(RunContext& context, const HookResult& result) override {
    std::int64_t step = static_cast<std::int64_t>(result.values[0]) + 1;
    if (!next_step_.has_value() || wanted_) {
      if (const Code code = world_.ReadStep(*context.session, step); code != Code::kOk) return code;
    }
    if (!next_step_.has_value()) world_.Say("writer session_log START step={}", step);
    if (wanted_) {
      timer_.Update(step, world_.now());
      if (result.values.size() > 1) world_.Say("writer summary step={} loss={}", step, NumberText(result.values[1]));
    }
    next_step_ = step + 1;
    return Code::kOk;
  }

  Code End(const RawSessionPtr&) override {
    world_.Say("writer flush");
    return Code::kOk;
  }

 private:
  World& world_;
  StepTimer timer_;
  std::optional<std::int64_t> next_step_;
  bool wanted_ = false;
};

class ProfilerModel : public Hook {
 public:
  ProfilerModel(World& world, StepTimer timer) : world_(world), timer_(timer) {}

  Code Begin() override {
    next_step_.reset();
    return world_.scenario().model.global_step ? Code::kOk : Code::kUsage;
  }

  // Never the first run.
  Code BeforeRun(RunContext&, HookRequest& request) override {
    wanted_ = next_step_.has_value() && timer_.ShouldTrigger(*next_step_, world_.now());
    request.fetches = {Value::kStep};
    if (wanted_) request.options = RunOptions{.trace_level = TraceLevel::kFullTrace};
    return Code::kOk;
  }

  Code AfterRun(RunContext& context, const HookResult& result) override {
    const auto stale = static_cast<std::int64_t>(result.values[0]);
    if (!next_step_.has_value()) timer_.Update(stale, world_.now());
    std::int64_t step = stale + 1;
    if (wanted_) {
      if (const Code code = world_.ReadStep(*context.session, step); code != Code::kOk) return code;
      timer_.Update(step, world_.now());
      world_.Say("writer run_metadata step_{} step=None", step);
      // A step that comes again after a rollback is a tag that comes again.
      const int times = world_.CountProfiledStep(step);
      if (times > 1 && !world_.behaviour().unique_event_files) return Code::kUsage;
      for (int again = 2; again <= times; ++again) world_.Say("writer run_metadata step_{}_{} step=None", step, again);
    }
    next_step_ = step + 1;
    return Code::kOk;
  }

 private:
  World& world_;
  StepTimer timer_;
  std::optional<std::int64_t> next_step_;
  bool wanted_ = false;
};

class LoggingModel : public Hook {
 public:
  LoggingModel(World& world, std::vector<std::string> tags, StepTimer timer, bool at_end)
      : world_(world), tags_(std::move(tags)), timer_(timer), at_end_(at_end) {
    std::sort(tags_.begin(), tags_.end());
    tags_.erase(std::unique(tags_.begin(), tags_.end()), tags_.end());  // the hook gets them by name
  }

  Code Begin() override {
    timer_.last_step.reset();
    runs_ = 0;
    const bool steps = std::find(tags_.begin(), tags_.end(), "step") != tags_.end();
    return steps && !world_.scenario().model.global_step ? Code::kUsage : Code::kOk;
  }

  Code BeforeRun(RunContext&, HookRequest& request) override {
    const bool ever = timer_.valid();
    wanted_ = ever && timer_.ShouldTrigger(runs_, world_.now());
    if (!wanted_) return Code::kOk;
    for (const std::string& tag : tags_) request.fetches.push_back(ValueOf(tag));
    return Code::kOk;
  }

  Code AfterRun(RunContext&, const HookResult& result) override {
    if (wanted_) Log(result.values);
    ++runs_;
    return Code::kOk;
  }

  Code End(const RawSessionPtr& session) override {
    if (!at_end_) return Code::kOk;
    if (session == nullptr) return Code::kUsage;
    std::vector<double> values;
    const Code code = world_.Call(*session, FaultPoint::kRawRun, [&] {
      for (const std::string& tag : tags_)
        values.push_back(ValueOf(tag) == Value::kStep ? static_cast<double>(session->variables->step) : 0.0);
      return Code::kOk;
    });
    if (code == Code::kOk) Log(values);
    return code;
  }

 private:
  static Value ValueOf(const std::string& tag) { return tag == "step" ? Value::kStep : Value::kFed; }

  void Log(const std::vector<double>& values) {
    std::string line;
    for (std::size_t i = 0; i < tags_.size(); ++i)
      line += fmt::format("{}{} = {}", i == 0 ? "" : ", ", tags_[i], static_cast<std::int64_t>(values[i]));
    if (timer_.valid()) {
      if (const auto elapsed = timer_.Update(runs_, world_.now())) line += fmt::format(" ({:.3f} sec)", elapsed->secs);
    }
    world_.Say("log INFO {}", line);
  }

  World& world_;
  std::vector<std::string> tags_;
  StepTimer timer_;  // neither period: never in a run
  const bool at_end_;
  std::int64_t runs_ = 0;
  bool wanted_ = false;
};

}  // namespace

std::unique_ptr<Hook> NewStepCounterModel(World& world, std::optional<double> secs, std::optional<double> steps) {
  const StepTimer timer{.secs = secs, .steps = steps};
  if (!timer.valid()) return nullptr;
  return std::make_unique<StepCounterModel>(world, timer);
}

std::unique_ptr<Hook> NewSummarySaverModel(World& world, std::optional<double> secs, std::optional<double> steps) {
  const StepTimer timer{.secs = secs, .steps = steps};
  if (!timer.valid()) return nullptr;
  return std::make_unique<SummarySaverModel>(world, timer);
}

std::unique_ptr<Hook> NewProfilerModel(World& world, std::optional<double> secs, std::optional<double> steps) {
  const StepTimer timer{.secs = secs, .steps = steps};
  if (!timer.valid()) return nullptr;
  return std::make_unique<ProfilerModel>(world, timer);
}

std::unique_ptr<Hook> NewLoggingModel(World& world, const replays::Args& args) {
  const StepTimer timer{.secs = NumberArgument(args, "every_n_secs"), .steps = NumberArgument(args, "every_n_iter")};
  const bool at_end = FlagArgument(args, "at_end", false);
  const bool only_at_end = at_end && !timer.secs.has_value() && !timer.steps.has_value();
  if (!only_at_end && !timer.valid()) return nullptr;
  if (timer.steps.has_value() && *timer.steps <= 0) return nullptr;
  std::vector<std::string> tags;
  if (const auto found = args.find("tensors"); found != args.end()) {
    if (const auto* const names = std::get_if<std::vector<std::string>>(&found->second)) tags = *names;
  }
  const bool known =
      std::all_of(tags.begin(), tags.end(), [](const std::string& tag) { return tag == "fed" || tag == "step"; });
  if (!known || tags.empty()) world.Refuse("hooks.tensors other than step and fed");
  return std::make_unique<LoggingModel>(world, std::move(tags), timer, at_end);
}

}  // namespace vigil::properties::model
