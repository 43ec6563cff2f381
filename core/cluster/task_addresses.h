// The tasks of a cluster by their names ("/job:ps/replica:0/task:0"), with their addresses.
// An immutable value.
#ifndef VIGIL_CORE_CLUSTER_TASK_ADDRESSES_H_
#define VIGIL_CORE_CLUSTER_TASK_ADDRESSES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/cluster/cluster_spec.h"

namespace vigil {

struct TaskAddress {
  std::string job;
  int task = 0;
  std::string name;     // "/job:ps/replica:0/task:0"
  std::string address;  // "host:port"
};

class TaskAddresses {
 public:
  // USAGE unless the cluster has the own task.
  static absl::StatusOr<TaskAddresses> Create(const ClusterSpec& cluster, std::string_view job, int task);

  const std::vector<TaskAddress>& all() const { return all_; }  // by job, then by number
  const TaskAddress& own() const { return all_[own_]; }
  // Null: there is none.
  const TaskAddress* FindByDevice(std::string_view device) const;  // "<name>/device:CPU:0"

 private:
  std::vector<TaskAddress> all_;
  std::vector<std::uint32_t> by_name_;  // places in all_
  std::size_t own_ = 0;
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_TASK_ADDRESSES_H_
