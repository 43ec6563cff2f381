#include "vigil/sim/cluster/task_name.h"

#include <charconv>

namespace vigil::sim {

JobTaskName SplitTaskName(std::string_view name) {
  const std::size_t colon = name.find(':');
  JobTaskName split{std::string(name.substr(0, colon)), 0};
  std::from_chars(name.data() + colon + 1, name.data() + name.size(), split.index);
  return split;
}

}  // namespace vigil::sim
