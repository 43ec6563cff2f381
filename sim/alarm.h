// A callback at a virtual time, outside of all tasks: what a world does by itself (a fault begins, a task restarts).
//
// Thread safety: none. The scheduler must outlive the alarm; destroying the alarm takes it back.
#ifndef VIGIL_SIM_ALARM_H_
#define VIGIL_SIM_ALARM_H_

#include <functional>
#include <utility>

#include "vigil/core/base/time.h"
#include "vigil/sim/kernel/scheduler.h"
#include "vigil/sim/kernel/timers.h"

namespace vigil::sim {

class Alarm : private Timer {
 public:
  // `ring` may do what Scheduler::SetTimer lets a callback do, and set this alarm again; not destroy it.
  Alarm(Scheduler& scheduler, std::function<void()> ring) : scheduler_(scheduler), ring_(std::move(ring)) {
    fire = [](Timer& timer) { static_cast<Alarm&>(timer).ring_(); };
  }
  ~Alarm() { Clear(); }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  // Since the world's start. Replaces an earlier time.
  void SetAt(Duration at) {
    Clear();
    scheduler_.SetTimer(*this, at);
  }
  void Clear() { scheduler_.ClearTimer(*this); }
  bool pending() const { return set(); }

 private:
  Scheduler& scheduler_;
  const std::function<void()> ring_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_ALARM_H_
