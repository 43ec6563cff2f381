// Which task of a cluster a process is, and which start of it: by that the others know which of two processes of a task
// is the later one, where one was believed dead and lives on.
// Thread safety: data and a pure function.
#ifndef VIGIL_CORE_CLUSTER_TASK_START_H_
#define VIGIL_CORE_CLUSTER_TASK_START_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace vigil {

struct TaskStart {
  std::string task;          // "/job:worker/replica:0/task:0"
  std::uint64_t number = 0;  // ServerOptions.start_number; 0: not known
};

// Tells a process of which there is a later one that it must end: ABORTED. `what`: a sentence on which process it is.
absl::Status WasFollowed(std::string_view what);

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_TASK_START_H_
