// Every run of a small world: all choices, depth first.
//
//   DfsChooser chooser({.max_runs = 100'000});
//   do {
//     World world({.chooser = &chooser});
//     ... world.Run() ...
//   } while (chooser.Next());
//
// The first run is the calm one. The next run differs in its last choice that has a label left, and is calm behind that. The
// worlds must be deterministic: a run that does not repeat what led to a choice is a bug (VIGIL_CHECK).
//
// Where there are too many runs, the number of choices in one run that are not calm is the bound that finds most: few bugs need
// more than two or three. (Emmi, Qadeer, Rakamaric: Delay-Bounded Scheduling, POPL 2011.)
// Thread safety: none.
#ifndef VIGIL_SIM_DFS_CHOOSER_H_
#define VIGIL_SIM_DFS_CHOOSER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/sim/chooser.h"

namespace vigil::sim {

struct DfsOptions {
  std::uint64_t max_runs = 0;          // 0 = all
  std::size_t max_choices = 0;         // choices of one run that vary; those behind are calm. 0 = all
  std::size_t max_changes = 0;         // choices of one run that are not calm. 0 = any number
  std::vector<std::string> only = {};  // only points that end in one of these vary ("/schedule"); none = all
};

class DfsChooser final : public Chooser {
 public:
  explicit DfsChooser(DfsOptions options = {}) : options_(std::move(options)) {}
  std::size_t Choose(const ChoicePoint& point, std::span<const std::string_view> labels) override;

  // Prepares the next run. False: there is none, or no more are wanted. REQUIRES: the run before is over.
  bool Next();
  // All runs have been: Next() was false although more were wanted.
  bool exhausted() const { return exhausted_; }
  // That a limit on choices or changes left anything out.
  bool truncated() const { return truncated_; }
  // How many choices at the beginning of a run have been calm in all runs so far, of those that vary. REQUIRES: Next() was false.
  std::size_t calm_so_far() const { return calm_so_far_; }
  std::uint64_t runs() const { return runs_; }  // begun so far, the present one included

 private:
  struct Branch {
    std::string point;  // key and number, to see that a run repeats
    std::size_t labels = 0;
    std::size_t taken = 0;
  };

  bool Varies(std::string_view key) const;
  bool HasNext();  // of the last branch

  const DfsOptions options_;
  std::vector<Branch> branches_;
  std::size_t depth_ = 0;    // choices made in this run
  std::size_t changes_ = 0;  // branches whose label is not the calm one
  std::size_t calm_so_far_ = 0;
  std::uint64_t runs_ = 1;
  bool exhausted_ = false;
  bool truncated_ = false;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_DFS_CHOOSER_H_
