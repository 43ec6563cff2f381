// The modelled hook that saves checkpoints, and its listeners.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "vigil/properties/model/arguments.h"
#include "vigil/properties/model/built_in_hooks.h"

namespace vigil::properties::model {
namespace {

class ListenerModel {
 public:
  ListenerModel(World& world, const replays::ListenerSpec& spec) : world_(world), spec_(spec) {}

  Code Call(std::string_view method, std::optional<std::int64_t> step, bool* stop = nullptr) {
    const std::int64_t call = ++calls_[method];
    world_.Say("listener {} {}{}", spec_.name, method, step.has_value() ? fmt::format(" step={}", *step) : "");
    for (const replays::PlanEntry& entry : spec_.plan) {
      if (entry.method != method || entry.calls.size() != 1 || entry.calls.front() != call) continue;
      if (entry.action == replays::Action::kRaise) {
        world_.Say("listener {} raises {}", spec_.name, CodeName(entry.code));
        return entry.code;
      }
      world_.Say("listener {} requests_stop", spec_.name);
      if (stop != nullptr) *stop = true;
      return Code::kOk;
    }
    return Code::kOk;
  }

 private:
  World& world_;
  const replays::ListenerSpec& spec_;
  std::map<std::string_view, std::int64_t> calls_;
};

class CheckpointSaverModel : public Hook {
 public:
  CheckpointSaverModel(World& world, const std::vector<replays::ListenerSpec>& listeners, StepTimer timer)
      : world_(world), timer_(timer) {
    for (const replays::ListenerSpec& listener : listeners) listeners_.emplace_back(world, listener);
  }

  Code Begin() override {
    if (!world_.scenario().model.global_step) return Code::kUsage;
    return CallListeners("begin", std::nullopt);
  }

  Code AfterCreateSession(const RawSessionPtr& session, const std::shared_ptr<Coordinator>& coord) override {
    coord_ = coord;
    std::int64_t step = 0;
    if (const Code code = world_.ReadStep(*session, step); code != Code::kOk) return code;
    world_.Say("writer graph");
    world_.Say("writer meta_graph");
    bool ignored = false;
    if (const Code code = Save(*session, step, ignored); code != Code::kOk) return code;
    timer_.Update(step, world_.now());
    return Code::kOk;
  }

  Code BeforeRun(RunContext&, HookRequest& request) override {
    request.fetches = {Value::kStep};
    return Code::kOk;
  }

  Code AfterRun(RunContext& context, const HookResult& result) override {
    const auto stale = static_cast<std::int64_t>(result.values[0]);
    if (!timer_.ShouldTrigger(stale + kStepsPerRun, world_.now())) return Code::kOk;
    std::int64_t step = 0;
    if (const Code code = world_.ReadStep(*context.session, step); code != Code::kOk) return code;
    if (!timer_.ShouldTrigger(step, world_.now())) {
      if (step == timer_.last_step) WarnOfFrozenStep(step);
      return Code::kOk;
    }
    if (KeepsNothing(step)) return Code::kOk;
    timer_.Update(step, world_.now());
    bool stop = false;
    if (const Code code = Save(*context.session, step, stop); code != Code::kOk) return code;
    if (stop) context.stop = true;
    return Code::kOk;
  }

  Code End(const RawSessionPtr& session) override {
    if (session == nullptr) return Code::kUsage;
    std::int64_t step = 0;
    if (const Code code = world_.ReadStep(*session, step); code != Code::kOk) return code;
    if (timer_.last_step != step && !KeepsNothing(step)) {
      bool ignored = false;
      if (const Code code = Save(*session, step, ignored); code != Code::kOk) return code;
    }
    return CallListeners("end", step);
  }

 private:
  static constexpr std::int64_t kStepsPerRun = 1'000'000;  // TensorFlow 2.21

  Code CallListeners(std::string_view method, std::optional<std::int64_t> step, bool* stop = nullptr) {
    for (ListenerModel& listener : listeners_) {
      if (const Code code = listener.Call(method, step, stop); code != Code::kOk) return code;
    }
    return Code::kOk;
  }

  bool KeepsNothing(std::int64_t step) {
    if (!world_.behaviour().nan_stop_saves_nothing || coord_ == nullptr || !coord_->diverged()) return false;
    world_.Say("log WARNING The model has diverged: step {} is not saved into DIR.", step);
    return true;
  }

  // Once a period.
  void WarnOfFrozenStep(std::int64_t step) {
    if (!world_.behaviour().warn_frozen_saver || !timer_.secs.has_value()) return;
    const double now = world_.now();
    const double since = std::max(timer_.last_time, last_frozen_.value_or(0));
    // In nanoseconds, as clocks count: a sum of seconds is off by less, and a period may have passed to the point.
    if (std::round((now - since) * 1e9) < std::round(*timer_.secs * 1e9)) return;
    last_frozen_ = now;
    world_.Say("log WARNING Nothing is saved into DIR as the global step has stood at {} since the last checkpoint",
               step);
  }

  Code Save(RawSession& session, std::int64_t step, bool& stop) {
    if (const Code code = CallListeners("before_save", step); code != Code::kOk) return code;
    if (world_.behaviour().one_save_a_step && world_.HasSaved(session.number, step))
      return CallListeners("after_save", step, &stop);
    Directory& directory = world_.directory();
    const Code saved = world_.Call(session, FaultPoint::kSave, [&] {
      directory.Write(step, session.variables->step);
      return Code::kOk;
    });
    if (saved != Code::kOk) return saved;
    directory.Record(step);
    world_.NoteSave(session.number, step);
    world_.Say("writer session_log CHECKPOINT step={}", step);
    return CallListeners("after_save", step, &stop);
  }

  World& world_;
  StepTimer timer_;
  std::optional<double> last_frozen_;
  std::shared_ptr<Coordinator> coord_;
  std::vector<ListenerModel> listeners_;
};

}  // namespace

std::unique_ptr<Hook> NewCheckpointSaverModel(World& world, const std::vector<replays::ListenerSpec>& listeners,
                                              std::optional<double> secs, std::optional<double> steps) {
  const StepTimer timer{.secs = secs, .steps = steps};
  if (!timer.valid()) return nullptr;
  return std::make_unique<CheckpointSaverModel>(world, listeners, timer);
}

}  // namespace vigil::properties::model
