#include "vigil/properties/model/built_in_hooks.h"

#include <cmath>
#include <limits>
#include <utility>

#include "vigil/properties/model/arguments.h"

namespace vigil::properties::model {
namespace {

class StopAtStepModel : public Hook {
 public:
  StopAtStepModel(World& world, std::optional<std::int64_t> num_steps, std::optional<std::int64_t> last_step)
      : world_(world), num_steps_(num_steps), last_step_(last_step) {}

  Code Begin() override { return world_.scenario().model.global_step ? Code::kOk : Code::kUsage; }
  Code AfterCreateSession(const RawSessionPtr& session, const std::shared_ptr<Coordinator>& coord) override {
    const bool may_be_finished = world_.behaviour().finished_runs_nothing;
    if (last_step_.has_value() && !may_be_finished) return Code::kOk;
    std::int64_t step = 0;
    if (const Code code = world_.ReadStep(*session, step); code != Code::kOk) return code;
    if (!last_step_.has_value()) last_step_ = step + *num_steps_;
    return may_be_finished && step >= *last_step_ ? coord->RequestStop(Code::kOk) : Code::kOk;
  }
  Code BeforeRun(RunContext&, HookRequest& request) override {
    request.fetches = {Value::kStep};
    return Code::kOk;
  }
  Code AfterRun(RunContext& context, const HookResult& result) override {
    std::int64_t step = static_cast<std::int64_t>(result.values[0]) + 1;
    if (step < *last_step_) return Code::kOk;
    if (const Code code = world_.ReadStep(*context.session, step); code != Code::kOk) return code;
    if (step >= *last_step_) context.stop = true;
    return Code::kOk;
  }

 private:
  World& world_;
  const std::optional<std::int64_t> num_steps_;
  std::optional<std::int64_t> last_step_;
};

class NanModel : public Hook {
 public:
  NanModel(World& world, bool fails) : world_(world), fails_(fails) {}
  Code AfterCreateSession(const RawSessionPtr&, const std::shared_ptr<Coordinator>& coord) override {
    coord_ = coord;
    return Code::kOk;
  }
  void Inspect(const HookResult& result) override {
    if (std::isnan(result.values[0])) coord_->MarkDiverged();
  }
  Code BeforeRun(RunContext&, HookRequest& request) override {
    request.fetches = {Value::kLoss};
    return Code::kOk;
  }
  Code AfterRun(RunContext& context, const HookResult& result) override {
    if (!std::isnan(result.values[0])) return Code::kOk;
    world_.Say("log {} Model diverged with loss = NaN.", fails_ ? "ERROR" : "WARNING");
    if (fails_) return Code::kNanLoss;
    context.stop = true;
    return Code::kOk;
  }

 private:
  World& world_;
  const bool fails_;
  std::shared_ptr<Coordinator> coord_;
};

class FinalOpsModel : public Hook {
 public:
  // `trains`: what it evaluates depends on the training step.
  FinalOpsModel(World& world, bool trains) : world_(world), trains_(trains) {}
  Code End(const RawSessionPtr& session) override {
    if (session == nullptr) return Code::kUsage;
    const Code code =
        world_.Call(*session, FaultPoint::kFinalOps, [&] { return trains_ ? world_.Train(*session) : Code::kOk; });
    if (IsCleanEndError(code))
      world_.Say("log WARNING An OutOfRangeError or StopIteration exception is raised by the code in FinalOpsHook");
    return code;
  }

 private:
  World& world_;
  const bool trains_;
};

class FeedFnModel : public Hook {
 public:
  explicit FeedFnModel(std::int64_t value) : value_(value) {}
  Code BeforeRun(RunContext&, HookRequest& request) override {
    request.feed = value_;
    return Code::kOk;
  }

 private:
  const std::int64_t value_;
};

class WaiterModel : public Hook {
 public:
  WaiterModel(World& world, double wait_until) : world_(world), wait_until_(wait_until) {}
  Code Begin() override {
    done_ = false;
    return world_.scenario().model.global_step ? Code::kOk : Code::kUsage;
  }
  Code AfterCreateSession(const RawSessionPtr&, const std::shared_ptr<Coordinator>& coord) override {
    coord_ = coord;
    return Code::kOk;
  }
  Code BeforeRun(RunContext& context, HookRequest&) override {
    if (done_ || wait_until_ <= 0) {
      done_ = true;
      return Code::kOk;
    }
    while (!world_.over()) {
      std::int64_t step = 0;
      if (const Code code = world_.ReadStep(*context.session, step); code != Code::kOk) return code;
      if (static_cast<double>(step) >= wait_until_) {
        done_ = true;
        return Code::kOk;
      }
      const bool ends = world_.told_to_end() || (coord_ != nullptr && coord_->should_stop());
      if (world_.behaviour().bounded_waits && ends) return Code::kOk;
      world_.Sleep(kPollSecs);
    }
    return Code::kInternal;
  }

