#include "vigil/core/env/process.h"

#include <atomic>

namespace vigil {

// Guarded by a spin flag and not by a Mutex of the task seam: a slot is looked up before there are tasks, and never
// held.
struct Process::State {
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
  std::map<std::string, Made, std::less<>> slots;
};

Process::Process() : state_(std::make_unique<State>()) {}
Process::~Process() = default;

void Process::End() {
  // Those that are made meanwhile are somebody's who has not ended.
  std::map<std::string, Made, std::less<>> slots;
  while (state_->busy.test_and_set(std::memory_order_acquire)) {
  }
  slots = state_->slots;
  state_->busy.clear(std::memory_order_release);
  for (const auto& [name, made] : slots) {
    if (made.end != nullptr) made.end(made.slot.get());
  }
}

void* Process::Find(std::string_view name, const std::function<Made()>& make) {
  while (state_->busy.test_and_set(std::memory_order_acquire)) {
  }
  auto it = state_->slots.find(name);
  if (it == state_->slots.end()) it = state_->slots.emplace(std::string(name), make()).first;
  void* const slot = it->second.slot.get();
  state_->busy.clear(std::memory_order_release);
  return slot;
}

}  // namespace vigil
