// Vector clocks: of each task how far what comes before something reaches, as a count of steps.
//
// Thread safety: none.
#ifndef VIGIL_SIM_KERNEL_VECTOR_CLOCK_H_
#define VIGIL_SIM_KERNEL_VECTOR_CLOCK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vigil::sim {

// By task; of one that it does not reach to: none.
using VectorClock = std::vector<std::uint64_t>;

// What came before `from` comes before `to`, too.
inline void Join(VectorClock& to, const VectorClock& from) {
  to.resize(std::max(to.size(), from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
}

}  // namespace vigil::sim

#endif  // VIGIL_SIM_KERNEL_VECTOR_CLOCK_H_
