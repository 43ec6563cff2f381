#include "vigil/core/cluster/task_addresses.h"

#include <fmt/format.h>

#include <algorithm>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {

absl::StatusOr<TaskAddresses> TaskAddresses::Create(const ClusterSpec& cluster, std::string_view job, int task) {
  TaskAddresses out;
  std::vector<std::string> jobs = cluster.jobs();
  std::ranges::sort(jobs);
  bool found = false;
  for (const std::string& name : jobs) {
    VIGIL_ASSIGN_OR_RETURN(const std::vector<int> tasks, cluster.task_indices(name));
    for (const int index : tasks) {
      if (name == job && index == task) {
        out.own_ = out.all_.size();
        found = true;
      }
      VIGIL_ASSIGN_OR_RETURN(std::string address, cluster.task_address(name, index));
      out.all_.push_back({name, index, fmt::format("/job:{}/replica:0/task:{}", name, index), std::move(address)});
    }
  }
  for (std::uint32_t i = 0; i < out.all_.size(); ++i) out.by_name_.push_back(i);
  std::ranges::sort(out.by_name_, {}, [&out](std::uint32_t i) { return std::string_view(out.all_[i].name); });
  if (found) return out;
  // Which of the two is wrong.
  VIGIL_RETURN_IF_ERROR(cluster.task_address(job, task).status());
  return UsageError(fmt::format("The cluster has no task {} in job '{}'.", task, job));
}

const TaskAddress* TaskAddresses::FindByDevice(std::string_view device) const {
  const std::string_view name = device.substr(0, device.find("/device:"));
  const auto name_of = [this](std::uint32_t i) { return std::string_view(all_[i].name); };
  const auto it = std::ranges::lower_bound(by_name_, name, {}, name_of);
  return it == by_name_.end() || name_of(*it) != name ? nullptr : &all_[*it];
}

}  // namespace vigil
