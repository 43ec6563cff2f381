#include "vigil/properties/model/supervisor_services.h"

#include <limits>

#include "vigil/properties/model/hook.h"
#include "vigil/properties/model/run_parts.h"

namespace vigil::properties::model {
namespace {

class SummaryService : public ServiceModel {
 public:
  SummaryService(World& world, bool writes, RawSessionPtr session)
      : world_(world), writes_(writes), session_(std::move(session)) {}

  Code Pass() override {
    if (session_ == nullptr) return Code::kUsage;
    const replays::ModelSpec& model = world_.scenario().model;
    if (!model.global_step) {
      world_.Refuse("drive.name summary with model.global_step false");
      return Code::kInternal;
    }
    const Code code = world_.Call(*session_, FaultPoint::kSummary, [&] {
      if (!model.summary) return Code::kUsage;
      return LossTrains(model) ? world_.Train(*session_) : Code::kOk;
    });
    if (code != Code::kOk || !writes_) return code;
    const std::int64_t step = session_->variables->step;
    world_.Say("log INFO Recording summary at step {}.", step);
    world_.Say("writer summary step={} loss={}", step, NumberText(LossAt(world_, step)));
    return Code::kOk;
  }

 private:
  World& world_;
  const bool writes_;
  const RawSessionPtr session_;
};

class StepCounterService : public ServiceModel {
 public:
  StepCounterService(World& world, bool writes, RawSessionPtr session)
      : world_(world), writes_(writes), session_(std::move(session)) {}

  Code Start() override {
    last_time_ = world_.now();
    return Read(last_step_);
  }

  Code Pass() override {
    std::int64_t step = 0;
    if (const Code code = Read(step); code != Code::kOk) return code;
    const double secs = world_.now() - last_time_;
    const double rate =
        secs > 0 ? static_cast<double>(step - last_step_) / secs : std::numeric_limits<double>::infinity();
    last_step_ = step;
    last_time_ = world_.now();
    if (writes_) world_.Say("writer summary step={} global_step/sec={}", step, NumberText(static_cast<float>(rate)));
    if (++logged_ <= kLogged) world_.Say("log INFO global_step/sec: {}", NumberText(rate));
    return Code::kOk;
  }

 private:
  static constexpr int kLogged = 10;

  Code Read(std::int64_t& step) { return session_ == nullptr ? Code::kUsage : world_.ReadStep(*session_, step); }

  World& world_;
  const bool writes_;
  const RawSessionPtr session_;
  double last_time_ = 0;
  std::int64_t last_step_ = 0;
  int logged_ = 0;
};

class CheckpointService : public ServiceModel {
 public:
  CheckpointService(World& world, bool writes, RawSessionPtr session)
      : world_(world), writes_(writes), session_(std::move(session)) {}

  Code Pass() override {
    const replays::ModelSpec& model = world_.scenario().model;
    world_.Say("log INFO Saving checkpoint to path {}", writes_ ? "DIR/model.ckpt" : "None");
    if (!writes_ || session_ == nullptr) return Code::kUsage;
    if (!model.global_step) {
      if (model.fed_variable) world_.Refuse("drive.name checkpoint with model.global_step false");
      return Code::kUsage;  // nothing to save, no saver
    }
    std::int64_t step = 0;
    if (const Code code = world_.ReadStep(*session_, step); code != Code::kOk) return code;
    Directory& directory = world_.directory();
    const Code saved = world_.Call(*session_, FaultPoint::kSave, [&] {
      directory.Write(step, session_->variables->step);
      return Code::kOk;
    });
    if (saved != Code::kOk) return saved;
    directory.Record(step);
    if (const Code code = world_.ReadStep(*session_, step); code != Code::kOk) return code;
    world_.Say("writer session_log CHECKPOINT step={}", step);
    return Code::kOk;
  }

 private:
  World& world_;
  const bool writes_;
  const RawSessionPtr session_;
};

}  // namespace

Code NewService(World& world, const SupervisorModel& supervisor, std::string_view name, const RawSessionPtr& session,
                std::unique_ptr<ServiceModel>& made) {
  const bool writes = supervisor.writes();
  if (name == "summary") {
    made = std::make_unique<SummaryService>(world, writes, session);
  } else if (name == "checkpoint") {
    made = std::make_unique<CheckpointService>(world, writes, session);
  } else if (!world.scenario().model.global_step) {
    return Code::kUsage;  // no step to count
  } else {
    made = std::make_unique<StepCounterService>(world, writes, session);
  }
  return Code::kOk;
}

}  // namespace vigil::properties::model
