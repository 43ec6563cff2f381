// On which machine a task is: on that of its name, until a fault of the plan brings it to another one ("chief:0~2").
// Events and messages go by machines, what a job tells of itself by tasks.
//
// Thread safety: immutable. Ownership: borrows the play.
#ifndef VIGIL_REPLAYS_SHOW_MACHINES_H_
#define VIGIL_REPLAYS_SHOW_MACHINES_H_

#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/time.h"
#include "vigil/sim/fault_applier.h"

namespace vigil::replays {

class Machines {
 public:
  explicit Machines(const std::vector<sim::FaultApplier::Entry>& faults) : faults_(faults) {}

  // Of a task at that time; of who was taken for dead (sim::ZombieOf) that where it stayed.
  std::string Of(std::string_view task, Duration at) const;
  // Those that are no task's name, in the order in which something began there.
  std::vector<std::string> Others() const;
  // Whether that machine is, or was, or will be that task's.
  static bool IsOf(std::string_view machine, std::string_view task);

 private:
  const std::vector<sim::FaultApplier::Entry>& faults_;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_SHOW_MACHINES_H_
