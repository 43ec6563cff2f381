// Which order a run was of: what came before what, whatever could have changed places.
//
// Two runs are of one order if they have the same steps, and the same of them come before each other: as steps of one
// task, because one made the other possible, because they conflict, or by way of others (a Mazurkiewicz trace). A
// search that leaves out what only differs in steps that commute should play each order once; so this is made without
// it. Steps are known by the name of their task and their number in it, and orders by what came before each. A step
// that only waited again for a mutex is none. What was drawn by chance in a step is not looked at.
// Thread safety: none.
#ifndef VIGIL_SIM_KERNEL_STEP_ORDER_H_
#define VIGIL_SIM_KERNEL_STEP_ORDER_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/sim/kernel/steps.h"
#include "vigil/sim/kernel/vector_clock.h"

namespace vigil::sim {

// Of one run.
class StepOrder final : public StepObserver {
 public:
  // `inner`: is told the same, and says whether it is enough; may be null, borrowed. `guarded_memory`: as of
  // DporOptions.
  explicit StepOrder(bool guarded_memory, StepObserver* inner = nullptr)
      : guarded_memory_(guarded_memory), inner_(inner) {}

  // REQUIRES: the run is over.
  std::uint64_t Hash();

  void Offers(std::span<const std::string_view> blockers, ObjectId objects) override;
  void StepBegins(std::string_view task, ObjectId memory) override;
  void Woke(std::string_view task) override;
  void Touched(ObjectId object, Access access) override;
  void TouchedEverything() override;
  void Ended(std::string_view task) override;
  void WaitsFor(ObjectId condition) override;
  void CameBackFrom(ObjectId condition) override;
  void TimePasses() override;
  bool Enough() const override { return inner_ != nullptr && inner_->Enough(); }

 private:
  // Clocks are of the tasks so far, by number: how many of its steps.
  struct TaskSoFar {
    std::string name;
    VectorClock known = {};  // before its next step: its own last one, and those that made the next one possible
  };
  struct Object {
    VectorClock changed = {};  // up to the last step that changed it
    VectorClock looked = {};   // and up to those that looked at it since
  };

  std::size_t NumberOf(std::string_view task);
  void EndStep();

  const bool guarded_memory_;
  StepObserver* const inner_;
  std::uint64_t past_ = 0;  // the stretches of time before
  // Of this one:
  std::uint64_t sum_ = 0;
  std::map<std::string, std::size_t, std::less<>> numbers_;
  std::vector<TaskSoFar> tasks_;
  std::map<ObjectId, Object> objects_;
  Object all_;  // what a step touches that touches everything: others look at it
  // Of the step under way:
  bool in_step_ = false;
  std::size_t task_ = 0;
  StepUnderWay step_;
  std::vector<std::size_t> woken_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_KERNEL_STEP_ORDER_H_
