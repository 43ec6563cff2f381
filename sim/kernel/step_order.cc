// What came before a step is a clock: of each task how many of its steps. The hash of a run is a sum over its steps:
// the order in which they were made is not in it.
#include "vigil/sim/kernel/step_order.h"

#include <algorithm>
#include <utility>

#include "vigil/core/base/splitmix64.h"
#include "vigil/sim/kernel/chooser.h"

namespace vigil::sim {
std::size_t StepOrder::NumberOf(std::string_view task) {
  const auto [it, added] = numbers_.try_emplace(std::string(task), tasks_.size());
  if (added) tasks_.push_back({.name = it->first});
  return it->second;
}

void StepOrder::Offers(std::span<const std::string_view> blockers, ObjectId objects) {
  if (inner_ != nullptr) inner_->Offers(blockers, objects);
}

void StepOrder::StepBegins(std::string_view task, ObjectId memory) {
  EndStep();
  if (inner_ != nullptr) inner_->StepBegins(task, memory);
  in_step_ = memory != 0;
  task_ = NumberOf(task);
  step_.Begin(guarded_memory_ ? 0 : memory);
}

void StepOrder::Woke(std::string_view task) {
  if (inner_ != nullptr) inner_->Woke(task);
  if (in_step_) woken_.push_back(NumberOf(task));
}

void StepOrder::Touched(ObjectId object, Access access) {
  if (inner_ != nullptr) inner_->Touched(object, access);
  if (in_step_) step_.Touch(object, access);
}

void StepOrder::TouchedEverything() {
  if (inner_ != nullptr) inner_->TouchedEverything();
  if (in_step_) step_.TouchEverything();
}

void StepOrder::Ended(std::string_view task) {
  if (inner_ != nullptr) inner_->Ended(task);
}

void StepOrder::WaitsFor(ObjectId condition) {
  if (inner_ != nullptr) inner_->WaitsFor(condition);
  if (in_step_) step_.WaitsFor(condition);
}

void StepOrder::CameBackFrom(ObjectId condition) {
  if (inner_ != nullptr) inner_->CameBackFrom(condition);
  if (in_step_) step_.CameBackFrom(condition);
}

void StepOrder::TimePasses() {
  EndStep();
  if (inner_ != nullptr) inner_->TimePasses();
  // All that follows comes after all that was.
  past_ = SplitMix(past_ + sum_ + 1);
  sum_ = 0;
  numbers_.clear();
  tasks_.clear();
  objects_.clear();
  all_ = {};
}

std::uint64_t StepOrder::Hash() {
  EndStep();
  return SplitMix(past_ + sum_ + 1);
}

void StepOrder::EndStep() {
  if (!std::exchange(in_step_, false)) return;
  const Footprint footprint = std::move(step_).End();
  VectorClock& clock = tasks_[task_].known;
  const auto each = [&](auto then) {
    if (!footprint.empty()) then(all_, footprint.everything);
    for (const Touch& touch : footprint.touches) then(objects_[touch.object], touch.write);
  };
  each([&clock](const Object& object, bool write) {
    Join(clock, object.changed);
    if (write) Join(clock, object.looked);
  });
  clock.resize(std::max(clock.size(), task_ + 1));
  ++clock[task_];
  each([&clock](Object& object, bool write) {
    if (write) object = {.changed = clock};
    if (!write) Join(object.looked, clock);
  });
  for (const std::size_t woken : std::exchange(woken_, {})) {
    if (woken != task_) Join(tasks_[woken].known, clock);
  }
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < clock.size(); ++i) {
    if (clock[i] > 0) before += HashDraw(past_, tasks_[i].name, clock[i]);
  }
  sum_ += SplitMix(HashDraw(before, tasks_[task_].name, clock[task_]));
}

}  // namespace vigil::sim
