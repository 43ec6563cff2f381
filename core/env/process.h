// What TensorFlow keeps in globals (writer cache, log-first-n counters, session numbers), one per real or simulated process.
//
//   inline constexpr SlotKey<WriterCache> kWriterCache{"summary writers"};
//   WriterCache& cache = env.process->Slot(kWriterCache);
//
// A slot is made by its type's default constructor at the first use and lives as long as the process.
// Thread safety: Slot() is safe from any task; the slot's type looks after itself.
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
    return *static_cast<T*>(Find(key.name, [] { return std::static_pointer_cast<void>(std::make_shared<T>()); }));
  }

 private:
  void* Find(std::string_view name, const std::function<std::shared_ptr<void>()>& make);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_PROCESS_H_
