// The name of a task in its parts.
//
// Thread safety: a pure function.
#ifndef VIGIL_SIM_CLUSTER_TASK_NAME_H_
#define VIGIL_SIM_CLUSTER_TASK_NAME_H_

#include <string>
#include <string_view>

namespace vigil::sim {

struct JobTaskName {
  std::string job;
  int index = 0;
};

// REQUIRES: one of TaskNames (job_spec.h), "chief:0".
JobTaskName SplitTaskName(std::string_view name);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_TASK_NAME_H_
