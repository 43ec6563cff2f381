// Every run of a small world but those that only differ in the order of steps that commute.
//
//   DporChooser chooser;
//   do {
//     World world({.chooser = &chooser, .steps = &chooser});
//     ... world.Run() ...                // of which nothing counts if chooser.blocked()
//   } while (chooser.Next());
//
// Depth first as DfsChooser, but who runs is varied only where it matters: after a run its steps are ordered (races.h),
// and for each race a run is planned in which the second of the two comes first (source sets); tasks whose step has
// been tried, and that nothing has conflicted with since, sleep (sleep sets). A run in which all that can run sleep is
// broken off: it is one that was. All other choices vary as in DfsChooser: all labels. (Abdulla, Aronis, Jonsson,
// Sagonas: Source Sets: A Foundation for Optimal Dynamic Partial Order Reduction, JACM 2017.)
//
// What conflicts is what steps.h is told. Of memory it is told nothing: two steps of tasks of one node always conflict,
// unless `guarded_memory` says that such tasks share nothing but what they tell of: what the mutexes that they hold
// guard, and what spin locks and atomics are for, which count as one thing of the node. A task that
// can only wait again for a mutex that another one holds is not tried; one that woke up without cause and waits
// again has looked at the memory of its node and not changed it.
//
// Between two runs the whole search is its state. Thread safety: none.
#ifndef VIGIL_SIM_KERNEL_DPOR_CHOOSER_H_
#define VIGIL_SIM_KERNEL_DPOR_CHOOSER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/sim/kernel/chooser.h"
#include "vigil/sim/kernel/races.h"
#include "vigil/sim/kernel/steps.h"

namespace vigil::sim {

struct DporOptions {
  std::uint64_t max_runs = 0;   // those that were broken off count; 0 = all
  bool all_points = false;      // every choice varies, not only who runs
  bool guarded_memory = false;  // see above
};

// How far a search has come.
struct DporState {
  // A task whose next step has been tried here or further up, and what it touches.
  struct Sleeper {
    std::string task;
    Footprint footprint;
  };
  // A choice of the path under way.
  struct Node {
    std::string point;  // key and number
    bool of_tasks = false;
    std::vector<std::string> labels;  // those of tasks
    std::size_t size = 0;             // so many labels
    std::size_t taken = 0;
    // Of tasks, by label:
    std::vector<std::uint8_t> wanted;
    std::vector<std::uint8_t> tried;
    std::vector<std::string> blockers;  // see StepObserver::Offers
    std::vector<Sleeper> sleepers;      // as the path came here
    std::vector<Sleeper> were_tried;
    ObjectId objects = 0;  // that there were
    Footprint footprint;   // of the step that was taken
  };

  std::vector<Node> nodes = {};
  std::uint64_t runs = 1;
  std::uint64_t blocked = 0;  // of these
  bool exhausted = false;
};

class DporChooser final : public Chooser, public StepObserver {
 public:
  explicit DporChooser(DporOptions options = {}, DporState state = {});

  // Prepares the next run. False: there is none, or no more are wanted. REQUIRES: the run before is over.
  bool Next();
  // In place of Choose(), of a run that was elsewhere: `chosen` was chosen there. REQUIRES: BreakOff() is called next.
  void Follow(const ChoicePoint& point, std::span<const std::string_view> labels, std::size_t chosen);
  // The run broke off: what it has not come to is forgotten, and what is not known of it conflicts with everything.
  // REQUIRES: Next() is called next.
  void BreakOff();
  // REQUIRES: no run is under way.
  const DporState& state() const { return state_; }
  bool exhausted() const { return state_.exhausted; }
  std::uint64_t runs() const { return state_.runs; }  // begun so far, the present one included
  std::uint64_t blocked_runs() const { return state_.blocked; }
  // The run under way, or the last, was broken off because all who could run sleep.
  bool blocked() const { return blocked_; }

  std::size_t Choose(const ChoicePoint& point, std::span<const std::string_view> labels) override;

  void Offers(std::span<const std::string_view> blockers, ObjectId objects) override;
  void StepBegins(std::string_view task, ObjectId memory) override;
  void Woke(std::string_view task) override;
  void Touched(ObjectId object, Access access) override;
  void TouchedEverything() override;
  void Ended(std::string_view task) override;
  void WaitsFor(ObjectId condition) override;
  void CameBackFrom(ObjectId condition) override;
  void TimePasses() override;
  bool Enough() const override { return blocked_; }

 private:
  using Node = DporState::Node;
  using Sleeper = DporState::Sleeper;

  std::size_t ChooseData(const ChoicePoint& point, std::size_t labels);
  std::size_t ChooseTask(const ChoicePoint& point, std::span<const std::string_view> labels);
  void AddNode(const ChoicePoint& point, std::span<const std::string_view> labels, std::size_t taken);
  Node& Repeat(const ChoicePoint& point, std::size_t labels);
  bool Sleeps(std::string_view task) const;
  void EndStep();
  std::size_t NumberOf(std::string_view task);
  void EndRun();
  void Plan(const Race& race, std::size_t first_step);
  static bool Advance(Node& node);

  struct Run {
    std::size_t depth = 0;          // choices made
    std::vector<Sleeper> sleepers;  // now
    bool broken_off = false;
    std::vector<std::string> blockers;  // of the choice to come
    ObjectId objects = 0;
    std::map<std::string, std::size_t, std::less<>> numbers;  // of tasks
    std::vector<std::string> tasks;                           // by number
    std::vector<Step> steps;
    std::vector<std::size_t> stretches = {0};                  // the first steps of them
    std::map<std::size_t, std::vector<std::size_t>> woken_by;  // by task: steps of the stretch since it last ran
    std::size_t changed_from = 0;                              // the step from which on the run is new
    std::size_t node_of_step = Step::kNone;                    // of the step to come
    // Of the step under way:
    bool in_step = false;
    bool draws = false;  // a choice was made in it
    StepUnderWay step;
  };

  const DporOptions options_;
  DporState state_;
  Run run_;
  bool blocked_ = false;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_KERNEL_DPOR_CHOOSER_H_
