// What the applier knows of each fault of its plan that has a time. For sim/fault_applier*.cc only.
//
// Thread safety: none.
#ifndef VIGIL_SIM_FAULT_APPLIER_PARTS_H_
#define VIGIL_SIM_FAULT_APPLIER_PARTS_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "vigil/sim/alarm.h"
#include "vigil/sim/fault_applier.h"
#include "vigil/sim/faults/fault_plan.h"

namespace vigil::sim {

struct FaultApplier::Timed {
  Timed(const TimedFault& planned, Scheduler& scheduler, std::function<void()> start, std::function<void()> die,
        std::function<void()> move, std::function<void()> end)
      : fault(planned),
        starts(scheduler, std::move(start)),
        dies(scheduler, std::move(die)),
        moves(scheduler, std::move(move)),
        ends(scheduler, std::move(end)) {}

  const TimedFault fault;
  Alarm starts;
  Alarm dies;   // of a crash: it has stopped, its connections still stand; of a zombie: its successor begins
  Alarm moves;  // the task's name leads to its new machine
  Alarm ends;
  Node* node = nullptr;   // that was struck
  bool followed = false;  // on another machine, by a new process
  LinkTrouble trouble;    // of cut, silent, slow link, of a silent crash or zombie
  bool silenced = false;  // by one of the last two, which holds
  bool fired = false;
  bool active = false;       // between start and end; of a crash: the task is to start again
  bool struck = false;       // there was something to strike
  int life = 0;              // of the node that was struck
  std::int64_t before = 0;   // CountOf() when it began
  std::int64_t effects = 0;  // ... and by how much it had grown at the end
  std::int64_t lost = 0;     // files and names that a crash changed
  std::int64_t missed = 0;   // Node::asked() when the new process began, then how many calls went astray
};

struct FaultApplier::TimedDisk {
  TimedDisk(DiskFaultState& fault, Scheduler& scheduler, std::function<void()> start, std::function<void()> end)
      : state(fault), starts(scheduler, std::move(start)), ends(scheduler, std::move(end)) {}

  DiskFaultState& state;
  Alarm starts;
  Alarm ends;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_FAULT_APPLIER_PARTS_H_
