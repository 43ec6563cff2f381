#include "vigil/sim/cluster/process_tasks.h"

#include <algorithm>

namespace vigil::sim {
namespace {

constexpr ProcessTask kProcessTasks[] = {
    {"main", "it is the program itself, which is just about to end"},
    {"event_writer",
     "a writer of events files belongs to the process, as TensorFlow's FileWriterCache has it: nobody closes it"},
    {"stop server", "the server is being stopped, because the program let go of it in its last line"},
    {"serve", "the server answers requests of others until its process ends"},
};

}  // namespace

std::span<const ProcessTask> ProcessTasks() { return kProcessTasks; }

std::string_view WithoutNumber(std::string_view name) {
  const std::size_t number = name.rfind('#');
  const bool numbered = number != std::string_view::npos && number + 1 < name.size() &&
                        name.find_first_not_of("0123456789", number + 1) == std::string_view::npos;
  return numbered ? name.substr(0, number) : name;
}

bool IsProcessTask(std::string_view name) {
  return std::ranges::find(kProcessTasks, WithoutNumber(name), &ProcessTask::name) != std::ranges::end(kProcessTasks);
}

}  // namespace vigil::sim
