// What TensorFlow keeps in globals (writer cache, log-first-n counters, session numbers), one per real or simulated
// process.
//
//   inline constexpr SlotKey<WriterCache> kWriterCache{"summary writers"};
//   WriterCache& cache = env.process->Slot(kWriterCache);
//
// A slot is made by its type's default constructor at the first use and lives as long as the process. What it has to do
// before the process waits for its tasks (which may use the slot to their end) stands in its AtProcessEnd(), if it has
// one.
// Thread safety: Slot() is safe from any task; the slot's type looks after itself. Its constructor runs under a lock of
// the process: it must not ask for a slot, nor block. A slot's address stays the same as long as the process lives.
// Errors: none. Two types under one name are a bug that nothing notices.
#ifndef VIGIL_CORE_ENV_PROCESS_H_
#define VIGIL_CORE_ENV_PROCESS_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace vigil {

template <typename T>
struct SlotKey {
  std::string_view name;  // unique in the process
};

class Process {
 public:
  Process();
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  template <typename T>
  T& Slot(SlotKey<T> key) {
    return *static_cast<T*>(Find(key.name, [] {
      Made made{.slot = std::make_shared<T>()};
      if constexpr (requires(T & slot) { slot.AtProcessEnd(); }) {
        made.end = [](void* slot) { static_cast<T*>(slot)->AtProcessEnd(); };
      }
      return made;
    }));
  }

  // Calls every slot's AtProcessEnd(), in order of names. Called by whoever owns a real process, once its program has
  // ended and before its tasks have; slots that are made meanwhile are not called.
  void End();

 private:
  struct Made {
    std::shared_ptr<void> slot;
    void (*end)(void* slot) = nullptr;
  };
  void* Find(std::string_view name, const std::function<Made()>& make);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_PROCESS_H_
