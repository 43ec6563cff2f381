// Where every choice of a simulated run is drawn: who runs next, how long a message takes, whether a fault fires.
//
// A run is its choices. Each is made at a named point and is one of some labels; label 0 is the calm default, what a
// run without surprises does. A choice is known by its key "node/task/point" and by its number among the choices of
// that key, so that a recorded run still replays after unrelated code has changed.
//
// Thread safety: none; a chooser belongs to one world at a time.
#ifndef VIGIL_SIM_KERNEL_CHOOSER_H_
#define VIGIL_SIM_KERNEL_CHOOSER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vigil::sim {

// Labels under "node/task/point", in the order in which they were chosen: what a scenario file stores as "choices".
using ChoiceMap = std::map<std::string, std::vector<std::string>, std::less<>>;

// Where a task may lose its processor, besides where it waits: each includes the one before.
enum class Preempt : std::uint8_t {
  kNowhere,
  kAtCalls,  // choice "preempt": after an unlock, a notification, a spawn
  // Choice "spin": after a spin lock, and a touch of what is shared without a lock (core/base/turns.h), unless the task
  // holds a mutex.
  kAtSpins,
};

// The ends of the keys under which it is chosen which task runs.
inline constexpr std::string_view kChoicesOfTasks[] = {"/schedule", "/preempt", "/spin"};
bool IsChoiceOfTasks(std::string_view key);

struct ChoicePoint {
  std::string_view key;     // "chief/main/schedule"
  std::uint64_t count = 0;  // how many choices of that key were made before
  double chance = 0;        // of label 1 of two, where both are not to be equally likely; else 0
};

class Chooser {
 public:
  virtual ~Chooser() = default;
  // The index of a label. REQUIRES: two labels or more, all different. Must not throw, nor call back into the world; it
  // runs on the stack of the task that gives way.
  virtual std::size_t Choose(const ChoicePoint& point, std::span<const std::string_view> labels) = 0;
};

// Draws by chance. A draw depends on nothing but the seed, the key and the count: one more choice point in one place
// shifts no other place.
class RandomChooser final : public Chooser {
 public:
  explicit RandomChooser(std::uint64_t seed) : seed_(seed) {}
  std::size_t Choose(const ChoicePoint& point, std::span<const std::string_view> labels) override;

 private:
  std::uint64_t seed_;
};

// Chooses as recorded, calm where the recording is silent.
class ReplayChooser final : public Chooser {
 public:
  explicit ReplayChooser(ChoiceMap recorded);
  std::size_t Choose(const ChoicePoint& point, std::span<const std::string_view> labels) override;

  // Recorded labels that were never asked for, as "chief/main/schedule[2]: chief/q".
  std::vector<std::string> UnusedEntries() const;
  // Recorded labels that were not on offer (the calm default was taken), as "chief/main/schedule[2]: chief/q is none of
  // chief/main, chief/r".
  const std::vector<std::string>& RefusedEntries() const { return refused_; }

 private:
  struct Entry {
    std::vector<std::string> labels;
    std::uint64_t used = 0;
  };
  std::map<std::string, Entry, std::less<>> entries_;
  std::vector<std::string> refused_;
};

// Uniform over [0, bound) from 64 uniform bits. REQUIRES: bound > 0.
std::uint64_t Bounded(std::uint64_t bits, std::uint64_t bound);
// True for that share of all bits.
bool WithChance(std::uint64_t bits, double chance);
// 64 uniform bits for each (seed, text, count).
std::uint64_t HashDraw(std::uint64_t seed, std::string_view text, std::uint64_t count);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_KERNEL_CHOOSER_H_
