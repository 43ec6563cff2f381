// The choices of one world: counts them per key, asks the chooser, remembers what was chosen.
//
// A choice with one label is none: the chooser is not asked and nothing is recorded.
// Thread safety: none.
#ifndef VIGIL_SIM_KERNEL_CHOICES_H_
#define VIGIL_SIM_KERNEL_CHOICES_H_

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/sim/kernel/chooser.h"
#include "vigil/sim/kernel/names.h"
#include "vigil/sim/kernel/running_hash.h"

namespace vigil::sim {

class Choices {
 public:
  // The choices made under one "node/task/point".
  struct Key {
    std::string text;
    std::vector<std::uint32_t> made;            // numbers of labels
    std::array<std::uint32_t, 4> numbers = {};  // by index: what such a label was last, plus 1
  };

  // Without a chooser every choice is calm. Both must outlive the choices.
  Choices(Chooser* chooser, RunningHash& hash) : chooser_(chooser), hash_(hash) {}

  // Valid as long as the choices.
  Key& KeyOf(std::string_view node, std::string_view task, std::string_view point);
  Key& KeyOf(std::string_view label, std::string_view point);  // label = "node/task"

  // The index of a label. REQUIRES: labels is not empty; labels of one choice differ.
  std::size_t Choose(Key& key, std::span<const std::string_view> labels);

  // One of two labels, the second with that chance if it is drawn by chance. A chance of 0 or less is no choice.
  bool ChooseByChance(Key& key, double chance, const std::array<std::string_view, 2>& labels);

  // All that were made, as text.
  ChoiceMap Made() const;

 private:
  std::uint32_t NumberOf(Key& key, std::size_t index, std::string_view label);
  std::size_t Ask(Key& key, double chance, std::span<const std::string_view> labels);

  Chooser* const chooser_;
  RunningHash& hash_;
  std::map<std::string, Key, std::less<>> keys_;
  Names labels_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_KERNEL_CHOICES_H_
