// The tasks of a process that may outlive its program: what is left at the end besides them was forgotten.
//
// Thread safety: constants and pure functions.
#ifndef VIGIL_SIM_CLUSTER_PROCESS_TASKS_H_
#define VIGIL_SIM_CLUSTER_PROCESS_TASKS_H_

#include <span>
#include <string_view>

namespace vigil::sim {

struct ProcessTask {
  std::string_view name;
  std::string_view why;  // it may still run
};

std::span<const ProcessTask> ProcessTasks();

// "serve" of "serve#12".
std::string_view WithoutNumber(std::string_view name);

// Whether a task of that name is one of them, whichever number a node gave it ("serve#2"). Names are compared as a
// whole.
bool IsProcessTask(std::string_view name);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_PROCESS_TASKS_H_
