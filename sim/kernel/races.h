// What came before what in a run, and which steps could have come the other way round.
//
// A step happens after another if it is a later one of the same task, if the other made it possible, if they conflict
// and it came later, or by way of a third. Two steps race if they conflict and nothing but the schedule put them in
// their order. (Abdulla, Aronis, Jonsson, Sagonas: Source Sets, JACM 2017.)
// Thread safety: none.
#ifndef VIGIL_SIM_KERNEL_RACES_H_
#define VIGIL_SIM_KERNEL_RACES_H_

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "vigil/sim/kernel/steps.h"

namespace vigil::sim {

struct Step {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t task = 0;                  // a number
  std::size_t node = kNone;              // of the choice that made it, if it was one
  std::vector<std::size_t> wakers = {};  // steps that made it possible
  Footprint footprint = {};
  std::vector<std::size_t> ended = {};  // tasks that could have run, and were ended by it
};

struct Race {
  std::size_t first = 0;  // numbers of steps
  std::size_t second = 0;
  // Tasks of which one must run in place of the first for the second to come before it: those that begin what follows
  // the first and does not happen after it, or if there is none, that of the second.
  std::vector<std::size_t> initials = {};
};

// What stands in the way of a step of `task` in place of step `first`: whether that task could not run there because
// a mutex is held, by the task of `first` itself or by another.
enum class Obstacle { kNone, kHeldByFirst, kHeldByOther };

// All races of one stretch of a run in which time does not pass, to its end. Numbers of steps are those in `steps`.
std::vector<Race> RacesOf(std::span<const Step> steps,
                          const std::function<Obstacle(std::size_t first, std::size_t task)>& obstacle);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_KERNEL_RACES_H_
