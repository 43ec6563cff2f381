#include "vigil/sim/cluster/held.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "vigil/sim/cluster/process_tasks.h"

namespace vigil::sim {

std::string Held(const Server::Load& load, const HeldBeside& beside) {
  std::vector<std::string> held;
  // Who runs a graph has what is its session's alone, also once the graph has been given back.
  std::size_t runs = load.steps;
  for (const auto& [name, count] : load.under_way) runs += static_cast<std::size_t>(count);
  if (load.with_own > load.graphs + runs) held.push_back(fmt::format("{} own resource sets", load.with_own));
  // A part of a step stands in one line at a time.
  if (beside.in_line > runs) held.push_back(fmt::format("{} places in lines", beside.in_line - runs));
  if (beside.open_files > 0) held.push_back(fmt::format("{} open files", beside.open_files));
  if (beside.bytes_in_flight > 0) held.push_back(fmt::format("{} bytes in flight", beside.bytes_in_flight));
  if (load.steps > beside.tasks) held.push_back(fmt::format("{} steps", load.steps - beside.tasks));
  if (load.sessions > 0) held.push_back(fmt::format("{} sessions", load.sessions));
  if (load.calls > 0 && beside.requests) held.push_back(fmt::format("{} calls", load.calls));
  if (beside.requests) {
    for (const auto& [name, count] : load.under_way) held.push_back(fmt::format("{} of {}", count, name));
  }
  return fmt::format("{}", fmt::join(held, ", "));
}

bool IsOfServer(const std::string& task, const Server::Load& load) {
  return load.under_way.contains(std::string(WithoutNumber(task)));
}

std::vector<std::string> ProgramTasks(std::vector<std::string> tasks, const Server::Load& load) {
  std::erase_if(tasks, [&load](const std::string& task) { return IsProcessTask(task) || IsOfServer(task, load); });
  return tasks;
}

}  // namespace vigil::sim
