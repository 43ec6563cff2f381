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
// Thread safety: none.
#ifndef VIGIL_SIM_DFS_CHOOSER_H_
#define VIGIL_SIM_DFS_CHOOSER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "vigil/sim/chooser.h"

namespace vigil::sim {

struct DfsOptions {
  std::uint64_t max_runs = 0;   // 0 = all
  std::size_t max_choices = 0;  // choices of one run that vary; those behind are calm. 0 = all
  std::string only;             // only points that end so vary ("/schedule"); "" = all
};

class DfsChooser final : public Chooser {
 public:
  explicit DfsChooser(DfsOptions options = {}) : options_(std::move(options)) {}
  std::size_t Choose(const ChoicePoint& point, std::span<const std::string_view> labels) override;

  // Prepares the next run. False: there is none, or no more are wanted. REQUIRES: the run before is over.
  bool Next();
  // All runs have been: Next() was false although more were wanted.
  bool exhausted() const { return exhausted_; }
  // That the limit on choices left anything out.
  bool truncated() const { return truncated_; }
  std::uint64_t runs() const { return runs_; }  // begun so far, the present one included

 private:
  struct Branch {
    std::string point;  // key and number, to see that a run repeats
    std::size_t labels = 0;
    std::size_t taken = 0;
  };

  const DfsOptions options_;
  std::vector<Branch> branches_;
  std::size_t depth_ = 0;  // choices made in this run
  std::uint64_t runs_ = 1;
  bool exhausted_ = false;
  bool truncated_ = false;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_DFS_CHOOSER_H_
