#include "vigil/sim/cluster/trainer.h"

#include <memory>

#include "vigil/core/base/check.h"
#include "vigil/sim/cluster/conversation.h"
#include "vigil/sim/cluster/diary.h"
#include "vigil/sim/cluster/programs.h"
#include "vigil/sim/cluster/visits.h"

namespace vigil::sim {

namespace {

absl::Status TrainModel(const TrainerParts& parts) {
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
    case WorkloadKind::kConversation:
      return std::make_shared<Conversation>(parts)->Hold();
  }
  VIGIL_CHECK(false);
  return absl::OkStatus();
}

}  // namespace

absl::Status Train(const TrainerParts& parts) {
  if (parts.job_name == kEvaluatorJob) return Evaluate(parts);
  const std::shared_ptr<Visits> visits = Visits::Start(parts);
  const std::shared_ptr<Diary> diary = Diary::Start(parts);
  const absl::Status trained = TrainModel(parts);
  if (diary != nullptr) diary->End();
  if (visits != nullptr) visits->End();
  return trained;
}

}  // namespace vigil::sim
