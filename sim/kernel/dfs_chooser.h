// Every run of a small world: all choices, depth first.
//
//   DfsChooser chooser({.max_runs = 100'000});
//   do {
//     World world({.chooser = &chooser});
//     ... world.Run() ...
//   } while (chooser.Next());
//
// The first run is the calm one. The next run differs in its last choice that has a label left, and is calm behind
// that. The worlds must be deterministic: a run that does not repeat what led to a choice is a bug (VIGIL_CHECK).
// Between two runs the whole search is its state: another chooser, in another process, goes on from it.
//
// Where there are too many runs, the number of choices in one run that are not calm is the bound that finds most: few
// bugs need more than two or three. (Emmi, Qadeer, Rakamaric: Delay-Bounded Scheduling, POPL 2011.) Thread safety:
// none.
#ifndef VIGIL_SIM_KERNEL_DFS_CHOOSER_H_
#define VIGIL_SIM_KERNEL_DFS_CHOOSER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/sim/kernel/chooser.h"

namespace vigil::sim {

struct DfsOptions {
  std::uint64_t max_runs = 0;          // 0 = all
  std::size_t max_choices = 0;         // choices of one run that vary; those behind are calm. 0 = all
  std::size_t max_changes = 0;         // choices of one run that are not calm. 0 = any number
  std::vector<std::string> only = {};  // only points that end in one of these vary ("/schedule"); none = all
};

// How far a search has come.
struct DfsState {
  struct Branch {
    std::string point;  // key and number, to see that a run repeats
    std::size_t labels = 0;
    std::size_t taken = 0;
  };

  std::vector<Branch> branches = {};
  std::size_t changes = 0;  // branches whose label is not the calm one
  std::size_t calm_so_far = 0;
  std::uint64_t runs = 1;
  bool exhausted = false;
  bool truncated = false;
};

class DfsChooser final : public Chooser {
 public:
  explicit DfsChooser(DfsOptions options = {}, DfsState state = {})
      : options_(std::move(options)), state_(std::move(state)) {}
  std::size_t Choose(const ChoicePoint& point, std::span<const std::string_view> labels) override;

  // Prepares the next run. False: there is none, or no more are wanted. REQUIRES: the run before is over.
  bool Next();
  // The run broke off: what it has not come to is forgotten. REQUIRES: Next() is called next.
  void BreakOff();
  // REQUIRES: no run is under way.
  const DfsState& state() const { return state_; }
  // All runs have been: Next() was false although more were wanted.
  bool exhausted() const { return state_.exhausted; }
  // That a limit on choices or changes left anything out.
  bool truncated() const { return state_.truncated; }
  // How many choices at the beginning of a run have been calm in all runs so far, of those that vary. REQUIRES: Next()
  // was false.
  std::size_t calm_so_far() const { return state_.calm_so_far; }
  std::uint64_t runs() const { return state_.runs; }  // begun so far, the present one included

 private:
  bool Varies(std::string_view key) const;
  bool HasNext();  // of the last branch

  const DfsOptions options_;
  DfsState state_;
  std::size_t depth_ = 0;  // choices made in this run
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_KERNEL_DFS_CHOOSER_H_