 private:
  static constexpr double kPollSecs = 0.5;
  World& world_;
  const double wait_until_;
  std::shared_ptr<Coordinator> coord_;
  bool done_ = false;
};

std::optional<std::int64_t> WholeArgument(const replays::Args& args, std::string_view name) {
  const std::optional<double> number = NumberArgument(args, name);
  return number.has_value() ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

// Null: there is no such thing to evaluate. Refused if it is nothing that is known of.
std::unique_ptr<Hook> NewFinalOpsModel(World& world, const replays::Args& args) {
  std::string what;
  if (const auto found = args.find("what"); found != args.end()) {
    if (const auto* const name = std::get_if<std::string>(&found->second)) what = *name;
  }
  const replays::ModelSpec& model = world.scenario().model;
  if (what == "step" && !model.global_step) return nullptr;
  const bool known = what == "fed" || what == "loss" || (model.global_step && (what == "step" || what == "train"));
  if (!known) world.Refuse(fmt::format("hooks.what {}", what));
  const bool trains = what == "train" || (what == "loss" && LossTrains(model));
  return std::make_unique<FinalOpsModel>(world, trains);
}

std::unique_ptr<Hook> NewStopAtStepModel(World& world, const replays::Args& args) {
  const std::optional<std::int64_t> num_steps = WholeArgument(args, "num_steps");
  const std::optional<std::int64_t> last_step = WholeArgument(args, "last_step");
  if (num_steps.has_value() == last_step.has_value()) return nullptr;
  return std::make_unique<StopAtStepModel>(world, num_steps, last_step);
}

}  // namespace

double LossAt(const World& world, std::int64_t step) {
  constexpr double kLoss = 0.5;
  const replays::ModelSpec& model = world.scenario().model;
  return LossTrains(model) && step >= *model.nan_at ? std::numeric_limits<double>::quiet_NaN() : kLoss;
}

Code MakeHook(World& world, const replays::HookSpec& spec, std::unique_ptr<Hook>& hook) {
  const replays::Args& args = spec.args;
  const std::optional<double> save_secs = NumberArgument(args, "save_secs");
  const std::optional<double> save_steps = NumberArgument(args, "save_steps");
  const std::string& kind = spec.hook;
  if (kind == "probe") {
    hook = NewProbe(world, spec);
  } else if (kind == "stop_at_step") {
    hook = NewStopAtStepModel(world, args);
  } else if (kind == "checkpoint_saver") {
    hook = NewCheckpointSaverModel(world, spec.listeners, save_secs, save_steps);
  } else if (kind == "summary_saver") {
    hook = NewSummarySaverModel(world, save_secs, save_steps);
  } else if (kind == "profiler") {
    hook = NewProfilerModel(world, save_secs, save_steps);
  } else if (kind == "step_counter") {
    constexpr double kEverySteps = 100;
    const std::optional<double> given = NumberArgument(args, "every_n_steps");
    hook = NewStepCounterModel(world, NumberArgument(args, "every_n_secs"),
                               IsGivenArgument(args, "every_n_steps") ? given : kEverySteps);
  } else if (kind == "logging_tensor") {
    hook = NewLoggingModel(world, args);
  } else if (kind == "nan_tensor") {
    hook = std::make_unique<NanModel>(world, FlagArgument(args, "fail_on_nan_loss", true));
  } else if (kind == "final_ops") {
    hook = NewFinalOpsModel(world, args);
  } else if (kind == "feed_fn") {
    hook = std::make_unique<FeedFnModel>(WholeArgument(args, "value").value_or(0));
  } else if (kind == "global_step_waiter") {
    hook = std::make_unique<WaiterModel>(world, NumberArgument(args, "wait_until_step").value_or(0));
  } else {
    world.Refuse(fmt::format("hooks.hook {}", kind));
    return Code::kInternal;
  }
  return hook == nullptr ? Code::kUsage : Code::kOk;
}

}  // namespace vigil::properties::model
