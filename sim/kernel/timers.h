// The timers of one world, earliest first; those of one moment in the order in which they were set.
//
// A binary heap that knows where each timer is, so that one can be taken out when what it waited for came first.
// Thread safety: none.
#ifndef VIGIL_SIM_KERNEL_TIMERS_H_
#define VIGIL_SIM_KERNEL_TIMERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vigil/core/base/time.h"

namespace vigil::sim {

// Part of whatever waits; in at most one heap at a time.
struct Timer {
  static constexpr std::size_t kNotSet = static_cast<std::size_t>(-1);
  std::size_t slot = kNotSet;
  // What its moment brings; null: the timer is a task's, which becomes ready. See Scheduler::SetTimer.
  void (*fire)(Timer& timer) = nullptr;
  bool set() const { return slot != kNotSet; }
};

class Timers {
 public:
  // REQUIRES: the timer is not set. It must stay where it is until it is removed.
  void Add(Timer& timer, Duration at);
  // REQUIRES: the timer is set here.
  void Remove(Timer& timer);

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  // REQUIRES: !empty().
  Duration next_time() const { return heap_.front().at; }
  Timer& next() const { return *heap_.front().timer; }

 private:
  struct Entry {
    Duration at;
    std::uint64_t order;
    Timer* timer;
    bool Before(const Entry& other) const { return at != other.at ? at < other.at : order < other.order; }
  };

  void Place(std::size_t slot, const Entry& entry);
  void MoveUp(std::size_t slot, const Entry& entry);
  void MoveDown(std::size_t slot, const Entry& entry);

  std::vector<Entry> heap_;
  std::uint64_t added_ = 0;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_KERNEL_TIMERS_H_
