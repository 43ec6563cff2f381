// What servers say of their writes, by when those began: a server that has changed a variable may tell of it later, and
// what it tells of first may have come second.
//
// They are put in order once for a run (CheckJob): JobRun::writes.
// Thread safety: Writes as data; WritesBegun none.
#ifndef VIGIL_SIM_CHECKERS_WRITES_H_
#define VIGIL_SIM_CHECKERS_WRITES_H_

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "vigil/sim/cluster/job_history.h"

namespace vigil::sim {

// A write to a count of updates.
inline bool IsOfACount(const JobMoment& moment) {
  return moment.kind == JobMoment::Kind::kApplied || moment.kind == JobMoment::Kind::kAssigned;
}

// The writes of a history to counts, and what the global step was set to, in the order in which they began.
class Writes {
 public:
  explicit Writes(const JobHistory& history) {
    for (std::size_t place = 0; place < history.size(); ++place) {
      const JobMoment& moment = history[place];
      if (!IsOfACount(moment) && moment.kind != JobMoment::Kind::kStepSet) continue;
      writes_.push_back({BeginOf(history, place), moment.began_before, place});
    }
    std::ranges::sort(writes_);
  }

 private:
  friend class WritesBegun;
  struct Write {
    std::size_t begin;  // places in the history
    Duration took;
    std::size_t told;
    friend auto operator<=>(const Write&, const Write&) = default;
  };

  // What took no time begins where it is told, not before others of the same moment.
  static std::size_t BeginOf(const JobHistory& history, std::size_t place) {
    const JobMoment& told = history[place];
    if (told.began_before <= Duration{0}) return place;
    const auto end = history.begin() + static_cast<std::ptrdiff_t>(place);
    const auto first = std::ranges::lower_bound(history.begin(), end, told.at + -told.began_before, {}, &JobMoment::at);
    return static_cast<std::size_t>(first - history.begin());
  }

  std::vector<Write> writes_;
};

// Goes through them with the history. `writes` is borrowed.
class WritesBegun {
 public:
  explicit WritesBegun(const Writes& writes) : writes_(writes.writes_) {}

  // Calls `begun(place)` for each that has begun by the time that the history comes to `now`, itself included, and was
  // not named yet. REQUIRES: `now` only grows.
  template <typename Begun>
  void BegunBy(std::size_t now, Begun begun) {
    for (; next_ < writes_.size() && writes_[next_].begin <= now; ++next_) begun(writes_[next_].told);
  }

 private:
  const std::vector<Writes::Write>& writes_;
  std::size_t next_ = 0;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CHECKERS_WRITES_H_
