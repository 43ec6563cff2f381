// The choices of a play that may not come to its end: each is written down, where the parent process sees it, before it
// takes effect.
//
// Thread safety: none. Made before the fork; written by the child, read by the parent once that is dead.
#ifndef VIGIL_PROPERTIES_SHRINK_CHOICE_LOG_H_
#define VIGIL_PROPERTIES_SHRINK_CHOICE_LOG_H_

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "vigil/replays/crew/shared_memory.h"
#include "vigil/sim/kernel/chooser.h"

namespace vigil::properties {

class ChoiceLog {
 public:
  ChoiceLog();
  ~ChoiceLog();
  ChoiceLog(const ChoiceLog&) = delete;
  ChoiceLog& operator=(const ChoiceLog&) = delete;

  // What finds no room any more is left out.
  void Add(const sim::ChoicePoint& point, std::span<const std::string_view> labels, std::size_t chosen);
  sim::ChoiceMap Choices() const;
  void ForEach(const std::function<void(const sim::ChoicePoint& point, std::span<const std::string_view> labels,
                                        std::size_t chosen)>& see) const;
  // Asks `chooser` for all of them once more: it is then as far as the one that made them.
  void Repeat(sim::Chooser& chooser) const;

 private:
  template <typename Visitor>
  void Visit(const Visitor& visit) const;

  struct Memory;
  const replays::SharedMemory<Memory> memory_;
};

// Writes down what another one chooses. Borrows both.
class LoggedChooser final : public sim::Chooser {
 public:
  LoggedChooser(sim::Chooser& chooser, ChoiceLog& log) : chooser_(chooser), log_(log) {}
  std::size_t Choose(const sim::ChoicePoint& point, std::span<const std::string_view> labels) override;

 private:
  sim::Chooser& chooser_;
  ChoiceLog& log_;
};

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_SHRINK_CHOICE_LOG_H_
