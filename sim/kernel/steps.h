// What a step of a task touched, for whoever looks for steps that commute.
//
// A step is what a task does between two moments at which another could run instead. Two steps conflict if both touch
// one object and one of them changes it; steps that do not can change places, and nobody can tell (dpor_chooser.h).
// Thread safety: none.
#ifndef VIGIL_SIM_KERNEL_STEPS_H_
#define VIGIL_SIM_KERNEL_STEPS_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace vigil::sim {

// A mutex, a condition, the end of a task, ...: by its number in the order of creation, or by its name.
using ObjectId = std::uint64_t;
inline constexpr ObjectId kNamedObjects = ObjectId{1} << 63;  // from here on: named ones

// The order of events is what all others judge.
inline constexpr ObjectId kTraceObject = kNamedObjects;

// The same in every run. `kind` keeps the names of different things apart.
ObjectId NamedObject(std::string_view kind, std::string_view name, std::uint64_t number = 0);

enum class Access : std::uint8_t { kRead, kWrite };

struct Touch {
  ObjectId object = 0;
  bool write = false;
};

struct Footprint {
  std::vector<Touch> touches = {};  // by object, each once
  bool everything = false;          // what it touched cannot be said

  bool empty() const { return touches.empty() && !everything; }
  void Add(ObjectId object, Access access);
};

bool Conflict(const Footprint& a, const Footprint& b);

// The footprint of a step as it comes about.
class StepUnderWay {
 public:
  // `memory`: see StepObserver::StepBegins; 0: none is shared.
  void Begin(ObjectId memory) { *this = StepUnderWay(), memory_ = memory; }
  void Touch(ObjectId object, Access access) { footprint_.Add(object, access); }
  void TouchEverything() { footprint_.everything = true; }
  // A task that comes back from a condition and waits again, and touches nothing else meanwhile, has woken up without
  // cause: of what it shares it has changed nothing.
  void CameBackFrom(ObjectId condition) { came_back_ = condition; }
  void WaitsFor(ObjectId condition);
  Footprint End() &&;

 private:
  Footprint footprint_;
  ObjectId memory_ = 0;
  ObjectId came_back_ = 0;  // from that condition, at its beginning
  bool in_vain_ = false;
};

// Is told what the tasks of a world do, as they do it. Must not throw, nor call back into the world.
class StepObserver {
 public:
  // Numbers of objects begin here.
  static constexpr ObjectId kFirstObject = 1;

  virtual ~StepObserver() = default;
  // Before the choice among several tasks. `blockers`: for each the task that holds the mutex it cannot go on without
  // ("" = none: it can). `objects`: the number that the next object gets.
  virtual void Offers(std::span<const std::string_view> blockers, ObjectId objects) = 0;
  // That task runs from here on. `memory`: what it shares with others without telling; 0 = it will only wait again.
  virtual void StepBegins(std::string_view task, ObjectId memory) = 0;
  // The step under way made it possible for that task to run.
  virtual void Woke(std::string_view task) = 0;
  virtual void Touched(ObjectId object, Access access) = 0;
  virtual void TouchedEverything() = 0;
  // The step ended that task, which could have run: nobody knows what it would have touched.
  virtual void Ended(std::string_view task) = 0;
  // The step waited for that condition, or came back from it (StepUnderWay).
  virtual void WaitsFor(ObjectId condition) = 0;
  virtual void CameBackFrom(ObjectId condition) = 0;
  // Nobody can run; what happens from here on comes after all that was.
  virtual void TimePasses() = 0;
  // The rest of this run is not wanted.
  virtual bool Enough() const = 0;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_KERNEL_STEPS_H_
