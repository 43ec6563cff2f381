// Probabilistic concurrency testing: schedules that find a bug of depth d with a known chance.
//
// Every task gets a random priority when it is first seen; of those that can run the one of the highest priority does.
// At d-1 switches, drawn from the first `steps`, the task that would run falls below all others. A bug that needs d
// events in one order among n tasks and k switches shows in at least one of n * k^(d-1) runs, however unlikely it is
// among all schedules. (Burckhardt, Kothari, Musuvathi, Nagarakatti: A Randomized Scheduler with Probabilistic
// Guarantees of Finding Bugs, ASPLOS 2010.)
//
// The points "schedule", "preempt" and "spin" are chosen so; with `deliveries` the latencies of messages, too: every
// link has a latency of its own, from the shortest to the longest, and at d-1 messages the link that carries it becomes
// one of the slowest. So one link overtakes another for long, which latencies drawn one by one hardly ever bring about.
// All other points are random, as by RandomChooser.
// Thread safety: none.
#ifndef VIGIL_SIM_KERNEL_PCT_CHOOSER_H_
#define VIGIL_SIM_KERNEL_PCT_CHOOSER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/sim/kernel/chooser.h"

namespace vigil::sim {

struct PctOptions {
  std::uint64_t seed = 0;
  int depth = 3;                 // d; 1 = priorities alone
  std::uint64_t steps = 10'000;  // k: about as many as there are such choices in a run
  std::uint64_t deliveries = 0;  // messages in a run, about; 0 = latencies are random
};

// Whether that is a choice of how long a message takes.
bool IsLatency(std::string_view key);

class PctChooser final : public Chooser {
 public:
  explicit PctChooser(const PctOptions& options);
  std::size_t Choose(const ChoicePoint& point, std::span<const std::string_view> labels) override;

  // Choices of a schedule so far: for the next `steps`.
  std::uint64_t steps() const { return step_; }

 private:
  std::uint64_t PriorityOf(std::string_view task);
  std::size_t Highest(std::span<const std::string_view> labels);
  std::size_t Latency(std::string_view link, std::size_t latencies);

  const std::uint64_t seed_;
  RandomChooser random_;
  std::vector<std::uint64_t> changes_;                            // steps, sorted, the next one last
  std::map<std::string, std::uint64_t, std::less<>> priorities_;  // greater runs first
  std::uint64_t below_;  // the priority of the next task that falls; all that were drawn are greater
  std::uint64_t step_ = 0;
  const bool ranks_links_;
  std::vector<std::uint64_t> link_changes_;    // messages, sorted, the next one last
  std::set<std::string, std::less<>> fallen_;  // links
  std::uint64_t message_ = 0;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_KERNEL_PCT_CHOOSER_H_
