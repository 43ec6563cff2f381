// Which numbers were seen lately: requests that must not take effect twice, steps that are over.
//
// Remembers at least the last `kAtLeast` and forgets older ones by and by. Numbers are random or unique; 0 is not one.
// Thread safety: none.
#ifndef VIGIL_CORE_CLUSTER_RECENT_IDS_H_
#define VIGIL_CORE_CLUSTER_RECENT_IDS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace vigil {

class RecentIds {
 public:
  static constexpr std::size_t kAtLeast = 4096;

  // False if it was seen already.
  bool Add(std::int64_t id) {
    if (Contains(id)) return false;
    if (current_.count == kAtLeast) {
      std::swap(current_, previous_);
      current_.Clear();
    }
    current_.Add(id);
    return true;
  }
  bool Contains(std::int64_t id) const { return current_.Contains(id) || previous_.Contains(id); }

 private:
  // Open addressing: at most half full, nothing is taken out.
  struct Table {
    std::vector<std::int64_t> slots;
    std::size_t count = 0;

    std::size_t Find(std::int64_t id) const {
      const std::size_t mask = slots.size() - 1;  // a power of two
      // Numbers of one source follow each other: so do their slots, 64 at a time.
      const auto number = static_cast<std::uint64_t>(id);
      std::size_t at = ((number >> 6) * 0x9e3779b97f4a7c15u >> 32 << 6 | (number & 63)) & mask;
      while (slots[at] != 0 && slots[at] != id) at = (at + 1) & mask;
      return at;
    }
    bool Contains(std::int64_t id) const { return count > 0 && slots[Find(id)] == id; }
    void Add(std::int64_t id) {
      if (slots.size() < 2 * (count + 1)) Grow();
      slots[Find(id)] = id;
      ++count;
    }
    void Grow() {
      std::vector<std::int64_t> old(slots.empty() ? 64 : 2 * slots.size());
      std::swap(old, slots);
      for (const std::int64_t id : old) {
        if (id != 0) slots[Find(id)] = id;
      }
    }
    void Clear() {
      slots.assign(slots.size(), 0);
      count = 0;
    }
  };

  Table current_;
  Table previous_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_RECENT_IDS_H_
