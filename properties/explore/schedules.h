// The campaign behind `vigil explore FILE`: plays one scenario of several tasks under each schedule that its tasks can
// have, or under schedules drawn so that rare ones come up, and judges every play.
//
// A schedule is the choices of who runs next (sim/kernel/chooser.h), and with `preempt` also those after an unlock, a
// notification and a spawn. The first one played is the one that `vigil replay` plays: the calm one; of a file with
// choices the one that they make, and then the calm one. Judged are: all rules (of a cluster: its invariants and the
// rules of its nodes), the reference model where it models the scenario, that the play ends, and what the file expects:
// of the first schedule always, of the others if `as_expected` says so. What real clusters did is no schedule of ours:
// whether they could have done a play, too, fails it with `as_expected` only. Other choices (latencies, losses) stay
// calm, or vary too (`all_points`).
// The first failure of each rule is shrunk and saved with the choices that make it happen.
//
// Thread safety: RunSchedules belongs to one thread. It plays in other processes (replays/crew/crew.h); a crash there
// is a failure, too.
#ifndef VIGIL_PROPERTIES_EXPLORE_SCHEDULES_H_
#define VIGIL_PROPERTIES_EXPLORE_SCHEDULES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/base/time.h"
#include "vigil/core/env/files.h"
#include "vigil/properties/explore/explore.h"
#include "vigil/replays/crew/crash.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::properties {

enum class ScheduleSearch {
  kDepthFirst,  // sim/kernel/dfs_chooser.h
  kReduced,     // sim/kernel/dpor_chooser.h: the same without those that only differ in steps that commute
  kPriorities,  // sim/kernel/pct_chooser.h; all other choices are random
};

struct SchedulesOptions {
  ScheduleSearch search = ScheduleSearch::kDepthFirst;
  // Of depth first, and the first and the last of the reduced search:
  std::uint64_t limit = 10'000;  // schedules; 0 = all there are
  std::size_t choices = 0;       // of each schedule, from its beginning, that vary; 0 = all
  std::size_t changes = 0;       // choices of each schedule that are not the calm ones; 0 = any number
  bool all_points = false;       // every choice varies, not only who runs
  bool guarded_memory = false;   // of the reduced search: DporOptions::guarded_memory
  // Of priorities: a schedule for each seed, besides the calm one.
  std::uint64_t first_seed = 1;
  std::uint64_t last_seed = 1000;
  int depth = 3;
  // Of both:
  // Processes; of searches no more than one is used. 0: none, a crash is one of the caller (replays/crew/crew.h).
  int jobs = 1;
  replays::PlayLimits limits = {};  // of each schedule; what takes more is a finding
  sim::Preempt preempt = sim::Preempt::kNowhere;
  bool as_expected = false;
  std::string failures = "failures";  // folder, made when there is something to save
  std::string plant = {};             // the planted bug that is on: lines that replay a failure name it
};

struct SchedulesSummary {
  std::uint64_t played = 0;
  std::uint64_t failed = 0;
  std::uint64_t blocked = 0;  // broken off, since they had been played but for steps that commute; not among them
  bool own = false;           // the file has choices: the schedule that they make was played before the calm one
  std::uint64_t choices = 0;  // that the calm schedule makes, of those that vary
  bool all = false;           // there are no others
  std::string left_out;       // if not: what the bounds left out, one line
  bool stopped = false;
  bool given_up = false;                           // after too many crashes: the rest was not played
  std::set<std::uint64_t> traces;                  // hashes: who did what, in which order
  std::set<std::uint64_t> orders;                  // of a search, hashes: steps that conflict (sim/kernel/step_order.h)
  std::optional<std::set<std::uint64_t>> callers;  // of a session: what its caller and hooks saw
  std::map<std::string, std::uint64_t> ends;
  std::map<std::string, std::uint64_t> violated;  // rule: schedules
  std::uint64_t disagreements = 0;                // of core and model
  std::string refused;                            // why the model says nothing; "" = it does
  std::optional<std::uint64_t> as_expected;       // of a file that says so: schedules that went as it expects
  std::vector<std::uint64_t> armed;               // of each rule of AllRules(); none of a cluster
};

// The same that failed, as for a scope.
using SchedulesFailure = ExploreFailure;

struct SchedulesCallbacks {
  std::function<void(const SchedulesFailure&)> on_failure;  // the first of each rule
  std::function<void(const std::string&)> on_error;         // what cannot be saved; one line
  std::function<void(const SchedulesSummary&)> on_tick;     // often, on the caller's thread; also while shrinking
  std::function<Time()> now;                                // for how long shrinking may take
};

// USAGE: what has no schedules to choose from (a trace), what cannot be played, `as_expected` of what expects nothing.
// `stop` may be set at any time: what is being played then does not count.
absl::StatusOr<SchedulesSummary> RunSchedules(const SchedulesOptions& options, const replays::Recording& recording,
                                              Files& files, const SchedulesCallbacks& callbacks,
                                              const std::atomic<bool>& stop);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_EXPLORE_SCHEDULES_H_
