// The services of a supervisor, the one table: how scenarios and recordings call them, and the tasks that they are.
// (The recorder, in Python, has TensorFlow's names of these tasks once more: recorder/seams.py.)
//
// Thread safety: constants and pure functions.
#ifndef VIGIL_REPLAYS_FORMAT_SERVICES_H_
#define VIGIL_REPLAYS_FORMAT_SERVICES_H_

#include <algorithm>
#include <iterator>
#include <string_view>

#include "vigil/core/train/supervisor/supervisor_services.h"

namespace vigil::replays {

enum class Service { kSummary, kStepCounter, kCheckpoint };

struct ServiceInfo {
  Service service;
  std::string_view name;
  std::string_view task;
};

inline constexpr ServiceInfo kSupervisorServices[] = {
    {Service::kSummary, "summary", SVSummaryThread::kName},
    {Service::kStepCounter, "step_counter", SVStepCounterThread::kName},
    {Service::kCheckpoint, "checkpoint", SVTimerCheckpointThread::kName},
};
inline constexpr std::string_view kServiceNames[] = {kSupervisorServices[0].name, kSupervisorServices[1].name,
                                                     kSupervisorServices[2].name};
static_assert(std::size(kServiceNames) == std::size(kSupervisorServices));

// Null if there is none of that name (of that task).
constexpr const ServiceInfo* FindService(std::string_view name) {
  const auto* const found = std::ranges::find(kSupervisorServices, name, &ServiceInfo::name);
  return found == std::end(kSupervisorServices) ? nullptr : found;
}
constexpr const ServiceInfo* FindServiceOfTask(std::string_view task) {
  const auto* const found = std::ranges::find(kSupervisorServices, task, &ServiceInfo::task);
  return found == std::end(kSupervisorServices) ? nullptr : found;
}

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_SERVICES_H_
