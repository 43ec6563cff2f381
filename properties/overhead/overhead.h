// What a hook costs each run of a session.
//
//   const absl::StatusOr<OverheadReport> report = MeasureOverhead(env, {{"MyHook", maker}}, {.directory = "/tmp/x"});
//   std::fputs(OverheadTable(*report).c_str(), stdout);
//
// The idea: a machine is faster now and slower then, by more than a hook costs. So each hook is measured in pairs: some
// runs of a session with it, and as many of a session like it without, alternately first and second; what is told is
// the median of the differences. The first row is always a hook that does nothing: the floor.
//
// The model is that of properties/verify (HookWorld); the session fetches its train op, as a training loop does.
// Thread safety: one at a time in a process. Nothing else may be at work: allocations are those of all threads.
#ifndef VIGIL_PROPERTIES_OVERHEAD_OVERHEAD_H_
#define VIGIL_PROPERTIES_OVERHEAD_OVERHEAD_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/properties/verify/hook_world.h"

namespace vigil {

struct HookToMeasure {
  std::string name;
  HookMaker make;
};

struct OverheadOptions {
  int blocks = 41;  // pairs of blocks for each hook, after one that warms up
  int runs = 250;   // of a block
  // An existing folder, to which hooks may write: each gets one of its own in it.
  std::string directory;
  // Since the program began (fakes/allocations). Null: they are not counted.
  std::function<std::uint64_t()> allocations = nullptr;
};

// All times in nanoseconds, of one run with the hook less one without.
struct HookOverhead {
  std::string name;
  double ns = 0;             // median over the blocks
  double low = 0, high = 0;  // their quartiles
  double ns_later = 0;       // by which a run becomes dearer with each thousand runs (Theil and Sen's slope)
  double allocations = 0;    // a run
};

struct OverheadReport {
  double run_ns = 0;  // of a session without hooks
  int blocks = 0;
  int runs = 0;
  bool counts_allocations = false;
  std::vector<HookOverhead> hooks;  // a hook that does nothing, then those that were asked for, in their order
};

inline constexpr char kFloorName[] = "(does nothing)";

// Errors: what a maker, a hook or the session failed with, USAGE for a hook that stops the training before it was
// measured; each names the hook.
// REQUIRES: blocks and runs are positive.
absl::StatusOr<OverheadReport> MeasureOverhead(const Env& env, const std::vector<HookToMeasure>& hooks,
                                               const OverheadOptions& options);

// Those that ship with the library, set up as a training would (save every ten minutes, log every hundred steps).
std::vector<HookToMeasure> BuiltInHooksToMeasure();

}  // namespace vigil

#endif  // VIGIL_PROPERTIES_OVERHEAD_OVERHEAD_H_
