#include "vigil/sim/cluster/trainer.h"

#include "vigil/core/base/check.h"
#include "vigil/sim/cluster/programs.h"

namespace vigil::sim {

absl::Status Train(const TrainerParts& parts) {
  if (parts.job_name == kEvaluatorJob) return Evaluate(parts);
  switch (parts.job.workload.kind) {
    case WorkloadKind::kAsyncRegression:
    case WorkloadKind::kSyncRegression:
    case WorkloadKind::kEvaluation:
    case WorkloadKind::kShortJob:
      return TrainRegression(parts);
    case WorkloadKind::kInputPipeline:
      return TrainOnInput(parts);
    case WorkloadKind::kSupervisor:
      return TrainSupervised(parts);
  }
  VIGIL_CHECK(false);
  return absl::OkStatus();
}

}  // namespace vigil::sim
