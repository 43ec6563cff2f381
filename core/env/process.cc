#include "vigil/core/env/process.h"

#include "vigil/core/base/spin_lock.h"

namespace vigil {

// Guarded by a spin lock and not by a Mutex of the task seam: a slot is looked up before there are tasks, and never
// held.
struct Process::State {
  SpinLock lock;
  std::map<std::string, Made, std::less<>> slots;
};

Process::Process() : state_(std::make_unique<State>()) {}
Process::~Process() = default;

void Process::End() {
  // Those that are made meanwhile are somebody's who has not ended.
  std::map<std::string, Made, std::less<>> slots;
  {
    SpinGuard lock(state_->lock);
    slots = state_->slots;
  }
  for (const auto& [name, made] : slots) {
    if (made.end != nullptr) made.end(made.slot.get());
  }
}

void* Process::Find(std::string_view name, const std::function<Made()>& make) {
  SpinGuard lock(state_->lock);
  auto it = state_->slots.find(name);
  if (it == state_->slots.end()) it = state_->slots.emplace(std::string(name), make()).first;
  return it->second.slot.get();
}

}  // namespace vigil
