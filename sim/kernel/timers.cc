#include "vigil/sim/kernel/timers.h"

#include "vigil/core/base/check.h"

namespace vigil::sim {

void Timers::Add(Timer& timer, Duration at) {
  VIGIL_CHECK(!timer.set());
  heap_.emplace_back();
  MoveUp(heap_.size() - 1, {at, added_++, &timer});
}

void Timers::Remove(Timer& timer) {
  const std::size_t slot = timer.slot;
  VIGIL_CHECK(slot < heap_.size() && heap_[slot].timer == &timer);
  timer.slot = Timer::kNotSet;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (slot == heap_.size()) return;
  if (slot > 0 && last.Before(heap_[(slot - 1) / 2])) {
    MoveUp(slot, last);
  } else {
    MoveDown(slot, last);
  }
}

void Timers::Place(std::size_t slot, const Entry& entry) {
  heap_[slot] = entry;
  entry.timer->slot = slot;
}

void Timers::MoveUp(std::size_t slot, const Entry& entry) {
  while (slot > 0) {
    const std::size_t parent = (slot - 1) / 2;
    if (!entry.Before(heap_[parent])) break;
    Place(slot, heap_[parent]);
    slot = parent;
  }
  Place(slot, entry);
}

void Timers::MoveDown(std::size_t slot, const Entry& entry) {
  while (true) {
    std::size_t child = 2 * slot + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1].Before(heap_[child])) ++child;
    if (!heap_[child].Before(entry)) break;
    Place(slot, heap_[child]);
    slot = child;
  }
  Place(slot, entry);
}

}  // namespace vigil::sim
