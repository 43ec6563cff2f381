// A table of names: each gets a small number in the order of its first appearance, and a place that never moves.
//
// Thread safety: none.
#ifndef VIGIL_SIM_KERNEL_NAMES_H_
#define VIGIL_SIM_KERNEL_NAMES_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>  // lookup only

namespace vigil::sim {

class Names {
 public:
  Names() = default;
  // Views into the table survive a move; there is no copy, whose views would point into the original.
  Names(Names&&) = default;
  Names& operator=(Names&&) = default;

  std::uint32_t Intern(std::string_view name);
  // REQUIRES: id < size(). Valid as long as the table.
  std::string_view At(std::uint32_t id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint32_t> ids_;  // lookup only
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_KERNEL_NAMES_H_
