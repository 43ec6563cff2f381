// Asks the tasks of a cluster who they are, until all have answered.
#ifndef VIGIL_CORE_CLUSTER_MASTER_DEVICE_FINDER_H_
#define VIGIL_CORE_CLUSTER_MASTER_DEVICE_FINDER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/cluster/partition/partition.h"
#include "vigil/core/cluster/task_start.h"
#include "vigil/core/cluster/worker/worker_service.h"
#include "vigil/core/env/env.h"

namespace vigil {

struct DeviceSearch {
  std::vector<std::string> filters;  // none: all tasks; the own one always belongs to them
  Duration timeout{0};               // 0 = none
  Duration keepalive{0};
  bool wait_for_ready = false;     // as NetworkRequest::wait_for_ready, of those that are asked
  IncomingCall* caller = nullptr;  // for whom; null: nobody who could give up
  // Who asks for the session: of that task no earlier process counts, to which the task's name may still lead.
  TaskStart client = {};
  // Whether the server has been stopped; asked whenever there is news, and at least every 10 seconds.
  std::function<bool()> stopped = [] { return false; };
};

// Blocks. A task that is not there is asked again every second; every 10 seconds those that have not answered are
// logged: "CreateSession still waiting for response from worker: /job:ps/replica:0/task:0". Ascending by job and task.
// Errors: UNAVAILABLE, naming them, when the timeout has passed; CANCELLED when the caller gave up or the server was
// stopped; USAGE for a filter
// that is no device string.
absl::StatusOr<std::vector<TaskDevice>> FindDevices(const Env& env, const WorkerService& own,
                                                    const DeviceSearch& search);

// The tasks that the filters allow.
absl::StatusOr<std::vector<const TaskAddress*>> FilterTasks(const TaskAddresses& cluster,
                                                            const std::vector<std::string>& filters);

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_MASTER_DEVICE_FINDER_H_
