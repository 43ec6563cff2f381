// All scenarios of a small scope, numbered: session kinds x stop requests x sets of faults.
//
// Each has `hooks` probes (a, b, ...) and a caller that loops while should_stop says no, at most `runs` times. Points
// of failure are every call that such a scenario can make, as often as it can make it without a recovery, and once more
// where a recovery begins anew: of each hook begin, after_create_session (twice), before_run and after_run (each run),
// end; of the environment create and init (twice), local_init, ready, run (each run), close. Up to `faults` of them
// fail, each with one of four codes. At most one probe requests a stop, in one before_run or after_run (if it is to
// fail there too: first).
//
// Thread safety: immutable; any thread may ask.
#ifndef VIGIL_PROPERTIES_EXPLORE_SCENARIO_SPACE_H_
#define VIGIL_PROPERTIES_EXPLORE_SCENARIO_SPACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/event.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::properties {

inline constexpr int kMostHooks = 26;  // their names are letters
inline constexpr int kMostRuns = 40;   // a scenario stays within its limit of events

struct ExploreScope {
  int hooks = 2;
  int runs = 3;
  int faults = 1;
};

// A call that can be made to fail.
struct FaultSite {
  int hook = -1;                           // the number of a probe; -1: the environment's
  HookMethod method = HookMethod::kBegin;  // of a probe
  CallKind kind = CallKind::kCreate;       // of the environment
  std::int64_t call = 1;
};

struct PlacedFault {
  FaultSite site;
  Code code = Code::kOk;
};

class ScenarioSpace {
 public:
  // USAGE: a scope that is empty, or too large to be numbered.
  static absl::StatusOr<ScenarioSpace> Create(const ExploreScope& scope);

  std::uint64_t size() const { return size_; }
  const ExploreScope& scope() const { return scope_; }
  // "2 kinds x 25 stop requests x (1 + 188 + 17,296) sets of faults = 874,250 scenarios"
  std::string Formula() const;

  struct Choice {
    replays::SessionKind kind = replays::SessionKind::kMonitored;
    std::vector<FaultSite> stop;  // empty or one
    std::vector<PlacedFault> faults;
  };
  // REQUIRES: number < size().
  Choice At(std::uint64_t number) const;
  // The scenario of a choice; its id is "explore_<hooks>_<runs>_<faults>_<number>", which means the same in every
  // version.
  replays::Scenario ScenarioAt(std::uint64_t number) const;
  // The same, into one that this space has filled before (or a new one): most of it stays.
  void Fill(std::uint64_t number, const Choice& choice, replays::Scenario& scenario) const;

 private:
  explicit ScenarioSpace(const ExploreScope& scope);

  ExploreScope scope_;
  std::vector<FaultSite> sites_;
  std::vector<FaultSite> stops_;
  std::vector<std::uint64_t> sets_;  // of so many faults
  std::uint64_t all_sets_ = 0;
  std::uint64_t size_ = 0;
};

// "1,234,567"
std::string Grouped(std::uint64_t number);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_EXPLORE_SCENARIO_SPACE_H_
