#include "vigil/sim/cluster/job_spec.h"

#include <fmt/format.h>

#include "vigil/core/base/check.h"

namespace vigil::sim {

std::string_view WorkloadName(WorkloadKind kind) {
  switch (kind) {
    case WorkloadKind::kAsyncRegression:
      return "async_regression";
    case WorkloadKind::kSyncRegression:
      return "sync_regression";
    case WorkloadKind::kInputPipeline:
      return "input_pipeline";
    case WorkloadKind::kEvaluation:
      return "evaluation";
    case WorkloadKind::kShortJob:
      return "short_job";
    case WorkloadKind::kSupervisor:
      return "supervisor";
    case WorkloadKind::kConversation:
      return "conversation";
  }
  VIGIL_CHECK(false);
  return "";
}

std::vector<std::string> TaskNames(const JobSpec& job) {
  std::vector<std::string> names;
  for (const auto& [name, count] : job.tasks) {
    for (int i = 0; i < count; ++i) names.push_back(fmt::format("{}:{}", name, i));
  }
  return names;
}

Duration LongestBoot(const WorkloadSpec& workload) {
  return workload.boots.empty() ? workload.most_boot : workload.boots.back();
}

std::int64_t LastStepOf(const WorkloadSpec& workload, std::string_view task) {
  const auto own = workload.last_steps.find(task);
  return own == workload.last_steps.end() ? workload.last_step : own->second;
}

}  // namespace vigil::sim
