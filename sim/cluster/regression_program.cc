#include <cmath>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/train/hooks/nan_tensor_hook.h"
#include "vigil/core/train/hooks/stop_at_step_hook.h"
#include "vigil/sim/cluster/programs.h"

namespace vigil::sim {
namespace {

// Tells the recorder of a loss that is NaN.
class DivergenceWatch final : public SessionRunHook {
 public:
  DivergenceWatch(FactsRecorder& recorder, Output loss) : recorder_(recorder), loss_(loss) {}
  std::string_view name() const override { return "divergence watch"; }
  absl::Status BeforeRun(RunContext&, RunArgs& args) override {
    args.fetches = Fetches(loss_);
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext&, const RunValues& values) override {
    if (std::isnan(values.results.tensor().scalar<float>())) recorder_.Diverged();
    return absl::OkStatus();
  }

 private:
  FactsRecorder& recorder_;
  const Output loss_;
};

// A chief that watches its loss ends softly once that is NaN.
absl::Status WatchLoss(const TrainerParts& parts, Output loss, Program& program) {
  if (parts.job.workload.nan_batch == 0 || parts.job_name != "chief") return absl::OkStatus();
  VIGIL_ASSIGN_OR_RETURN(HookPtr nan,
                         NanTensorHook::Create(parts.env, {.loss_tensor = loss, .fail_on_nan_loss = false}));
  program.hooks.push_back(std::make_shared<DivergenceWatch>(parts.recorder, loss));
  program.hooks.push_back(std::move(nan));
  return absl::OkStatus();
}

// Of the first life: a bad batch comes once.
std::int64_t BadBatchOf(const TrainerParts& parts) {
  return TaskOf(parts) == "worker:0" && parts.recorder.life() == 1 ? parts.job.workload.nan_batch : 0;
}

}  // namespace

absl::Status TrainRegression(const TrainerParts& parts) {
  Program program(parts.ops);
  Builder b(program.graph);
  VIGIL_ASSIGN_OR_RETURN(const Regression model, AddRegression(parts, b, program));
  program.loss = model.loss;
  VIGIL_ASSIGN_OR_RETURN(
      HookPtr stop, StopAtStepHook::Create(parts.env, {.last_step = LastStepOf(parts), .behaviour = parts.behaviour}));
  if (model.sync_hook != nullptr) program.hooks.push_back(model.sync_hook);
  program.hooks.push_back(parts.recorder.NewHook(model.global_step));
  program.hooks.push_back(std::move(stop));
  VIGIL_RETURN_IF_ERROR(WatchLoss(parts, model.loss, program));
  RegressionData data = DataOf(parts);
  const std::int64_t bad = BadBatchOf(parts);
  return TrainMonitored(parts, program, [&, number = std::int64_t{0}]() mutable {
    RegressionBatch batch = data.Next(kJobBatch);
    if (++number == bad) batch.front().y = std::numeric_limits<float>::quiet_NaN();
    return model.Feed(batch);
  });
}

}  // namespace vigil::sim
