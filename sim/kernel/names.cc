#include "vigil/sim/kernel/names.h"

namespace vigil::sim {

std::uint32_t Names::Intern(std::string_view name) {
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  const auto id = static_cast<std::uint32_t>(texts_.size());
  ids_.emplace(texts_.emplace_back(name), id);
  return id;
}

}  // namespace vigil::sim
