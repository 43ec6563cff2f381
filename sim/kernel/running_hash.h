// The hash of a run: over events, choices, switches and virtual times, as they happen.
//
// Two runs with equal hashes did the same. XXH64 over a canonical encoding (little-endian, fixed widths, names by their
// text), which begins with a version byte: hashes are compared within one build of the tests, never stored.
//
// Values of events are hashed where they are whole numbers; a sleep's seconds as nanoseconds. What else is a
// floating-point result (a loss, the bytes of a summary) may differ in its last bits between machines: only its
// presence counts.
//
// Thread safety: none.
#ifndef VIGIL_SIM_KERNEL_RUNNING_HASH_H_
#define VIGIL_SIM_KERNEL_RUNNING_HASH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "vigil/core/base/event.h"
#include "vigil/core/base/time.h"

struct XXH64_state_s;

namespace vigil::sim {

class RunningHash {
 public:
  RunningHash();
  RunningHash(RunningHash&&) noexcept;
  RunningHash& operator=(RunningHash&&) noexcept;
  ~RunningHash();

  void AddEvent(const Event& event);
  void AddChoice(std::string_view key, std::string_view label, std::size_t labels);
  // Something happened to a message of call number `call` on that link.
  void AddMessage(std::uint8_t what, std::uint32_t link, std::uint64_t call);
  // Number `link` stands for that link from here on.
  void AddLink(std::uint32_t link, std::string_view name);
  // `task` runs from here on.
  void AddSwitch(std::uint32_t task);
  // Virtual time jumped to `now`.
  void AddTime(Duration now);
  // Number `task` stands for that task from here on.
  void AddTask(std::uint32_t task, std::string_view label);

  std::uint64_t value() const;

 private:
  struct Free {
    void operator()(XXH64_state_s* state) const;
  };

  void Begin(char tag, std::size_t size);
  template <typename Integer>
  void Put(Integer value);
  void PutText(std::string_view text);

  std::unique_ptr<XXH64_state_s, Free> state_;
  std::size_t used_ = 0;
  std::array<unsigned char, 512> buffer_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_KERNEL_RUNNING_HASH_H_
